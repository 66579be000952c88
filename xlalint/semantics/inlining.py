"""Functions of the graph that are called by others: TensorFlow folds their constants before XLA sees them (2.15 and 2.21)."""

from __future__ import annotations

from xlalint.semantics.frames import Frame


def is_inside_another(frame: Frame) -> bool:
    """Whether code is part of a tf.function that leaves it to its callers whether XLA compiles it."""
    for running in reversed(frame.analysis.functions.running):
        traits = frame.analysis.traits(running)
        if traits.tf_function:
            return not traits.jit
    return False
