"""Calls of NumPy, Python's math and other libraries that work on arrays: what they give, and that a traced tensor has no values for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics import evidence
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import ARRAY_LIBRARY, ASSUMED, CONVERSION, NUMPY_CALL
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import arrays
from xlalint.semantics.tracing import host_use
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    NDARRAY,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    Value,
    static_shape,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


# NumPy asks what it is given for its own `ndim` and `shape`, or whether it is a number, which traced tensors answer.
_ASK_THE_TENSOR = frozenset({"np.ndim", "np.shape", "np.isscalar", "np.iterable"})
# `np.triu_indices_from(x)` makes arrays of its shape alone.
_ASK_FOR_THE_SHAPE = frozenset({"np.tril_indices_from", "np.triu_indices_from"})
# What asks for an array, or compares the numbers in two of them.
_ASK_FOR_NUMBERS = frozenset(
    {"np.array", "np.asarray", "np.ascontiguousarray", "np.array_equal", "np.allclose"}
)


def _asks_for_numbers(name: str, frame: Frame) -> bool:
    """Whether a call of NumPy's in a library function shows that it works on numbers."""
    if name in _ASK_FOR_NUMBERS:
        return True
    if _is_of_a_loss(frame):
        return False
    return evidence.takes_arrays(frame) or evidence.follows_arrays(frame)


def _may_hold_numbers(value: Value) -> bool:
    """`if isinstance(x, list): x = np.array(x)`: where no list is seen to be passed, it is one of numbers or of tensors."""
    return value.kind is COLLECTION and value.dependence == ARRIVING


def numpy_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    values = arguments.values
    flat = [leaf for value in values for leaf in leaves(value)]
    if name in _ASK_THE_TENSOR and len(values) == 1 and values[0].is_tensor:
        asked = static_shape(None if values[0].structured else values[0].shape)
        return asked if name == "np.shape" else SOME_PYTHON
    if name in _ASK_FOR_THE_SHAPE and values and values[0].is_tensor:
        return Value(COLLECTION, ref=Value(NDARRAY))
    if name == "np.flip" and values and values[0].is_tensor:
        return values[0]._replace(kind=TENSOR, ref=None)  # it slices what it is given
    if name in _ASK_FOR_NUMBERS and any(map(_may_hold_numbers, values)):
        return Value(NDARRAY)
    for leaf in flat:
        if leaf.is_tensor and not (leaf.guess or leaf.optional):
            if not leaf.sure and evidence.writes_arrays(frame):
                break
            frame.analysis.note(frame, node, NUMPY_CALL, leaf)
            asks = _asks_for_numbers(name, frame) or frame.host & host_use.TRACES
            if frame.context.region == ASSUMED and asks:
                # Nobody compiles it, and it asks for numbers as `.numpy()` does, or works on what a tf.function returned: its
                # author runs it eagerly.
                frame.host |= host_use.WORK
            return Value(NDARRAY)
    made = arrays.made(name, arguments)
    if made is not None:
        return made
    is_listed = name in arrays.OF_LISTS and bool(values) and values[0].kind is SEQUENCE
    if flat and not is_listed and all(leaf.kind in (PYTHON, SHAPE) for leaf in flat):
        return SOME_PYTHON
    return Value(NDARRAY)


def math_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    for value in arguments.positional:
        if value.is_tensor and not (value.guess or value.structured or value.optional):
            frame.analysis.note(frame, node, CONVERSION, value, name)
    return SOME_PYTHON


def note(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`gaussian_filter(x, 2)`, `f1_score(y_true, y_pred)`: functions of libraries that work on NumPy's arrays."""
    if name.rpartition(".")[2][:1].isupper():
        return  # an object, which may keep what it is given
    for value in arguments.values:
        for leaf in leaves(value):
            if leaf.is_tensor and not (leaf.guess or leaf.optional or leaf.structured):
                if leaf.sure or not evidence.writes_arrays(frame):
                    frame.analysis.note(frame, node, NUMPY_CALL, leaf, ARRAY_LIBRARY)
                if frame.context.region == ASSUMED and not _is_of_a_loss(frame):
                    frame.host |= host_use.WORK  # its author runs it eagerly
                return


def _is_of_a_loss(frame: Frame) -> bool:
    """Whether a step that trains runs it, whatever its author had in mind."""
    return frame.function is not None and evidence.is_loss(frame.function, frame)
