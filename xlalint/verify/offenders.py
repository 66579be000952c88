"""Every operation that keeps a program from compiling, where the compiler names the first one only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xlalint.verify import dependence, kernels
from xlalint.verify.graphs import operations
from xlalint.verify.locate import Blame, Locator
from xlalint.verify.records import Failure
from xlalint.verify.stubs import Copies, StubError

# How often a program is lowered again, by its size: each time costs as much as the first.
_MOST = 16
_MOST_WHERE_LARGE = 3
_LARGE = 4000
# What stays true of an operation whose inputs were replaced.
_WHATEVER_THE_INPUTS = ("no-kernel", "not-constant")


def failures(
    stage: str,
    error: Exception,
    concrete: Any,
    lower: Callable[[Any], object],
    locator: Locator,
    names: Sequence[str] = (),
) -> tuple[list[Failure], bool]:
    """(the failures of a program that `lower` refuses with `error`, are these all?).

    The program is lowered again and again, each time without the operations that failed before. `names` are those of its
    arguments.
    """
    search = _Search(stage, concrete, locator, names)
    is_all = search.run(error, lower)
    return search.found, is_all


class _Search:
    def __init__(self, stage: str, concrete: Any, locator: Locator, names: Sequence[str]) -> None:
        self._stage = stage
        self._graph = concrete.graph
        self._copies = Copies(concrete)
        self._locator = locator
        self._names = names
        self._failing: list[Any] = []
        self.found: list[Failure] = []

    def run(self, error: Exception, lower: Callable[[Any], object]) -> bool:
        blamed = self._locator.blamed(self._stage, error, self._graph, self._names)
        self._keep(blamed)
        if not self._failing:
            return False
        self._keep_all_without_kernel()
        size = sum(1 for _ in operations(self._graph))
        for _ in range(_MOST if size < _LARGE else _MOST_WHERE_LARGE):
            try:
                lower(self._copies.without(self._failing))
            except StubError:
                return False
            except Exception as later:
                if not self._go_on(later):
                    return False
            else:
                return True
        return False

    def _go_on(self, error: Exception) -> bool:
        """Keep what the error of a copy says of the program itself. False where it says nothing new."""
        blamed = [
            one
            for one in self._locator.blamed(self._stage, error, self._graph, self._names)
            if one.op is not None and not any(one.op is other for other in self._failing)
        ]
        true = [
            one
            for one in blamed
            if one.failure.kind in _WHATEVER_THE_INPUTS or not self._is_behind_a_stub(one.op)
        ]
        self._keep(true)
        return bool(true)

    def _keep(self, blamed: Iterable[Blame]) -> None:
        for one in blamed:
            if not any(_is_again(one.failure, known) for known in self.found):
                self.found.append(one.failure)
            if one.op is not None:
                self._failing.append(one.op)

    def _keep_all_without_kernel(self) -> None:
        """Operations without any kernel, which need no compiler to be told: those whose inputs are constants may be
        folded away, and are left to it."""
        for op in kernels.missing(self._graph):
            is_known = any(op is other for other in self._failing)
            if not is_known and any(dependence.is_from_data(tensor) for tensor in op.inputs):
                self._keep([self._locator.without_kernel(self._stage, op)])

    def _is_behind_a_stub(self, op: Any) -> bool:
        """Does an operation take, however indirectly, what a failing one gives? Yes where functions lie between."""
        failing = {id(other) for other in self._failing}
        seen: set[int] = set()
        waiting = [op]
        while waiting:
            current = waiting.pop()
            if id(current) in failing or (
                current.type == "Placeholder" and self._is_inner(current)
            ):
                return True
            if id(current) not in seen:
                seen.add(id(current))
                waiting += [tensor.op for tensor in current.inputs]
        return False

    def _is_inner(self, op: Any) -> bool:
        return op.graph is not self._graph


def _is_again(failure: Failure, known: Failure) -> bool:
    """Is a failure the known one, or the same error told of a conditional or a loop that stands around it?"""
    if failure == known:
        return True
    place = failure.place
    return (
        place is not None
        and failure.message == known.message
        and any((each.path, each.line) == (place.path, place.line) for each in known.frames[:-1])
    )
