"""Calls of not-tf-opt 0.0.3: variables with bounds."""

from __future__ import annotations

from not_tf_opt import variables
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("not_tf_opt")
VALUES = floats(4).astype("float64") / 2 + 0.2
plain(programs, "sigmoid_inverse", variables.sigmoid_inverse, VALUES)


@programs("PositiveVariable")
def _positive() -> Call:
    made = variables.PositiveVariable(VALUES)
    return Call(lambda x: made.forward_transform(made.backward_transform(x)), [VALUES])


@programs("BoundedVariable")
def _bounded() -> Call:
    made = variables.BoundedVariable(VALUES, 0.0, 2.0)
    return Call(lambda x: made.forward_transform(made.backward_transform(x)), [VALUES])


@programs("BoundedVariable.forward_transform")
def _forward() -> Call:
    made = variables.BoundedVariable(VALUES, 0.0, 2.0)
    return Call(lambda x: made.forward_transform(x), [VALUES])
