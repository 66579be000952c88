"""Rows taken of a tensor that is data-sized along a later axis: XLA up to TensorFlow 2.15 counts what comes out wrongly.

`tf.gather(kept, [1, 0])`, where a mask has left columns of `kept`, dies there, is refused ("Expected a non-negative size") or gives other
numbers; so does `tf.nn.embedding_lookup`. One row (`tf.gather(kept, 1)`, `kept[1]`) and rows along a later axis are right, and TensorFlow 2.21 has it all
right (measured: fixtures/XLA204/flagged_rows_beside_kept_columns.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

_INDICES = {"tf.gather": "indices", "tf.nn.embedding_lookup": "ids"}


def taken(name: str, bound: dict[str, Value], first: Value, frame: Frame) -> Value | None:
    """The data-sized tensor that this call takes several rows of, along an axis before the one that the data decide."""
    indices = bound.get(_INDICES[name]) if name in _INDICES else None
    if indices is None or not frame.analysis.tells_counts_apart or "batch_dims" in bound:
        return None
    if not first.is_tensor or first.producer is None or not first.sized_axis:
        return None
    axis = result_shapes.number(bound["axis"]) if "axis" in bound else 0
    if axis is None or not 0 <= axis < first.sized_axis or indices.producer is not None:
        return None
    return first if indices.kind is SEQUENCE or (indices.is_tensor and indices.rank) else None
