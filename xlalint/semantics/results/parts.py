"""What tensors are taken apart into: `tf.split`, `tf.unstack` and their kin, with the shapes of the parts."""

from __future__ import annotations

from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.frames import Frame
from xlalint.semantics.results.operands import number, numbers
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    COLLECTION,
    FROM_SHAPE,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    Content,
    Value,
    shaped,
)

_MOST_PARTS = 16


def split(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.split(x, 2, axis=1)`, `tf.split(x, [3, 5])`: the parts of a tensor along an axis."""
    parts = _unstacked(arguments)
    whole, axis = _along(bound, arguments)
    if whole is None or axis is None:
        return parts
    asked = bound.get("num_or_size_splits", bound.get("indices_or_sections", NOTHING_KNOWN))
    count = number(asked)
    if count is not None and asked.kind is not SEQUENCE:
        size = whole[axis]
        part = size // count if size is not None and count > 0 and size % count == 0 else None
        return parts._replace(ref=shaped(parts.ref, _with(whole, axis, part)))
    sizes = numbers(asked) if "num_or_size_splits" in bound else None
    if not sizes or len(sizes) > _MOST_PARTS:
        return parts._replace(ref=shaped(parts.ref, _with(whole, axis, None)))
    each = [None if size is None or size < 0 else size for size in sizes]
    items = tuple(shaped(parts.ref, _with(whole, axis, size)) for size in each)
    return Value(SEQUENCE, parts.dependence, ref=items)


def unstacked(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.unstack`: a batch's first axis cannot be unstacked, and so the items of a layer's inputs may be sizes."""
    items = _unstacked(arguments)
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    if type(first.ref) is Content and first.shape == (len(first.ref.numbers),):
        return _numbers_apart(first, first.ref)
    whole, axis = _along(bound, arguments)
    if whole is not None and axis is not None:
        return items._replace(ref=shaped(items.ref, whole[:axis] + whole[axis + 1 :]))
    if not first.structured or "axis" in bound:
        return items
    return items._replace(ref=items.ref._replace(structured=True))


def _unstacked(arguments: Arguments) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    inner = (  # of whatever it was: its parts are tensors
        first._replace(
            kind=TENSOR,
            rank=None,
            ref=None,
            shape=None,
            guess=False,
            structured=False,
            optional=False,
        )
        if first.is_tensor
        else Value(TENSOR, first.dependence)
    )
    return Value(COLLECTION, inner.dependence, ref=inner)


def _along(bound: Bound, arguments: Arguments) -> tuple[Shape | None, int | None]:
    """The shape of what is taken apart, where the data decide none of its sizes, and the axis."""
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    axis = number(bound["axis"]) if "axis" in bound else 0
    if not first.is_tensor or first.producer is not None or first.shape is None or axis is None:
        return None, None
    rank = len(first.shape)
    return (first.shape, axis % rank) if -rank <= axis < rank else (None, None)


def _with(shape: Shape, axis: int, size: int | None) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _numbers_apart(vector: Value, held: Content) -> Value:
    """`batch, rows, columns = tf.unstack(tf.shape(x))`; the data decide one of those of a data-sized tensor."""
    items = []
    for place, known in enumerate(held.numbers):
        is_settled = held.open_place is not None and place != held.open_place
        dependence = FROM_SHAPE if is_settled else vector.dependence
        item = Value(TENSOR, dependence, None, vector.dtype, 0, Content((known,)), shape=())
        items.append(item._replace(sure=vector.sure))
    return Value(SEQUENCE, vector.dependence, ref=tuple(items))
