"""What XLA does with each public API of one TensorFlow version, as measured by `tools/catalog`. Nothing here imports TensorFlow."""
