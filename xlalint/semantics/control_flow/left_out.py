"""Sizes that a function takes from its data where nobody passes one: `if depth is None: depth = tf.reduce_max(ids) + 1`.

Of a parameter that defaults to None, and that no caller in sight gives, either may be meant. What the function does by itself is
the part that it can be held to: called as it may be, without that argument, it asks for the size that the data say.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import ARRIVING, PYTHON, UNKNOWN, Value


def note_parameters(
    found: Mapping[str, Value], defaults: Mapping[str, ast.expr | None], frame: Frame
) -> None:
    """Keep which parameters of a function that nobody is seen to call may be left out."""
    for name, default in defaults.items():
        value = found.get(name)
        if value is None or not isinstance(default, ast.Constant) or default.value is not None:
            continue
        if value.kind is UNKNOWN or (value.kind is PYTHON and value.constant() is None):
            frame.left_out[name] = value


def settle(
    test: ast.expr,
    first: Mapping[str, Value | None],
    second: Mapping[str, Value | None],
    frame: Frame,
) -> None:
    """After `if depth is None: depth = ...`: what the names hold that the arm binds which is run without the argument."""
    holds = _is_left_out(test, frame.left_out)
    if holds is None:
        return
    made = first if holds else second
    for name, value in made.items():
        joined = frame.names.get(name)
        if value is not None and joined is not None and _is_size_from_data(value):
            if joined.kind is UNKNOWN or joined.kind is PYTHON:
                frame.names[name] = value._replace(sure=False)


def chosen(test: ast.expr, first: Value, second: Value, joined: Value, frame: Frame) -> Value:
    """`tf.reduce_max(ids) + 1 if depth is None else depth`."""
    holds = _is_left_out(test, frame.left_out)
    made = first if holds else second
    if holds is None or not _is_size_from_data(made) or joined.is_tensor:
        return joined
    return made._replace(sure=False)


def instead(node: ast.BoolOp, values: list[Value], joined: Value, frame: Frame) -> Value:
    """`depth or tf.reduce_max(ids) + 1`."""
    if not isinstance(node.op, ast.Or) or len(node.values) != 2 or len(values) != 2:
        return joined
    return chosen(node.values[0], values[0], values[1], joined, frame)


def _is_left_out(test: ast.expr, parameters: Mapping[str, Value]) -> bool | None:
    """Whether a test holds where the argument that it asks for is left out; None where it asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _is_left_out(test.operand, parameters)
        return None if inner is None else not inner
    if isinstance(test, ast.Name):
        return False if test.id in parameters else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    asked, op, other = test.left, test.ops[0], test.comparators[0]
    if not isinstance(other, ast.Constant) or other.value is not None:
        return None
    if not isinstance(asked, ast.Name) or asked.id not in parameters:
        return None
    return isinstance(op, (ast.Is, ast.Eq)) if isinstance(op, _ASK_FOR_NONE) else None


_ASK_FOR_NONE = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


def _is_size_from_data(value: Value) -> bool:
    is_vague = value.guess or value.structured or value.optional
    return value.is_tensor and value.rank == 0 and value.dependence >= ARRIVING and not is_vague
