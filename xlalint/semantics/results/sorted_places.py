"""Positions and values that a sort returned, and masks that compare them: XLA takes too low a bound for how many are true.

Lowering `tf.where(mask)` and boolean masks, TensorFlow asks for the largest count that the mask may have. Of a sort it takes the
positions for constants as large as can be, so that `tf.argsort(x) < 2` is true nowhere: the result is empty, or the process dies.
What is made of such a mask is 0 to it: the sum of its ones, and of the gates of `tf.math.top_k` that it picks.
So it does with constants that are shuffled, `tf.random.shuffle(tf.range(n)) < 2`, which XLA sorts by random keys.
Of sorted values it takes what they would be if all data were 1: no two of them differ, and `s[1:] != s[:-1]` with `s = tf.sort(x)` is true
nowhere, nor is `s[1:] - s[:-1] > 0`; beside `[True]` such a mask keeps one element. Compared with a number, they are what they were reckoned to be of
ones (`tf.sort(x) > 2` is true nowhere, nor is `tf.sort(tf.nn.softmax(x)) > 0.5`), as far as at_ones.py follows that.
Where data that were not sorted come between, or `tf.reshape` comes before the comparison, and for `>` of positions, it knows that it does not
know; so it does of `tf.gather(x, tf.argsort(x))`. Measured with TensorFlow 2.15 and 2.21: fixtures/XLA204/flagged_masks_of_positions.py,
flagged_masks_of_sorted_values.py, flagged_routes_to_experts.py. The bound is found before any compiler is asked, for every target alike.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import at_ones
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
# True wherever the other masks are false.
_FULL = Places(True, is_full=True)
# The positions on the left, a constant on the right.
_BELOW = (ast.Lt, ast.LtE, ast.Eq)
_ABOVE = (ast.Gt, ast.GtE, ast.Eq)
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "less": ast.Lt,
    "less_equal": ast.LtE,
    "equal": ast.Eq,
    "not_equal": ast.NotEq,
    "greater": ast.Gt,
    "greater_equal": ast.GtE,
}
# What leaves every element what it was, or asks whether any is true.
_KEEP = frozenset("cast identity stop_gradient transpose tile slice reduce_any any".split())
# What leaves masks alone as they were, and sorted values alone.
_KEEP_MASKS = frozenset("reshape squeeze expand_dims abs".split())
_KEEP_VALUES = (_KEEP - {"tile"}) | frozenset(
    "roll reverse flip reduce_mean reduce_max reduce_min mean max min".split()
)
# What leaves no two of them different, but may leave other numbers.
_ROUND = frozenset({"cast", "floor", "round"})
# What is 0 of masks; of sorted values, some number.
_REDUCE = frozenset("reduce_sum reduce_mean reduce_max sum mean max".split())
_OF_VALUES = _REDUCE | frozenset("softmax sigmoid exp log sqrt square tile".split())
_SORT = frozenset({"tf.sort", "keras.ops.sort", "tf.experimental.numpy.sort"})
_JOIN = frozenset({"concat", "concatenate", "pad"})
_OPERATORS: dict[str, type[ast.operator]] = {
    "multiply": ast.Mult,
    "divide": ast.Div,
    "add": ast.Add,
    "subtract": ast.Sub,
}


def argsort(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.argsort(x)`: the positions of the elements of x in their order."""
    return _positions(_first(arguments, bound, "values"), flat)


def top_k(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.math.top_k(x, k)`: values, and the positions that they had."""
    first = _first(arguments, bound, "input")
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


def _first(arguments: Arguments, bound: Bound, name: str) -> Value:
    """What is sorted: by place, by TensorFlow's name for it, or by that of Keras."""
    given = bound.get(name, bound.get("x", NOTHING_KNOWN))
    return arguments.positional[0] if arguments.positional else given


def by_sort(name: str, value: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The result of a call, of which it is told that this very call sorted it."""
    if name not in _SORT and not name.endswith(".top_k"):
        return value
    level = at_ones.of_operand(node, frame)
    origin = Places(False, is_value=True, origin=id(node), level=level)
    if name in _SORT and value.kind is TENSOR:
        given = next(iter(arguments.values), NOTHING_KNOWN)
        is_asked = given.is_tensor and given.dependence >= ARRIVING and given.producer is None
        return value._replace(ref=origin) if is_asked and value.ref is None else value
    if value.kind is SEQUENCE and len(value.ref) == 2:
        first, positions = value.ref
        if first.ref == _VALUES:
            return value._replace(ref=(first._replace(ref=origin), positions))
    return value


def inverted(mask: Value) -> Places | None:
    """What `~mask` is, of a mask that compares sorted values."""
    return _MASK if mask.ref == _FULL else None


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
    if _are_of_one_sort(left, right):
        return _MASK if issubclass(kind, (ast.NotEq, ast.Lt, ast.Gt)) else _FULL
    if _is_value(left) or _is_value(right):
        return _beside_number(kind, left, right)
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


def _beside_number(kind: type[ast.cmpop], left: Value, right: Value) -> Places | None:
    """What a comparison of sorted values with a number is."""
    sorted_value, other = (left, right) if _is_value(left) else (right, left)
    level, number = sorted_value.ref.level, _number(other)
    holds = _HOLDS.get(kind if sorted_value is left else _TURNED.get(kind, kind))
    if level is None or number is None or holds is None:
        return None
    answers = {holds(each, number) for each in level}
    if len(answers) > 1:
        return None
    return _FULL if answers == {True} else _MASK


_HOLDS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _are_of_one_sort(left: Value, right: Value) -> bool:
    return type(left.ref) is Places and left.ref.origin != 0 and left.ref == right.ref


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
    known = [v.ref in (_POSITIONS, _MASK) or _is_value(v) or _is_constant(v) for v in (left, right)]
    if not all(known):
        return None
    if kind in (ast.Mult, ast.BitAnd) and _MASK in refs:
        return _MASK
    if _MASK in refs:
        is_sum = kind in (ast.Add, ast.BitOr) and refs == (_MASK, _MASK)
        return _MASK if is_sum or (kind is ast.Div and left.ref == _MASK) else None
    if kind is ast.Sub and _are_of_one_sort(left, right):
        return _MASK
    if _is_value(left) or _is_value(right):
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
    if leaf in _JOIN and _MASK in [v.ref for v in values]:
        # As many as the constants among it are true, and none of the mask.
        is_known = all(v.ref == _MASK or _is_constant(v) for v in values)
        return result._replace(ref=_MASK if is_known else None)
    first = values[0] if values else NOTHING_KNOWN
    if type(first.ref) is not Places:
        return result
    return result._replace(ref=_kept(leaf, first, values) or result.ref)


def _kept(leaf: str, first: Value, values: tuple[Value, ...]) -> Places | None:
    """What a function of one tensor leaves of what is known of that one."""
    ref: Places = first.ref
    if _is_value(first):
        picks = leaf == "gather" and len(values) > 1 and _is_constant(values[1])
        if leaf in _ROUND:
            return ref._replace(level=None)
        if leaf in _KEEP_VALUES or picks:
            return ref
        return _VALUES if leaf in _OF_VALUES else None
    if leaf == "logical_not":
        return inverted(first)
    if leaf in _KEEP or (ref == _MASK and leaf in _REDUCE | _KEEP_MASKS):
        return ref
    return None


def _is_value(value: Value) -> bool:
    return type(value.ref) is Places and value.ref.is_value


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
