"""The TPU compiler without a TPU: Google's `libtpu` package, driven through the public PJRT C API.

No module here imports TensorFlow. `compiler` is the entry: it compiles serialized HLO for a named target in a child process.
"""
