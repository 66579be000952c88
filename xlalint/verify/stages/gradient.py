"""The gradient of the sum of a program's float outputs: does it compile, and is it the eager one?"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from xlalint.verify import randomness
from xlalint.verify.records import EAGER, GRADIENT, NUMBERS, OK, SKIPPED
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.failing import AtConcreteError
from xlalint.verify.stages.pairs import Inputs, Pair
from xlalint.verify.stages.subject import Subject


def gradient(subject: Subject) -> Said:
    """With respect to float inputs and trainable variables."""
    if subject.trains:
        return Said(SKIPPED, "is part of the step")
    variables = list(subject.graph.trainable_variables)
    floats = [index for index, one in enumerate(subject.first) if one.dtype.is_floating]
    if not variables and not floats:
        return Said(SKIPPED, "no float input and no variable")

    def gradients(*tensors: Any) -> Any:
        watched = [tensors[index] for index in floats]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            total = _sum_of_floats(subject.flat(*tensors))
        found = tape.gradient(total, [*watched, *variables]) if total is not None else []
        dense = [tf.convert_to_tensor(one) for one in found if one is not None]
        return {"outputs": [], "gradients": dense}

    with randomness.reproducible() as dice:
        try:
            pair = Pair(subject, Inputs(subject.first), gradients, dice)
        except Exception as error:
            if why := _eager_fails(subject, gradients):
                return Said(SKIPPED, f"eager code has no gradient either: {why}")
            raise error
        if not pair.concrete.outputs:
            return Said(SKIPPED, "no gradient flows from inputs or variables to a float output")
        try:
            compiling.lowered(pair.concrete, subject.specs)
            pair.compile()
        except compiling.TooLongError:
            raise
        except Exception as error:
            raise AtConcreteError(error, pair.concrete) from error
        tools = subject.tools
        subject.books.shown.note(pair.concrete.graph, tools.locator.line_of, tools.flagged_files)
        if not (subject.books.passed(EAGER) and subject.books.compared(NUMBERS)):
            return Said(OK, "compiles; not compared")
        try:
            said = pair.compared(GRADIENT)
        except Exception:
            if why := _eager_fails(subject, gradients):
                return Said(OK, f"compiles; eager code has no gradient: {why}")
            raise
    return Said(OK, f"compiles; {said.detail}") if said.status == SKIPPED else said


def _eager_fails(subject: Subject, gradients: Any) -> str:
    try:
        subject.run_eagerly(subject.first, gradients)
    except Exception as error:
        first, *_ = str(error).splitlines() or [""]
        return f"{type(error).__name__}: {first[:160]}"
    return ""


def _sum_of_floats(outputs: Any) -> Any:
    leaves = [
        leaf for leaf in tf.nest.flatten(outputs, expand_composites=True) if tf.is_tensor(leaf)
    ]
    floats = [tf.reduce_sum(tf.cast(leaf, tf.float32)) for leaf in leaves if leaf.dtype.is_floating]
    return tf.add_n(floats) if floats else None
