"""Functions of the graph that are called by others: TensorFlow folds their constants before XLA sees them (2.15 and 2.21)."""

from __future__ import annotations

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo


def is_inside_another(frame: Frame) -> bool:
    """Whether code is part of a tf.function that leaves it to its callers whether XLA compiles it."""
    for running in reversed(frame.analysis.functions.running):
        traits = frame.analysis.traits(running)
        if traits.tf_function:
            return not traits.jit
    return False


def starts_a_program(info: FunctionInfo, caller: Frame) -> bool:
    """Whether a function with jit_compile=True is called by a graph that nobody compiles: what it is given is computed by then
    (measured, TF 2.15 and 2.21: a random size, one that loop state decides, compile again for each value).

    A step of Keras is compiled as a whole, whatever it calls.
    """
    here = caller.context
    if here.jit or not here.is_compiled or here.root is None:
        return False
    traits = caller.analysis.traits
    outer = traits(here.root)
    return traits(info).jit_node is not None and outer.tf_function and not outer.jit
