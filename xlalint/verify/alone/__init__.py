"""Verify functions that nothing calls here: find inputs for them, then take them through the stages.

`planning` and `mentions` run in the parent, everything else in the child.
"""
