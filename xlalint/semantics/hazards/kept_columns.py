"""Columns that a mask keeps, reshaped to a width: XLA's buffer holds all of them.

`tf.reshape(tf.boolean_mask(x, mask, axis=1), [-1, 15])` of 25 columns is a reshape of 25 elements a row. XLA compiles it where 15 divides them, as it does
for 15 rows, and is right then; for most batches it says "Input to reshape is a tensor with 100 values, but the requested shape requires a multiple of 15"
(measured, TensorFlow 2.21: fixtures/XLA204/flagged_kept_columns.py).
"""

from __future__ import annotations

from math import gcd, prod

from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import SEQUENCE, Kept, Value


def is_of_uneven_width(kept: Value, shape: Value) -> bool:
    """Whether a shape with one open size leaves a rest of the buffer of what a mask keeps of a later axis, for batches of 1, 2, 4, 8 and so on."""
    if not kept.sized_axis or type(kept.ref) is not Kept or shape.kind is not SEQUENCE:
        return False
    sizes = [result_shapes.number(size) for size in shape.ref]
    if kept.shape is None or None in sizes or sizes.count(-1) != 1:
        return False
    wanted = prod(size for size in sizes if size is not None and size > 0)
    others = [size for axis, size in enumerate(kept.shape) if axis != kept.sized_axis]
    held = kept.ref.at_most * prod(size for size in others if size is not None)
    left = wanted // gcd(wanted, held) if wanted and held else 1
    while None in others and left % 2 == 0:
        left //= 2
    return left > 1
