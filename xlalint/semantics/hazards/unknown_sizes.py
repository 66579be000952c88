"""The static size of a data-sized tensor: `None` while TensorFlow traces, where eager TensorFlow has a number.

The same of a size that an `input_signature` leaves open.

What reckons with it stops the trace (`kept.shape[0] * 2`, `range(n)`, `tf.zeros([n, 3])`), and a slice up to it takes everything.
Measured with TensorFlow 2.21: fixtures/XLA204/flagged_sizes_in_python.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import DATA_SIZED_USE
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    ARRIVING,
    NONE,
    PYTHON,
    SHAPE,
    SOME_PYTHON,
    Open,
    Value,
    dimension,
    static_shape,
)

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

UNKNOWN_SIZE = "unknown-size"
OPEN_SIZE = "open-size"
# In the place of an operation that makes a size unknown.
_SIGNATURE = "input_signature"
# Python's own functions that want a number.
_WANT_NUMBERS = frozenset("abs divmod float int max min pow range round sum".split())
# Arguments in which TensorFlow takes no None, by the names they have.
_WANT_SIZES = frozenset(
    "depth dims k multiples num_rows num_segments paddings repeats shape shift size".split()
)
# What turns a number into a tensor.
_WANT_VALUES = {
    "tf.cast": ("x",),
    "tf.constant": ("value",),
    "tf.convert_to_tensor": ("value",),
    "tf.linspace": ("num",),
    "tf.maximum": ("x", "y"),
    "tf.minimum": ("x", "y"),
    "tf.range": ("start", "limit"),
}
_MAY_BE_OPEN = ("tf.TensorArray", "tf.TensorSpec", "tf.compat.v1.placeholder", "tf.ensure_shape")


def shape_of(value: Value, frame: Frame) -> Value:
    """What `x.shape` is for a tensor, with what makes one of its sizes unknown."""
    shape = static_shape(value.shape if not value.structured else None)
    axis = open_axis(value)
    if axis is not None and frame.context.is_compiled:
        return shape._replace(producer=_SIGNATURE, sized_axis=axis)
    if value.producer is None or not _is_traced(value, frame):
        return shape
    return shape._replace(producer=value.producer, sized_axis=value.sized_axis)


def open_axis(value: Value) -> int | None:
    """The axis of which a signature leaves the size open; None of tensors of which it leaves none, and of what is made of them."""
    if type(value.ref) is not Open or value.shape is None or len(value.shape) <= value.ref.axis:
        return None
    return value.ref.axis if value.shape[value.ref.axis] is None else None


def _is_traced(value: Value, frame: Frame) -> bool:
    is_vague = value.guess or value.structured or value.optional
    return frame.context.is_compiled and value.dependence >= ARRIVING and not is_vague


def size_at(shape: Value, index: int | None) -> Value:
    """`shape[index]` of a static shape."""
    known = shape.shape
    if index is None or (known is not None and not -len(known) <= index < len(known)):
        return SOME_PYTHON
    position = index if index >= 0 or known is None else index + len(known)
    if shape.producer is not None and position == shape.sized_axis:
        if known is None or known[position] is None:
            return NONE._replace(producer=shape.producer)
    return SOME_PYTHON if known is None else dimension(known[index])


def sizes_of(shape: Value, count: int | None) -> tuple[Value, ...] | None:
    """The sizes of a static shape of `count` dimensions, None where these do not agree or nothing is known of them."""
    known: Shape | None = shape.shape
    if known is None and shape.producer is not None and count is not None:
        return tuple(size_at(shape, position) for position in range(count))
    if known is None or (count is not None and count != len(known)):
        return None
    return tuple(size_at(shape, position) for position in range(len(known)))


def is_unknown(value: Value) -> bool:
    """Whether a value is the size that Python does not know."""
    return value.kind is PYTHON and value.producer is not None and value.ref == NONE.ref


def note_number(node: ast.AST, values: Iterable[Value], frame: Frame) -> None:
    """Note what needs a number and is given the size."""
    for value in values:
        if is_unknown(value):
            frame.analysis.note(frame, node, DATA_SIZED_USE, value, _misuse(value))
            return


def note_builtin(name: str, values: tuple[Value, ...], node: ast.AST, frame: Frame) -> None:
    """`range(kept.shape[0])`, `max(sizes)`."""
    if name in _WANT_NUMBERS:
        note_number(node, (leaf for value in values for leaf in leaves(value)), frame)


def note_call(name: str, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """`tf.zeros([kept.shape[0], 3])`, `tf.eye(kept.shape[0])`, `tf.cast(kept.shape[0], tf.float32)`."""
    if name.startswith(_MAY_BE_OPEN):
        return
    if name == "tf.unstack" and not {"num", "axis"} & bound.keys():
        taken_apart = bound.get("value")
        if taken_apart is not None and open_axis(taken_apart) == 0:
            frame.analysis.note(frame, node, DATA_SIZED_USE, taken_apart, OPEN_SIZE)
    wanted = _WANT_VALUES.get(name.replace("tf.math.", "tf."), ())
    for parameter, value in bound.items():
        if parameter not in _WANT_SIZES and parameter not in wanted:
            continue
        if value.kind is not SHAPE:
            note_number(node, leaves(value), frame)
        elif is_unknown(size_at(value, value.sized_axis)) and not name.startswith("tf.keras."):
            frame.analysis.note(frame, node, DATA_SIZED_USE, value, _misuse(value))
            return


def _misuse(size: Value) -> str:
    return OPEN_SIZE if size.producer == _SIGNATURE else UNKNOWN_SIZE
