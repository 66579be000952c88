"""A value that is made anew for each call: an object that a call may change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Lazy:
    """`words` tell the reader what `make` makes."""

    words: str
    make: Callable[[], Any]


def resolved(value: Any) -> Any:
    """`value` with everything lazy in it made."""
    if isinstance(value, Lazy):
        return value.make()
    if isinstance(value, dict):
        return {name: resolved(one) for name, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(resolved(one) for one in value)
    return value
