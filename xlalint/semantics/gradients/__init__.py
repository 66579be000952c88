"""Where gradients are taken, and what XLA cannot compile of them."""
