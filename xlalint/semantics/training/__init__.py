"""How a program trains: what drives and feeds its compiled steps, and what it sets up for replicas and TPUs."""
