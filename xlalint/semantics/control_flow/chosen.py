"""What one conditional of the graph gives for a name: known no sooner than what chooses, and one tensor of either size.

XLA follows its constants through a conditional that shapes decide: a size chosen by `tf.shape(x)[0] > 3` is as good as any. What
data choose it does not know when it compiles. Arms of one rank and of different sizes give a tensor with a bound and a
run-time size, of whatever the test: it may be computed with, but `tf.pad` or `tf.reshape` cannot read their sizes from it
(all measured on TensorFlow 2.15 and 2.21: fixtures/XLA203).
"""

from __future__ import annotations

from xlalint.semantics.joins import join
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    BOUNDED,
    COMPUTED,
    FROM_SHAPE,
    PYTHON,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    UNKNOWN,
    Value,
)

_PYTHON_DTYPES = {int: "int32", float: "float32", bool: "bool", str: "string", bytes: "string"}
_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 string".split()
)


def by(test: Value, first: Value, second: Value) -> Value | None:
    """What a tensor `test` makes of the values that two arms leave; None where joining them says all there is."""
    if first.kind is SEQUENCE and second.kind is SEQUENCE:
        return _sequence(test, first, second)
    if first.kind is PYTHON and second.kind is PYTHON:
        return _number(test, first, second)
    if first.kind is PYTHON and second.is_tensor:
        return _number_or_scalar(test, first, second)
    if second.kind is PYTHON and first.is_tensor:
        return _number_or_scalar(test, second, first)
    if _may_be_anything(first) and second.kind is TENSOR:
        return _like_the_other(test, second)
    if _may_be_anything(second) and first.kind is TENSOR:
        return _like_the_other(test, first)
    if not (first.is_tensor and second.is_tensor):
        return None
    dependence = COMPUTED if are_of_other_sizes(first.shape, second.shape) else _known(test)
    either = join(first, second)
    if not test.sure or dependence <= either.dependence:
        return None
    return either._replace(dependence=dependence)


def dtype_in_graph(value: Value) -> str | None:
    """The dtype that a value has in the graph: Python numbers become float32, int32 and bool tensors."""
    if value.kind is PYTHON:
        kinds = {_PYTHON_DTYPES.get(type(choice)) for choice in value.choices()}
        return kinds.pop() if len(kinds) == 1 else None
    return value.dtype if value.dtype in _DTYPES else None


def _known(test: Value) -> int:
    """When XLA knows what was chosen. The size of a data-sized tensor is a bound to it, which chooses nothing."""
    return COMPUTED if test.dependence == BOUNDED else max(test.dependence, FROM_SHAPE)


def _number(test: Value, first: Value, second: Value) -> Value | None:
    """Python numbers that the arms leave different: one conditional makes a scalar tensor of them."""
    if first == second != SOME_PYTHON:
        return None
    dtypes = {dtype_in_graph(first), dtype_in_graph(second)} - {None}
    if not dtypes or "string" in dtypes:
        return None
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return Value(TENSOR, _known(test), dtype=dtype, rank=0, sure=test.sure, shape=())


def _number_or_scalar(test: Value, number: Value, scalar: Value) -> Value | None:
    """`n = tf.shape(kept)[0]` in one arm and `n = 0` in the other: a scalar tensor, chosen as any."""
    dtype = dtype_in_graph(number)
    if scalar.rank != 0 or dtype is None or scalar.dtype not in (None, dtype):
        return None
    dependence = max(_known(test), scalar.dependence)
    sure = test.sure and scalar.sure
    return Value(TENSOR, dependence, dtype=dtype, rank=0, sure=sure, shape=(), guess=scalar.guess)


def _may_be_anything(value: Value) -> bool:
    """Whether nothing is known of what an arm leaves, or only what a name made us think."""
    return value.kind is UNKNOWN or (value.kind is TENSOR and value.guess)


def _like_the_other(test: Value, tensor: Value) -> Value | None:
    """A conditional of the graph leaves a tensor in either arm, or in none. Said of whole numbers: they are what sizes are made of."""
    is_plain = not (tensor.structured or tensor.optional or tensor.guess)
    is_whole = tensor.dtype is not None and tensor.dtype.startswith(("int", "uint"))
    if not (is_plain and is_whole) or tensor.producer is not None:
        return None
    dependence = max(_known(test), tensor.dependence)
    return Value(TENSOR, dependence, dtype=tensor.dtype, sure=test.sure and tensor.sure)


def _sequence(test: Value, first: Value, second: Value) -> Value | None:
    """Lists of one length, item by item."""
    if not first.ref or not second.ref or len(first.ref) != len(second.ref):
        return None
    pairs = tuple(zip(first.ref, second.ref))
    found = [by(test, one, other) for one, other in pairs]
    if not any(found):
        return None
    items = tuple(value or join(one, other) for value, (one, other) in zip(found, pairs))
    return join(first, second)._replace(ref=items, dependence=max(v.dependence for v in items))


def are_of_other_sizes(one: Shape | None, other: Shape | None) -> bool:
    """Whether a dimension is known of both tensors, and another in each: a row of a matrix, and a vector as long as its columns."""
    if one is None or other is None or len(one) != len(other):
        return False
    return any(type(a) is type(b) is int and a != b for a, b in zip(one, other))
