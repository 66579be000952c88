"""xlalint finds the TensorFlow and Keras code that will not survive XLA or a TPU, and proves it with the compilers."""

__version__ = "0.1.0"
