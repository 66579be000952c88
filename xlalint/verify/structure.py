"""Take nested arguments apart and put them together again: containers, named tuples, dataclasses, attrs classes.

`tf.nest` leaves dataclasses whole, and so a tensor inside one would be taken for a constant.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[str, ...]

# Deeper than arguments are nested: an object that holds itself.
_DEEPEST = 24


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What is no container, with the names and indices that lead there, mappings in the order of their keys."""
    parts = _parts(value, len(path))
    if parts is None:
        yield path, value
        return
    for name, part in parts:
        yield from leaves(part, (*path, name))


def mapped(change: Callable[[Any], Any], value: Any, depth: int = 0) -> Any:
    """`value` with every leaf changed; a dataclass or attrs object of which nothing changes stays the same object."""
    parts = _parts(value, depth)
    if parts is None:
        return change(value)
    return _together(value, [mapped(change, part, depth + 1) for _, part in parts])


def _parts(value: Any, depth: int) -> list[tuple[str, Any]] | None:
    """The named parts of a container; None for a leaf."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return [(str(key), value[key]) for key in _keys(value)]
    if isinstance(value, (list, tuple)):
        return [(str(index), part) for index, part in enumerate(value)]
    names = _fields(value)
    return None if names is None else [(name, getattr(value, name)) for name in names]


def _keys(value: Mapping[Any, Any]) -> list[Any]:
    return sorted(value, key=str)


def _fields(value: Any) -> list[str] | None:
    """The fields of a dataclass's or attrs class's object that are set."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(type(value), "__attrs_attrs__"):
        names = [attribute.name for attribute in type(value).__attrs_attrs__]
    else:
        return None
    return [name for name in names if hasattr(value, name)]


def _together(original: Any, parts: list[Any]) -> Any:
    if isinstance(original, Mapping):
        by_key = dict(zip(_keys(original), parts, strict=True))
        return _mapping(original, {key: by_key[key] for key in original})
    if isinstance(original, tuple) and hasattr(original, "_fields"):
        return type(original)(*parts)
    if isinstance(original, tuple):
        return tuple(parts)
    if isinstance(original, list):
        return list(parts)
    return _record(original, dict(zip(_fields(original) or (), parts, strict=True)))


def _mapping(original: Any, changed: dict[Any, Any]) -> Any:
    if type(original) is dict:
        return changed
    try:
        return type(original)(changed)
    except TypeError:  # a mapping with a constructor of its own (a Hugging Face ModelOutput)
        return changed


def _record(original: Any, changed: dict[str, Any]) -> Any:
    if all(changed[name] is getattr(original, name) for name in changed):
        return original
    clone = copy.copy(original)
    for name, part in changed.items():
        object.__setattr__(clone, name, part)  # frozen ones too
    return clone
