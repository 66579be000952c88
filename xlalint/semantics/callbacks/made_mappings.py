"""`dict(...)` and its like: what a dictionary holds that a call makes of pairs, of another, or of its keywords."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from xlalint.semantics.values import COLLECTION, MAPPING, NOTHING_KNOWN, SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# As many as a dictionary that is written down keeps.
_MOST_ITEMS = 64


def made(arguments: Arguments) -> Value:
    """The dictionary that `dict(*arguments)` makes; nothing known where its argument is no known dictionary, nor pairs."""
    pairs: list[tuple[Hashable, Value]] = []
    for given in arguments.positional[:1]:
        if given.kind is MAPPING:
            if given.ref is None:
                return given
            pairs += given.ref
        elif given.kind is SEQUENCE and all(map(_is_pair, given.ref)):
            pairs += [_pair(*each.ref) for each in given.ref]
        elif given.kind is COLLECTION and given.ref is not None and _is_pair(given.ref):
            pairs.append((None, given.ref.ref[1]))
        else:
            return NOTHING_KNOWN
    pairs += arguments.keywords.items()
    if arguments.open_ended:
        return Value(MAPPING)
    return Value(MAPPING, ref=tuple(pairs[-_MOST_ITEMS:]))


def _is_pair(value: Value) -> bool:
    return value.kind is SEQUENCE and len(value.ref) == 2


def _pair(key: Value, item: Value) -> tuple[Hashable, Value]:
    known = key.constant()
    return (known.value if known is not None else None), item
