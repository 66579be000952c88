"""Ask a compiler: run targets under XLA in child processes and judge what `check` claimed.

Only child processes import TensorFlow. What runs in the parent (`sandbox`, `plan`, `signatures`, `verdicts`, `run`) uses
the standard library alone, and so does what both sides share (`records`).
"""
