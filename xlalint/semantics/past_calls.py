"""What calls of the project's functions came to, kept so that a like call need not be run again, and how many unlike ones are run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from xlalint.semantics.call_kinds import traits_of_call, traits_of_calls
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.syntax import size_up_to
from xlalint.semantics.values import NOTHING_KNOWN, SEQUENCE, Value

# Bounds that keep the cost linear: a function is run for so many different arguments before results are reused.
_MOST_CONTEXTS = 6
_MOST_SHAPES = 2
# Helpers of a line or two, such as `def cast(x, dtype)`, are run for as many times more: they are called from everywhere,
# and what they return for one caller says nothing of what another gets.
_SMALL = 40
_MORE_OF_SMALL = 8
# Of those of a few lines, more shapes are told apart.
_MEDIUM = 120
_MORE_SHAPES_OF_MEDIUM = 2
_MORE_OF_METHODS = 3
# A function that calls itself is run twice within itself; one that is run for objects under construction, which are not
# remembered, this often in all.
_MOST_RECURSION = 2
_MOST_RUNS = 60

# What a call returns, whether it touches the host, and which gradients were noted in it (`differentiation.py`).
Result = tuple[Value, int, range | None]
# Where a call stands, for which object, with what; whether it is silent; and, last, the closure that is called.
Key = tuple[Any, ...]


@dataclass(slots=True)
class Runs:
    """How often a function has been run, and how often it is being run right now."""

    active: int = 0
    total: int = 0


class PastCalls:
    """The results of calls by function and key. `is_of_many_objects` says which functions are run for each class that has them."""

    def __init__(self, is_of_many_objects: Callable[[FunctionInfo], bool]) -> None:
        self._is_of_many_objects = is_of_many_objects
        self._results: dict[FunctionInfo, dict[Key, Result]] = {}
        self._runs: dict[FunctionInfo, Runs] = defaultdict(Runs)
        # Of functions that were run often enough.
        self._traits_had: dict[FunctionInfo, set[Hashable]] = {}
        self._traits_of: dict[FunctionInfo, dict[Key, frozenset[Hashable]]] = {}
        self._frequencies: dict[FunctionInfo, int] = {}
        self._sizes: dict[FunctionInfo, int] = {}

    def results(self, info: FunctionInfo) -> dict[Key, Result]:
        return self._results.setdefault(info, {})

    def keys(self, info: FunctionInfo) -> Iterable[Key]:
        return self._results.get(info, ())

    def runs(self, info: FunctionInfo) -> Runs:
        return self._runs[info]

    def forget(self, info: FunctionInfo) -> None:
        """Have a function run again whatever it is called with."""
        self._results.pop(info, None)

    def tells_no_more_shapes(self, info: FunctionInfo, known: dict[Key, Result]) -> bool:
        """Whether a few shapes were told apart: further ones would use up the calls that matter more."""
        if not self._has_had(_MOST_SHAPES, len(known), info):
            return False
        return self._size(info) > _MEDIUM or self._has_had(
            _MOST_SHAPES * _MORE_SHAPES_OF_MEDIUM, len(known), info
        )

    def is_one_too_many(self, info: FunctionInfo, key: Key, known: dict[Key, Result]) -> bool:
        """Whether a function was called in enough ways, and this one passes nothing that no earlier one did."""
        return self._has_had(_MOST_CONTEXTS, len(known), info) and not self._is_of_new_kind(
            info, key, known
        )

    def reused(self, info: FunctionInfo, key: Key, known: dict[Key, Result]) -> Value:
        """What stands for the result of a call that is not run: any that an earlier one had which passed the like, or else any at all."""
        of_closure = {past: result[0] for past, result in known.items() if past[-1] == key[-1]}
        wanted = self._traits(info, key)
        alike = [value for past, value in of_closure.items() if self._traits(info, past) == wanted]
        values = tuple(alike or of_closure.values())
        return _sized_for_all(join_all(values), values) if values else NOTHING_KNOWN

    def _traits(self, info: FunctionInfo, key: Key) -> frozenset[Hashable]:
        """What a call passes where, without the context that it stands in."""
        known = self._traits_of.setdefault(info, {})
        if key not in known:
            known[key] = frozenset(trait for trait in traits_of_call(key) if trait != key[0])
        return known[key]

    def has_run_enough(self, info: FunctionInfo, runs: Runs) -> bool:
        """Whether a function is within itself too deep, or was run too often in all."""
        return runs.active >= _MOST_RECURSION or self._has_had(_MOST_RUNS, runs.total, info)

    def _has_had(self, most: int, count: int, info: FunctionInfo) -> bool:
        """Whether a function has been run as often as it may; most never come near it, and are not measured."""
        return count >= most and count >= most * self._often(info)

    def _is_of_new_kind(self, info: FunctionInfo, key: Key, known: dict[Key, Result]) -> bool:
        """Whether a call passes what no earlier one did, where it is said what is seen."""
        if _is_silent(key):
            return False
        had = self._traits_had.get(info)
        if had is None:
            had = self._traits_had[info] = traits_of_calls(
                key for key in known if not _is_silent(key)
            )
        new = [trait for trait in traits_of_call(key) if trait not in had]
        had.update(new)
        return bool(new)

    def _often(self, info: FunctionInfo) -> int:
        """How many times more than others a function is run. Methods are run for each class that inherits them as it is;
        short ones that hand on (`__call__` of a base class), for more objects all the same.
        """
        known = self._frequencies.get(info)
        if known is None:
            known = 1 if self._size(info) > _SMALL else _MORE_OF_SMALL
            if self._is_of_many_objects(info):
                known = min(known, _MORE_OF_METHODS)
            self._frequencies[info] = known
        return known

    def _size(self, info: FunctionInfo) -> int:
        """How many nodes a function has; of those that are not of a few lines, no more than that they have more."""
        known = self._sizes.get(info)
        if known is None:
            known = self._sizes[info] = size_up_to(_MEDIUM + 1, info.node)
        return known


def _is_silent(key: Key) -> bool:
    """Whether nothing is noted in the call that has this key."""
    return bool(key[4])


def _sized_for_all(joined: Value, values: tuple[Value, ...]) -> Value:
    """That some callers get a data-sized tensor says nothing of what the others do."""
    if joined.kind is SEQUENCE:
        if any(v.kind is not SEQUENCE or len(v.ref) != len(joined.ref) for v in values):
            return joined
        items = zip(joined.ref, zip(*(value.ref for value in values)))
        return joined._replace(ref=tuple(_sized_for_all(item, parts) for item, parts in items))
    if joined.producer is not None and not all(value.producer for value in values):
        return joined._replace(producer=None, counted=None)
    return joined
