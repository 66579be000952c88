"""Sizes that count what a mask left, where XLA accepts their bound and gets the numbers wrong.

`n = tf.shape(kept)[0]` is a bound and a count to XLA. `tf.zeros([n])`, `tf.range(n)`, `tf.repeat(x, n)` are right with it, `tf.one_hot(x, n)` is
refused (XLA203); these compile, and compute other numbers than eager execution: `tf.tile(x, [n, 1])` of several rows, or of what another mask left,
of which it keeps as many as of one, and `tf.range(n, 8)` and `tf.range(n, 0, -1)`, which start at 0 (measured on TensorFlow 2.21: fixtures/XLA204/flagged_sizes_that_are_counted.py).
`tf.eye(n)` alone is wrong too, but right where it meets a matrix of as many rows (`products * (1 - tf.eye(n))`), for which it is made: nothing is
said of it.
"""

from __future__ import annotations

from xlalint.semantics.values import BOUNDED, SEQUENCE, Value

_RANGES = frozenset({"tf.range"})
_TILES = {"tf.tile": ("input", "multiples")}


def miscounted(name: str, bound: dict[str, Value]) -> Value | None:
    """The count that this call takes for a size and gets wrong."""
    if name in _RANGES:
        start = bound.get("start")
        if start is None or "limit" not in bound or not _is_count(start):
            return None
        return start
    if name in _TILES:
        return _of_several(*(bound.get(each) for each in _TILES[name]))
    return None


def _of_several(tiled: Value | None, multiples: Value | None) -> Value | None:
    """How often a dimension of more than one is repeated: what has one row is repeated rightly."""
    if tiled is None or multiples is None or multiples.kind is not SEQUENCE:
        return None
    times: Value
    for axis, times in enumerate(multiples.ref):
        if _is_count(times) and _has_several(tiled, axis):
            return times
    return None


def _has_several(tiled: Value, axis: int) -> bool:
    """Whether a dimension is more than one: by its static size, or as a mask keeps several rows but by chance."""
    if tiled.is_data_sized and tiled.sized_axis == axis:
        return tiled.sure and not (tiled.guess or tiled.structured)
    size = tiled.shape[axis] if tiled.shape and axis < len(tiled.shape) else None
    return isinstance(size, int) and size > 1


def _is_count(size: Value) -> bool:
    is_plain = not (size.guess or size.optional or size.structured)
    return size.is_tensor and size.dependence == BOUNDED and size.sure and is_plain
