"""Products that sum an axis that is as long as the data say, against one of a size that stands in the program.

Eager execution finds both of one length, for the data that the author has in mind. XLA compares the buffer of the one with the size of
the other: `tf.matmul`, `tf.tensordot` and `@` are refused, `tf.einsum` sums what lies behind the end too (fixtures/XLA204).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xlalint.semantics.arguments import Bound
from xlalint.semantics.results import result_shapes
from xlalint.semantics.results.contractions import operand, turns
from xlalint.semantics.values import (
    CONSTANT,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    VARIABLE,
    Value,
)

# What the products are, and how XLA takes unequal sizes.
PRODUCTS = {
    "tf.matmul": "measured-rejected",
    "tf.linalg.matmul": "measured-rejected",
    "tf.linalg.matvec": "measured-rejected",
    "tf.tensordot": "measured-rejected",
    "tf.einsum": "measured-wrong",
    "keras.ops.matmul": "measured-rejected",
    "keras.ops.tensordot": "measured-rejected",
    "keras.ops.einsum": "measured-wrong",
}


class _Side(NamedTuple):
    """An operand and the axis of it that is summed; None where nobody knows which that is."""

    value: Value
    axis: int | None


def unequal(name: str, bound: Bound, positional: tuple[Value, ...]) -> tuple[str, Value] | None:
    """The misuse that a product is, and its data-sized operand; None of all others."""
    tensors = (*positional, *bound.values())
    if not any(value.producer is not None for value in tensors):
        return None
    leaf = name.rsplit(".", 1)[-1]
    sized = _unequal(_sides(leaf, bound, positional))
    return None if sized is None else (PRODUCTS[name], sized)


def unequal_matrices(left: Value, right: Value) -> Value | None:
    """The data-sized operand of `left @ right`, where the other one has a size of its own."""
    return _unequal(iter([_of_matrices(left, right, False, False)]))


def _unequal(pairs: Iterator[tuple[_Side, _Side]]) -> Value | None:
    for first, second in pairs:
        for one, other in ((first, second), (second, first)):
            is_sized = one.value.producer is not None and one.axis is not None
            if is_sized and one.value.sized_axis == one.axis and _has_own_size(other):
                return one.value
    return None


def _has_own_size(side: _Side) -> bool:
    value = side.value
    if value.kind is SEQUENCE:
        return side.axis == 0 and result_shapes.numbers(value) is not None
    if value.producer is not None or value.structured or value.optional or value.guess:
        return False
    if value.kind is VARIABLE or (value.kind is TENSOR and value.dependence == CONSTANT):
        return True
    if value.shape is None or side.axis is None or not side.axis < len(value.shape):
        return False
    return value.shape[side.axis] not in (None, 1)


def _sides(leaf: str, bound: Bound, positional: tuple[Value, ...]) -> Iterator[tuple[_Side, _Side]]:
    left, right = operand(bound, "a", "x1", "x"), operand(bound, "b", "x2", "y")
    if leaf == "matmul":
        yield _of_matrices(left, right, turns(bound, "a"), turns(bound, "b"))
    elif leaf == "matvec":
        yield _Side(left, _from_end(left, 2 if turns(bound, "a") else 1)), _Side(right, _from_end(right, 1))  # fmt: skip
    elif leaf == "tensordot":
        yield from _of_axes(left, right, bound.get("axes", NOTHING_KNOWN))
    elif leaf == "einsum":
        yield from _of_letters(positional)


def _of_matrices(
    left: Value, right: Value, turned: bool, right_turned: bool
) -> tuple[_Side, _Side]:
    is_vector = right.shape is not None and len(right.shape) == 1
    rows = _from_end(right, 1 if right_turned or is_vector else 2)
    return _Side(left, _from_end(left, 2 if turned else 1)), _Side(right, rows)


def _from_end(value: Value, places: int) -> int | None:
    rank = len(value.shape) if value.shape is not None else 0
    return rank - places if rank >= places else None


def _of_axes(left: Value, right: Value, axes: Value) -> Iterator[tuple[_Side, _Side]]:
    """`tf.tensordot(a, b, 1)`, `tf.tensordot(a, b, [[0], [1]])`."""
    if result_shapes.number(axes) == 1:
        yield _Side(left, _from_end(left, 1)), _Side(right, 0)
    elif axes.kind is SEQUENCE and len(axes.ref) == 2:
        ours, theirs = (_numbers(side) for side in axes.ref)
        for one, other in zip(ours, theirs):
            yield _Side(left, _counted(left, one)), _Side(right, _counted(right, other))


def _numbers(value: Value) -> tuple[int | None, ...]:
    known = result_shapes.number(value)
    return (known,) if known is not None else result_shapes.numbers(value) or ()


def _counted(value: Value, axis: int | None) -> int | None:
    return axis if axis is None or axis >= 0 else _from_end(value, -axis)


def _of_letters(positional: tuple[Value, ...]) -> Iterator[tuple[_Side, _Side]]:
    """`tf.einsum("ni,nj->ij", a, b)`: what shares a letter is of one length, summed or not."""
    equation = positional[0].constant() if positional else None
    if equation is None or not isinstance(equation.value, str) or "." in equation.value:
        return
    letters = equation.value.replace(" ", "").partition("->")[0].split(",")
    if len(letters) != len(positional) - 1:
        return
    seen: dict[str, _Side] = {}
    for names, value in zip(letters, positional[1:]):
        for axis, letter in enumerate(names):
            side = _Side(value, axis)
            if letter in seen:
                yield seen[letter], side
            seen.setdefault(letter, side)
