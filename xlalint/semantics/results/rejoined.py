"""Parts of tensors, cut where the running program says, that are put together again: XLA adds up the sizes that they may have.

`tf.concat([x[:i], x[i:]], 0)` of 8 rows has 8 rows in an eager run. For XLA each part may have all of them, so the whole has up to 16, and
fits nothing that has 8: `tf.concat([whole, x], 1)` and `tf.stack([whole, x])` do not compile (fixtures/XLA204/flagged_parts_put_together.py).
"""

from __future__ import annotations

from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import SEQUENCE, Cut, Rejoined, Rest, Value

_NO_AXES: frozenset[int] = frozenset()


def marked(whole: Value, values: Value, axis: Value | None) -> Value:
    """The result of `tf.concat(values, axis)`, with the axes along which sizes add up."""
    along = _position(values, axis)
    if whole.producer is None or along is None or values.kind is not SEQUENCE:
        return whole
    items: tuple[Value, ...] = values.ref
    wide = frozenset().union(*(_wide(item) for item in items))
    if len(items) > 1 and any(along in _cut(item) for item in items):
        wide |= {along}
    return whole._replace(ref=Rejoined(wide)) if wide else whole


def is_rejoined(value: Value) -> bool:
    """Whether a tensor is as long as parts that the running program cuts are together."""
    return type(value.ref) is Rejoined


def beside_whole(items: tuple[Value, ...], along: int | None, is_stack: bool) -> Value | None:
    """The item whose sizes added up, beside one that is whole along the same axis: TensorFlow wants them alike along all others."""
    if along is None and not is_stack:
        return None
    for item in items:
        axes = _wide(item) if is_stack else _wide(item) - {along}
        if any(_is_whole(other, axis) for axis in axes for other in items):
            return item
    return None


def _position(values: Value, axis: Value | None) -> int | None:
    """Where the axis is from the start, as far as that can be told."""
    along = result_shapes.number(axis) if axis is not None else None
    if along is None or along >= 0 or values.kind is not SEQUENCE:
        return along
    ranks = {len(item.shape) for item in values.ref if item.shape is not None}
    return along + ranks.pop() if len(ranks) == 1 else None


def _wide(value: Value) -> frozenset[int]:
    if type(value.ref) is Rest and value.producer is not None and value.sized_axis is not None:
        # Filled up with as much as may be missing (padded_back.py).
        return frozenset({value.sized_axis})
    return value.ref.axes if type(value.ref) is Rejoined else _NO_AXES


def _cut(value: Value) -> frozenset[int]:
    """The axes along which the running program decides how long a tensor is, as far as they are known."""
    if value.producer is None:
        return _NO_AXES
    if type(value.ref) is Cut:
        return value.ref.axes
    return _NO_AXES if value.sized_axis is None else frozenset({value.sized_axis})


def _is_whole(value: Value, axis: int) -> bool:
    """Whether no data decide how long a tensor is along an axis."""
    if not value.is_tensor or value.optional or value.structured:
        return False
    return value.producer is None or (type(value.ref) is Cut and axis not in value.ref.axes)
