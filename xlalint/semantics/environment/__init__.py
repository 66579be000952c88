"""What a program runs with: the packages, versions and Keras that it chooses or asks for."""
