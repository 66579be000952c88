"""Messages of TensorFlow, XLA and the TPU as people paste them: what they say, where, and of which operation."""
