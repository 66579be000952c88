"""What an argument says of a shape: the one that it has as an operand, or the numbers that it holds."""

from __future__ import annotations

from xlalint.semantics.results import shapes
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import PYTHON, SEQUENCE, SHAPE, Const, Content, Value

_MOST_DIMENSIONS = 16


def operand_shape(value: Value) -> Shape | None:
    """The shape that an operand of an elementwise operation has: a Python number is a scalar, a list of them a vector."""
    if value.is_tensor:
        return None if value.structured else value.shape
    if value.kind is PYTHON:
        return ()
    if value.kind is SEQUENCE and value.ref:
        inner = [operand_shape(item) for item in value.ref]
        return shapes.stacked(inner, 0)
    return None


def known_shape(value: Value) -> Shape | None:
    """The same of a single operand: what is only known to be no tensor may be an array as well as a number. Lists are written of numbers."""
    if value.kind is PYTHON and not value.choices():
        return None
    return operand_shape(value)


def numbers(value: Value) -> Shape | None:
    """What an argument that holds a shape, a size or a list of axes says: its numbers, None for the unknown ones."""
    if value.kind is SEQUENCE:
        if len(value.ref) > _MOST_DIMENSIONS:
            return None
        return tuple(number(item) for item in value.ref)
    if value.kind is SHAPE:
        return value.shape
    if value.is_tensor:
        if type(value.ref) is Content:
            return value.ref.numbers
        if value.shape is not None and len(value.shape) == 1 and value.shape[0] is not None:
            return (None,) * value.shape[0] if value.shape[0] <= _MOST_DIMENSIONS else None
        return None
    known = number(value)
    return None if known is None else (known,)


def number(value: Value) -> int | None:
    """A whole number that is known while reading."""
    if type(value.ref) is Const and type(value.ref.value) is int:
        return value.ref.value
    if type(value.ref) is Content and len(value.ref.numbers) == 1 and value.shape == ():
        return value.ref.numbers[0]
    return None
