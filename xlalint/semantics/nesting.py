"""How much of a structure of structures is kept.

`b = [a, a]`, `c = [b, b]` and so on doubles with every line, in what has to be looked at if not in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from xlalint.semantics.values import (
    COLLECTION,
    INSTANCE,
    MAPPING,
    NOTHING_KNOWN,
    PARTIAL,
    SEQUENCE,
    Value,
)

# Structures of fewer values are kept whole. A table that somebody wrote out has fewer.
_MOST_VALUES = 4096
# Comparing values goes as deep as they do, on a stack that Python 3.12 keeps short.
_DEEPEST = 50
_STRUCTURES = frozenset({SEQUENCE, COLLECTION, MAPPING, PARTIAL, INSTANCE})


def bounded(value: Value) -> Value:
    """The value; of a structure with too many values in it, only what it holds itself."""
    if value.kind not in _STRUCTURES or not _is_too_large(value):
        return value
    if value.kind is SEQUENCE and len(value.ref) <= _MOST_VALUES:
        return value._replace(ref=tuple(_shallow(item) for item in value.ref))
    if value.kind is MAPPING:
        return value._replace(ref=tuple((key, _shallow(item)) for key, item in value.ref))
    if value.kind is INSTANCE:
        return value._replace(fields=())
    return NOTHING_KNOWN if value.kind is PARTIAL else value._replace(kind=COLLECTION, ref=None)


def _shallow(value: Value) -> Value:
    if value.kind is INSTANCE:
        return value._replace(fields=())
    return Value(COLLECTION, value.dependence) if value.kind in _STRUCTURES else value


def _is_too_large(value: Value) -> bool:
    if _STRUCTURES.isdisjoint([item.kind for item in _inside(value)]):
        return False
    count, depth = 1, 0
    size, level = _below([(value, 1)])
    while size and count <= _MOST_VALUES and depth <= _DEEPEST:
        count, depth = count + size, depth + 1
        size, level = _below(level)
    return bool(size)


def _below(level: Iterable[tuple[Value, int]]) -> tuple[int, list[tuple[Value, int]]]:
    """How many values structures hold, and the structures among these. Each goes with how often it is met: `[a, a]` holds one twice."""
    size = 0
    found: dict[int, tuple[Value, int]] = {}
    for outer, times in level:
        inside = _inside(outer)
        size += times * len(inside)
        for inner in inside:
            if inner.kind in _STRUCTURES:
                met = found.get(id(inner))
                found[id(inner)] = (inner, times if met is None else met[1] + times)
    return size, list(found.values())


def _inside(value: Value) -> tuple[Value, ...]:
    if value.kind is SEQUENCE:
        return value.ref  # type: ignore[no-any-return]
    if value.kind is COLLECTION:
        return () if value.ref is None else (value.ref,)
    if value.kind is MAPPING:
        return tuple(item for _, item in value.ref or ())
    if value.kind is INSTANCE:
        return tuple(item for _, item in value.fields)
    if value.kind is PARTIAL:
        target, positional, keywords = value.ref
        return (target, *positional, *(item for _, item in keywords))
    return ()
