"""Is a rewritten function the same function? Both are run on many inputs: the original eagerly, the rewrite eagerly and
under XLA, forward and backward.

`planning.py` (in the parent) says which functions are rewritten how and gathers the proofs; `drive.py` (in the child) finds
inputs; `cases.py` makes edge cases of them; `transplant.py` puts rewritten code into the running program; `trial.py` runs
and compares.
"""
