"""Positions that a sort returned, and masks that compare them with constants: XLA takes too low a bound for how many are true.

Lowering `tf.where(mask)` and boolean masks, TensorFlow asks for the largest count that the mask may have. Of a sort it takes the
positions for constants as large as can be, so that `tf.argsort(x) < 2` is true nowhere: the result is empty, or the process dies.
What is made of such a mask is 0 to it: the sum of its ones, and of the gates of `tf.math.top_k` that it picks.
So it does with constants that are shuffled, `tf.random.shuffle(tf.range(n)) < 2`, which XLA sorts by random keys.
Where data that were not sorted come between, or `tf.reshape` comes before the comparison, and for `>`, it knows that it does not
know. Of sorted values themselves it takes what they would be if all data were 1, which says nothing here. Measured with TensorFlow
2.15 and 2.21: fixtures/XLA204/flagged_masks_of_positions.py, flagged_routes_to_experts.py. The bound is found before any compiler
is asked, for every target alike.
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
    shaped,
)

# What is as large as can be to TensorFlow, and what is false or 0: masks, and what counts them.
_POSITIONS, _MASK = Places(False), Places(True)
_SHUFFLED = Places(False, is_shuffled=True)
# Sorted values, and their shares: some number, which is 0 where a mask multiplies it.
_VALUES = Places(False, is_value=True)
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
# What is 0 of masks; of sorted values, some number.
_REDUCE = frozenset("reduce_sum reduce_mean reduce_max sum mean max".split())
_OF_VALUES = _REDUCE | frozenset("softmax sigmoid exp log sqrt square".split())
_OPERATORS: dict[str, type[ast.operator]] = {
    "multiply": ast.Mult,
    "divide": ast.Div,
    "add": ast.Add,
    "subtract": ast.Sub,
}


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
    if first.is_tensor and first.shape and not first.structured:
        k = bound.get("k", constant(1)).constant()
        size = k.value if k is not None and type(k.value) is int else None
        positions = shaped(positions, (*first.shape[:-1], size))
    dtype = first.dtype if first.is_tensor else None
    values = positions._replace(dtype=dtype, ref=positions.ref and _VALUES)
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
    if left.ref == _MASK and _is_false_of_zero(kind, _number(right)):
        return _MASK
    if right.ref == _MASK and _is_false_of_zero(_MIRRORED.get(kind, kind), _number(left)):
        return _MASK
    return None


_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE}


def _is_false_of_zero(kind: type[ast.cmpop], number: float | None) -> bool:
    """Whether 0 compared so with this number is false, as where a count of a mask is compared: `chosen > 0`."""
    if number is None:
        return False
    if issubclass(kind, (ast.Gt, ast.NotEq)):
        return number >= 0 if issubclass(kind, ast.Gt) else number == 0
    return issubclass(kind, (ast.GtE, ast.Eq)) and number > 0


def reckoned(op: ast.operator | type[ast.operator], left: Value, right: Value) -> Places | None:
    """What an operator makes of positions, of masks that compare them, of sorted values and of constants."""
    kind = op if isinstance(op, type) else type(op)
    refs = (left.ref, right.ref)
    known = [v.ref in (_POSITIONS, _MASK, _VALUES) or _is_constant(v) for v in (left, right)]
    if not all(known):
        return None
    if kind is ast.Mult and _MASK in refs:
        return _MASK
    if _MASK in refs:
        is_sum = kind is ast.Add and refs == (_MASK, _MASK)
        return _MASK if is_sum or (kind is ast.Div and left.ref == _MASK) else None
    if _VALUES in refs:
        return _VALUES
    number = _number(right if left.ref == _POSITIONS else left)
    if number is None or (kind in (ast.Mult, ast.Div) and number <= 0):
        return None
    turns_round = kind in (ast.Sub, ast.Div) and right.ref == _POSITIONS
    return None if turns_round or kind not in _OPERATORS.values() else _POSITIONS


def of_call(name: str, values: tuple[Value, ...], result: Value) -> Value:
    """The result of a call, with what it keeps of the positions or the masks among its arguments."""
    if result.kind is not TENSOR:
        return result
    leaf = name.rsplit(".", 1)[-1]
    op = _COMPARISONS.get(leaf)
    if op is not None and len(values) >= 2:
        return result._replace(ref=compared(op, values[0], values[1]))
    if leaf in _OPERATORS and len(values) >= 2:
        return result._replace(ref=reckoned(_OPERATORS[leaf], values[0], values[1]))
    if leaf == "logical_and" and all(v.ref == _MASK or _is_constant(v) for v in values[:2]):
        return result._replace(ref=_MASK)
    ref = values[0].ref if values else None
    if type(ref) is not Places:
        return result
    is_kept = leaf in _KEEP or (leaf in _OF_VALUES and ref == _VALUES)
    if is_kept or (ref == _MASK and (leaf in _REDUCE or leaf == "reshape")):
        return result._replace(ref=ref)
    return result


def are_miscounted(mask: Value) -> bool:
    """Whether XLA takes too few for the most that a mask may hold."""
    return mask.is_tensor and mask.ref == _MASK


def _number(value: Value) -> float | None:
    """A number that is known while reading."""
    known = value.constant()
    number = None if known is None else known.value
    return number if isinstance(number, (int, float)) else None


def _is_constant(value: Value) -> bool:
    if value.is_tensor:
        return value.dependence <= FROM_SHAPE and value.sure
    known = value.constant()
    return value.kind is PYTHON and (known is None or isinstance(known.value, (int, float)))
