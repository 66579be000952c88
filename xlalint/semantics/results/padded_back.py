"""What a mask left, padded to a size that XLA knows: no longer as long as the data say.

`tf.pad(kept, [[0, n - tf.shape(kept)[0]], [0, 0]])` has n rows to XLA as well, and reshapes, products, sums and gradients of it are right. So
it is with `tf.maximum(0, n - tf.shape(kept)[0])` after `[:n]`, and without that not: sizes that the data decide add up to another bound. The
same goes for `tf.concat([kept, tf.zeros([n - tf.shape(kept)[0], 4])], 0)` (measured, TensorFlow 2.21: fixtures/XLA204/near_padded_back.py,
flagged_padded_in_part.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import (
    BOUNDED,
    FROM_SHAPE,
    PYTHON,
    SEQUENCE,
    UNKNOWN,
    Rest,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

_PADS = frozenset({"tf.pad", "keras.ops.pad"})
_ROWS = frozenset({"tf.zeros", "tf.ones", "tf.fill"})
_OF_TWO = frozenset({"tf.maximum", "tf.math.maximum"})


def left_of(node: ast.AST, whole: Value, count: Value, value: Value) -> Value:
    """The value of `n - tf.shape(kept)[0]`, marked as what is missing to a size that XLA knows."""
    is_difference = isinstance(getattr(node, "op", None), ast.Sub)
    if not is_difference or not _is_count(count) or not _is_settled(whole):
        return value
    return value._replace(ref=Rest(result_shapes.number(whole)))


def of_call(name: str, flat: tuple[Value, ...], value: Value) -> Value:
    """What is missing, or nothing where there is too much: `tf.maximum(0, n - tf.shape(kept)[0])`; what it is cast to, and rows as many as it."""
    rest = next(leaf.ref for leaf in flat if type(leaf.ref) is Rest)
    if name in _ROWS:
        return value._replace(ref=rest._replace(is_least=True))
    if name == "tf.cast":
        return value._replace(ref=rest)
    if name in _OF_TWO and any(result_shapes.number(leaf) == 0 for leaf in flat):
        return value._replace(ref=rest._replace(is_least=True))
    return value


def fills(name: str, bound: dict[str, Value]) -> bool:
    """Whether a call pads a tensor along its data-sized axis, by just what is missing there."""
    rest = _padding(name, bound)
    return rest is not None and not rest.is_least


def marked(name: str, bound: dict[str, Value], value: Value) -> Value:
    """The result of a padding by what is missing or by nothing: at least as long as wanted, and that once it is cut."""
    rest = _padding(name, bound)
    if rest is None or not rest.is_least:
        return value
    return value._replace(ref=rest, sized_axis=next(iter(bound.values())).sized_axis)


def joined(values: Value, axis: Value | None, value: Value) -> Value:
    """The result of `tf.concat([kept, tf.zeros([n - tf.shape(kept)[0], 4])], 0)`: to XLA longer than wanted, until it is cut."""
    along = result_shapes.number(axis) if axis is not None else None
    if values.kind is not SEQUENCE or len(values.ref) != 2:
        return value
    rests = [part for part in values.ref if type(part.ref) is Rest]
    if len(rests) != 1 or any(part.sized_axis != along for part in values.ref):
        return value
    return value._replace(ref=rests[0].ref) if all(p.is_data_sized for p in values.ref) else value


def is_cut_to_size(part: ast.expr, base: Value, frame: Frame) -> bool:
    """Whether `[:n]` is taken of what was padded to n or more."""
    if type(base.ref) is not Rest or not isinstance(part, ast.Slice) or part.step is not None:
        return False
    if part.upper is None or getattr(part.lower, "value", 0) != 0:
        return False
    stop = frame.analysis.evaluate(part.upper, frame)
    return _is_settled(stop) and base.ref.whole in (None, result_shapes.number(stop))


def _padding(name: str, bound: dict[str, Value]) -> Rest | None:
    """What is missing by name, where the pads of the data-sized axis hold it and no other size from data is among them."""
    padded = next(iter(bound.values()), None) if name in _PADS else None
    pads = bound.get("paddings", bound.get("pad_width"))
    if padded is None or pads is None or pads.kind is not SEQUENCE or not padded.is_data_sized:
        return None
    axis = padded.sized_axis
    if axis is None or not 0 <= axis < len(pads.ref) or pads.ref[axis].kind is not SEQUENCE:
        return None
    rests = [size.ref for size in pads.ref[axis].ref if type(size.ref) is Rest]
    others = [
        size
        for pair in pads.ref
        for size in (pair.ref if pair.kind is SEQUENCE else (pair,))
        if type(size.ref) is not Rest
    ]
    return rests[0] if len(rests) == 1 and all(map(_is_settled, others)) else None


def _is_count(size: Value) -> bool:
    return (
        size.is_tensor
        and size.dependence == BOUNDED
        and size.rank == 0
        and type(size.ref) is not Rest
    )


def _is_settled(size: Value) -> bool:
    """Whether XLA knows a size when it compiles, as far as can be told."""
    if size.kind in (PYTHON, UNKNOWN):
        return size.producer is None
    return size.is_tensor and size.dependence <= FROM_SHAPE
