"""What a call of an API comes to by its arguments alone, wherever it stands: found once for all calls that are given the same.

Of the calls in a package, two thirds and more are given what another call of the same function was given already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import flattened
from xlalint.semantics.facts import Verdict
from xlalint.semantics.values import Const, Usual, Value


@dataclass(eq=False, slots=True)
class Settled:
    """One API with certain arguments: these by parameter, and the catalogue's verdict.

    `value` is what the call returns, `is_ordinary` says that nothing can be held against it in any code; None while
    nobody has asked.
    """

    bound: dict[str, Value]
    verdict: Verdict
    value: Value | None = None
    is_ordinary: bool | None = None


class SettledCalls:
    """The calls that have been met, by API and arguments."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Settled] = {}

    def find(self, api: Api, arguments: Arguments) -> tuple[tuple[Any, ...], Settled | None]:
        """The key of a call, and what is known of it. The catalogue makes one `Api` per name, and keeps it."""
        given = arguments.values
        key = (
            id(api),
            len(arguments.positional),
            arguments.open_ended,
            given,
            *arguments.keywords,
            _types_in(given),
        )
        return key, self._known.get(key)

    def keep(self, key: tuple[Any, ...], settled: Settled) -> None:
        self._known[key] = settled


def _types_in(values: Iterable[Value]) -> tuple[type, ...]:
    """The types of the Python values that are known: 0, 0.0 and False are equal, and make tensors of other dtypes."""
    return tuple(
        [type(leaf.ref.value) for leaf in flattened(values) if type(leaf.ref) in _KNOWN_VALUES]
    )


_KNOWN_VALUES = frozenset({Const, Usual})
