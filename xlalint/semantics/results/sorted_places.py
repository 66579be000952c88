"""Positions that a sort returned, and masks that compare them with constants: XLA takes too low a bound for how many are true.

Lowering `tf.where(mask)` and boolean masks, TensorFlow asks for the largest count that the mask may have. Of a sort it takes the
positions for constants as large as can be, so that `tf.argsort(x) < 2` is true nowhere: the result is empty, or the process dies.
So it does with constants that are shuffled, `tf.random.shuffle(tf.range(n)) < 2`, which XLA sorts by random keys.
Where data, arithmetic or `tf.reshape` come between, and for `>`, it knows that it does not know. Measured with TensorFlow 2.15 and
2.21: fixtures/XLA204/flagged_masks_of_positions.py. The bound is found before any compiler is asked, for every target alike.
"""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import (
    ARRIVING,
    FROM_SHAPE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    TENSOR,
    UNKNOWN,
    Places,
    Value,
    constant,
)

_POSITIONS, _MASK = Places(False), Places(True)
_SHUFFLED = Places(False, is_shuffled=True)
# The positions on the left, a constant on the right.
_BELOW = (ast.Lt, ast.LtE, ast.Eq)
_ABOVE = (ast.Gt, ast.GtE, ast.Eq)
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "less": ast.Lt,
    "less_equal": ast.LtE,
    "equal": ast.Eq,
    "greater": ast.Gt,
    "greater_equal": ast.GtE,
}
# What leaves every element what it was, or asks whether any is true.
_KEEP = frozenset("cast identity stop_gradient transpose tile slice reduce_any any".split())


def argsort(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.argsort(x)`: the positions of the elements of x in their order."""
    first = arguments.positional[0] if arguments.positional else bound.get("values", NOTHING_KNOWN)
    return _positions(first, flat)


def top_k(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.math.top_k(x, k)`: values, and the positions that they had."""
    first = arguments.positional[0] if arguments.positional else bound.get("input", NOTHING_KNOWN)
    positions = _positions(first, flat)
    if _is_cut(first, bound):
        positions = positions._replace(producer=None)
    values = positions._replace(dtype=first.dtype if first.is_tensor else None, ref=None)
    return Value(SEQUENCE, positions.dependence, ref=(values, positions))


def _is_cut(first: Value, bound: Bound) -> bool:
    """Whether as many are taken as nobody's data say, of what is data-sized along the last axis: mostly the only one."""
    k = bound.get("k", constant(1))
    by_data = k.kind is UNKNOWN or (k.is_tensor and k.dependence > FROM_SHAPE)
    rank = len(first.shape) if first.shape is not None else first.rank
    return not by_data and (rank or 1) - 1 == (first.sized_axis or 0)


def _positions(first: Value, flat: tuple[Value, ...]) -> Value:
    dependence = max((leaf.dependence for leaf in flat if leaf.holds_data), default=0)
    producer = next((leaf.producer for leaf in flat if leaf.producer is not None), None)
    is_known = first.is_tensor and all(leaf.sure for leaf in flat if leaf.is_tensor)
    is_asked = dependence >= ARRIVING and producer is None
    ref = _POSITIONS if is_asked else None
    return Value(TENSOR, dependence, producer, "int32", None, ref, is_known)


def shuffled(given: Value, result: Value) -> Value:
    """`tf.random.shuffle(tf.range(n))`: whole numbers that XLA knows, in an order that it does not know."""
    is_whole = given.dtype is None or given.dtype.startswith(("int", "uint"))
    is_vector = given.shape is None or len(given.shape) == 1  # the rows of a matrix are gathered
    if is_whole and is_vector and given.producer is None and _is_constant(given):
        return result._replace(ref=_SHUFFLED)
    return result


def compared(op: ast.cmpop | type[ast.cmpop], left: Value, right: Value) -> Places | None:
    """What a comparison of positions with a constant is; None for any other."""
    kind = op if isinstance(op, type) else type(op)
    if left.ref == _SHUFFLED and issubclass(kind, (ast.Lt, ast.LtE)) and _is_constant(right):
        return _MASK
    if right.ref == _SHUFFLED and issubclass(kind, (ast.Gt, ast.GtE)) and _is_constant(left):
        return _MASK
    if left.ref == _POSITIONS and issubclass(kind, _BELOW) and _is_constant(right):
        return _MASK
    if right.ref == _POSITIONS and issubclass(kind, _ABOVE) and _is_constant(left):
        return _MASK
    return None


def of_call(name: str, values: tuple[Value, ...], result: Value) -> Value:
    """The result of a call, with what it keeps of the positions or the masks among its arguments."""
    if result.kind is not TENSOR:
        return result
    leaf = name.rsplit(".", 1)[-1]
    op = _COMPARISONS.get(leaf)
    if op is not None and len(values) >= 2:
        return result._replace(ref=compared(op, values[0], values[1]))
    if leaf == "logical_and" and all(v.ref == _MASK or _is_constant(v) for v in values[:2]):
        return result._replace(ref=_MASK)
    if leaf in _KEEP and values and type(values[0].ref) is Places:
        return result._replace(ref=values[0].ref)
    return result


def are_miscounted(mask: Value) -> bool:
    """Whether XLA takes too few for the most that a mask may hold."""
    return mask.is_tensor and mask.ref == _MASK


def _is_constant(value: Value) -> bool:
    if value.is_tensor:
        return value.dependence <= FROM_SHAPE and value.sure
    known = value.constant()
    return value.kind is PYTHON and (known is None or isinstance(known.value, (int, float)))
