"""Measures what the installed TensorFlow's public APIs do under XLA and writes `rules/catalog/MINOR.json`.

The parent process (`__main__`, `pool`, `rows`, `write`) never imports TensorFlow. Child processes (`child` and all that
it imports) trace, lower and differentiate one API after another; the XLA compiler may kill them, and that is a result.
"""
