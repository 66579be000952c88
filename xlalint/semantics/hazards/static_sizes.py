"""Sizes that are promised of a data-sized tensor, and hold for some data only: `tf.reshape(kept, [2, 1])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.hazards import kept_columns
from xlalint.semantics.results import rejoined
from xlalint.semantics.results.result_sizes import PARTITIONED
from xlalint.semantics.values import (
    FROM_SHAPE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    Content,
    Lengths,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

Bound = dict[str, Value]
Misuse = tuple[str, Value]


def misuse(name: str, bound: Bound, arguments: Arguments, first: Value) -> Misuse | None:
    """`tf.reshape(kept, [2, 1])`, `tf.reshape(kept, [x.shape[0], 3])`: a size that only holds for some data."""
    shape = bound.get("shape", bound.get("newshape")) or (
        arguments.positional[1] if len(arguments.positional) > 1 else NOTHING_KNOWN
    )
    leaf = name.rsplit(".", 1)[-1]
    if leaf == "reshape" and kept_columns.is_of_uneven_width(first, shape):
        return leaf, first
    sizes = shape.ref if shape.kind is SEQUENCE else ()
    is_part = leaf == "reshape" and first.producer == PARTITIONED
    if all(is_known(size) for size in sizes):
        is_static = bool(sizes) or (
            _is_of_kept(leaf, first) and _is_shape_of_full_size(shape, is_part=is_part)
        )
    else:
        is_static = _is_of_kept(leaf, first) and all(_is_static_size(size) for size in sizes)
    return ("parted" if is_part else leaf, first) if is_static else None


def _is_of_kept(leaf: str, first: Value) -> bool:
    """Whether a reshape is of what a mask or the like leaves of the first axis, or of parts put together again: a crop may have been resized since."""
    if leaf == "reshape" and rejoined.is_rejoined(first):
        return True
    is_counted = first.producer is not None and first.producer.startswith(("a boolean", "tf."))
    return leaf == "reshape" and is_counted and first.sized_axis == 0


def is_known(size: Value) -> bool:
    known = size.constant()
    return known is not None and type(known.value) is int and known.value >= 0


def _is_static_size(size: Value) -> bool:
    """Whether a size is a number when XLA compiles; -1 leaves it open."""
    if size.is_tensor:
        return size.dependence == FROM_SHAPE and size.sure and size.rank == 0
    if size.constant() is not None:
        return is_known(size)
    return size.kind is PYTHON and size.producer is None and not size.optional


def _is_shape_of_full_size(shape: Value, *, is_part: bool) -> bool:
    """`x.shape`, `tf.shape(x)` where the rank is known, or `tf.shape(x)[:-1]`, of what no mask was taken of.

    What is one part of several (`is_part`) takes the whole of `tf.shape(x)` whatever its rank: of what was parted it has fewer elements.
    """
    if shape.kind is SHAPE:
        return shape.producer is None and -1 not in (shape.shape or ())
    if not (shape.is_tensor and shape.dependence == FROM_SHAPE and shape.sure):
        return False
    is_known = type(shape.ref) is Content and -1 not in shape.ref.numbers
    return is_known or (type(shape.ref) is Lengths and (is_part or shape.ref.is_part))
