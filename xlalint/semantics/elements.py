"""What structures hold: one of their items, whichever, and everything inside them."""

from __future__ import annotations

from collections.abc import Iterable

from xlalint.semantics.joins import MOST_CHOICES, item_of, join_all
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    DATASET,
    MAPPING,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    OneOf,
    Sizes,
    Value,
    constant,
    counted_size,
    dimension,
)

_MAY_HOLD_OTHERS = frozenset({SEQUENCE, COLLECTION, MAPPING})


def item_at(value: Value, place: object) -> Value:
    """What a structure holds at a place: of the sizes of a data-sized tensor, the one that the data decide is a tensor."""
    found = element(value)
    if type(found.ref) is not Sizes:
        return found
    return (
        counted_size(found.counted) if place == found.ref.open_place else found._replace(ref=None)
    )


def element(value: Value) -> Value:
    """What iterating over, or indexing, a structure gives."""
    if value.kind is SEQUENCE or value.kind is COLLECTION:
        return item_of(value)
    if value.kind is SHAPE:
        return (
            dimension(value.shape[0]) if value.shape and len(set(value.shape)) == 1 else SOME_PYTHON
        )
    if value.kind is TENSOR:
        rest = value.shape[1:] if value.shape else None
        # A part of a batch is still of the pipeline that the batch came from.
        ref = value.ref if value.structured else None
        item = value._replace(shape=rest, rank=None if rest is None else len(rest), ref=ref)
        return item if value.producer is None else _without_first_axis(item)
    if value.kind is MAPPING and value.ref:
        items = tuple(v for _, v in value.ref)
        sure = tuple(v for v in items if not v.guess)
        found = join_all(sure or items)
        # Of what is only guessed to be a tensor nobody knows the shape.
        is_shaped = found.is_tensor and 0 < len(sure) < len(items)
        return found._replace(shape=None, rank=None) if is_shaped else found
    if value.kind is DATASET:
        return Value(TENSOR, ARRIVING, structured=True, ref=value.ref)
    return NOTHING_KNOWN


def _without_first_axis(item: Value) -> Value:
    """A row of `x[keep]` is as long as a row of `x`; columns of `x[:, keep]` stay data-sized."""
    if item.sized_axis == 0 and not item.structured:
        return item._replace(producer=None, counted=None, dependence=max(item.dependence, COMPUTED))
    axis = item.sized_axis - 1 if item.sized_axis else item.sized_axis
    return item._replace(sized_axis=axis, counted=None)


def iterated(value: Value) -> Value:
    """What a loop over a structure gives: of a dictionary, its keys."""
    if value.kind is COLLECTION and value.dtype == "dict":
        return SOME_PYTHON
    if value.kind is not MAPPING:
        return element(value)
    keys = tuple(sorted({key for key, _ in value.ref or () if isinstance(key, str)}))
    if keys and len(keys) == len(value.ref) and len(keys) <= MOST_CHOICES:
        return Value(PYTHON, ref=OneOf(keys))
    return SOME_PYTHON


def items_in_order(value: Value) -> tuple[Value, ...] | None:
    """What going through a structure gives, one after the other; None where not each item is known."""
    if value.kind is SEQUENCE:
        return value.ref  # type: ignore[no-any-return]
    keys = keys_of(value)
    return None if keys is None else tuple(constant(key) for key in keys)


def keys_of(value: Value) -> tuple[str, ...] | None:
    """The keys of a dictionary, in order; None where they are not all known, or no words."""
    if value.kind is not MAPPING or value.ref is None:
        return None
    keys = dict.fromkeys(key for key, _ in value.ref)
    return tuple(keys) if all(isinstance(key, str) for key in keys) else None


def flattened(values: Iterable[Value]) -> list[Value]:
    """The values inside all of these structures, in order; most are none."""
    flat: list[Value] = []
    for value in values:
        if value.kind in _MAY_HOLD_OTHERS:
            flat += leaves(value)
        else:
            flat.append(value)
    return flat


def leaves(value: Value) -> tuple[Value, ...]:
    """The values inside a structure, or the value itself."""
    if value.kind not in _MAY_HOLD_OTHERS:
        return (value,)
    if value.kind is SEQUENCE:
        return tuple(flattened(value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return leaves(value.ref)
    if value.kind is MAPPING and value.ref:
        return tuple(flattened([item for _, item in value.ref]))
    return (value,)


def latest(values: Iterable[Value]) -> int:
    """The dependence of what is known last among the tensors in these values; CONSTANT where there are none."""
    return max(
        (leaf.dependence for value in values for leaf in leaves(value) if leaf.is_tensor),
        default=CONSTANT,
    )
