"""Computations on what a mask keeps, written again over tensors of full size.

`kept` knows which expressions hold kept elements, `flow` follows them from where they are picked out to where they are reduced,
`ends` writes the reductions, and `manuscript` puts the edits together.
"""
