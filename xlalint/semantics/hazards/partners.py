"""Rows that a mask has left beside rows of another tensor: what asks for as many of one as of the other.

What a mask leaves has the rows of its buffer, which is as large as what the mask was taken of (TensorFlow 2.21: fixtures/XLA204).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.elements import leaves
from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import ARRIVING, NOTHING_KNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.catalog.entries import Api

Bound = dict[str, Value]
Misuse = tuple[str, Value]

# Take as many rows of one tensor as of the other, and say so when they compile: what a mask leaves has the rows of its buffer.
_OF_AS_MANY_ROWS = frozenset(
    {
        "tf.nn.softmax_cross_entropy_with_logits",
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        "tf.compat.v1.nn.softmax_cross_entropy_with_logits",
        "tf.compat.v1.nn.softmax_cross_entropy_with_logits_v2",
        "tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits",
        "tf.math.unsorted_segment_sum",
        "tf.math.unsorted_segment_mean",
        "tf.math.unsorted_segment_max",
        "tf.math.unsorted_segment_min",
        "tf.math.confusion_matrix",
        "tf.add_n",
        "tf.math.add_n",
        "tf.reverse_sequence",
        "keras.losses.sparse_categorical_crossentropy",
        "keras.losses.categorical_crossentropy",
    }
)
# Write as many rows as there are indices.
_SCATTERS = frozenset(
    {
        "tf.scatter_nd",
        *(f"tf.tensor_scatter_nd_{how}" for how in ("update", "add", "sub", "max", "min")),
        "keras.ops.scatter",
        "keras.ops.scatter_update",
    }
)
# Elementwise operations of two tensors: the sizes of both must agree.
PAIRED = frozenset(
    f"tf.math.{name}" for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "squared_difference")
) | frozenset({"tf.where", "keras.ops.where", "tf.add", "tf.subtract", "tf.multiply", "tf.divide", "tf.maximum", "tf.minimum"})  # fmt: skip
ALL = PAIRED | _OF_AS_MANY_ROWS | _SCATTERS


def misuse(name: str, bound: Bound, values: tuple[Value, ...]) -> Misuse | None:
    """What a call of one of `ALL` does with data-sized rows beside others; None where they agree, or nobody knows."""
    if name in PAIRED:
        return _unequal(name, values)
    if name in _OF_AS_MANY_ROWS:
        return _fewer_rows(values[:2]) if _compares_rows(name, bound) else None
    rows = bound.get("updates", bound.get("values", NOTHING_KNOWN))
    return _fewer_rows((bound.get("indices", NOTHING_KNOWN), rows))


def _unequal(name: str, values: tuple[Value, ...]) -> Misuse | None:
    sized = next((v for v in values if v.is_tensor and v.producer is not None), None)
    full = [v for v in values if v.is_tensor and v.producer is None]
    if sized is None:
        return None
    if any(result_shapes.must_agree(sized, v) for v in full):
        return "full-size-partner", sized
    if name in ("tf.where", "keras.ops.where") and any(
        result_shapes.meets_static(sized, v) for v in full
    ):
        return "measured-rejected", sized
    return None


def of_static_size(values: tuple[Value, ...]) -> Value | None:
    """The data-sized tensor of an elementwise call that is given one of a known size beside it."""
    sized = next((v for v in values if v.is_tensor and v.producer is not None), None)
    full = [v for v in values if v.is_tensor and v.producer is None]
    is_beside = sized is not None and any(result_shapes.meets_static(sized, v) for v in full)
    return sized if is_beside else None


def _compares_rows(name: str, bound: Bound) -> bool:
    """Of probabilities, the categorical cross-entropy is arithmetic; of logits, an operation that asks for as many rows."""
    if name != "keras.losses.categorical_crossentropy":
        return True
    given = bound.get("from_logits", NOTHING_KNOWN).constant()
    return given is not None and given.value is True


def of_as_many_rows(api: Api, bound: Bound) -> Misuse | None:
    """What the catalogue measured to be refused with what a mask kept for one of several arguments, and fine with it for all of them."""
    alone, together = dict(api.bounded), dict(api.bounded_together)
    alike = [p for p, how in alone.items() if how == "rejected" and together.get(p) == "fine"]
    given = tuple(bound[parameter] for parameter in alike if parameter in bound)
    if len(given) < 2 or any(leaf.is_tensor and not leaf.rank for v in given for leaf in leaves(v)):
        return None
    return _fewer_rows(given)


def _fewer_rows(values: tuple[Value, ...]) -> Misuse | None:
    """Rows that a mask leaves, beside the rows that came in."""
    tensors = [leaf for value in values for leaf in leaves(value) if leaf.is_tensor]
    sized = next((v for v in tensors if v.producer is not None and v.sized_axis == 0), None)
    if sized is None or not any(_is_as_given(v) for v in tensors):
        return None
    return "measured-rejected", sized


def _is_as_given(value: Value) -> bool:
    """Whether a tensor comes from outside, of the size that it has there; what a function is taken to be given is one."""
    if value.producer is not None or value.structured or value.optional:
        return False
    return value.dependence == ARRIVING
