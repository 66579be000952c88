"""`tf.nest.map_structure` and its namesakes: a function is called for what stands at the same place of structures."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks.handed_functions import argument, run, written
from xlalint.semantics.elements import element, flattened
from xlalint.semantics.frames import Frame
from xlalint.semantics.joins import join_all
from xlalint.semantics.values import (
    COLLECTION,
    INSTANCE,
    MAPPING,
    NOTHING_KNOWN,
    SEQUENCE,
    UNKNOWN,
    Value,
)

# Of structures with more values, one call stands for all.
_MOST_CALLS = 8
# An object may be a named tuple, or a dataclass that says what it is made of.
_MAY_BE_STRUCTURES = frozenset({UNKNOWN, SEQUENCE, INSTANCE})


def mapped(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """A structure of what the function returns."""
    function = argument(arguments, bound, 0, "func")
    structures = arguments.positional[1:]
    if not structures:
        return NOTHING_KNOWN
    at = written(node, 0, "func")

    def called(values: Sequence[Value]) -> Value:
        leaf = [v._replace(structured=False) if v.is_tensor else v for v in values]
        return run(function, leaf, frame, converted=False, at=at)

    def result(values: Sequence[Value]) -> Value:
        first = values[0]
        if first.kind is SEQUENCE and first.ref:
            items = [_items(value, len(first.ref)) for value in values]
            return first._replace(ref=tuple(result(each) for each in zip(*items)))
        if first.kind is MAPPING and first.ref:
            others = [dict(v.ref) if v.kind is MAPPING and v.ref else {} for v in values[1:]]
            entries = (
                (key, result([item, *(other.get(key, NOTHING_KNOWN) for other in others)]))
                for key, item in first.ref
            )
            return first._replace(ref=tuple(entries))
        if first.kind is COLLECTION or first.kind is MAPPING:
            return Value(COLLECTION, ref=result([element(value) for value in values]))
        returned = called(values)
        if first.kind in _MAY_BE_STRUCTURES:
            return NOTHING_KNOWN
        if not first.is_tensor:
            return returned
        # What is only taken for a tensor may well be a structure: why else would it be mapped?
        return returned._replace(structured=first.structured or first.guess or not first.sure)

    inside = flattened(structures[:1])
    if len(inside) <= _MOST_CALLS:
        return result(structures)
    return Value(COLLECTION, ref=called([join_all(tuple(inside))]))


def _items(value: Value, count: int) -> Sequence[Value]:
    if value.kind is SEQUENCE and len(value.ref) == count:
        return value.ref  # type: ignore[no-any-return]
    return [element(value)] * count
