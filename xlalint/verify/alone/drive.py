"""Take each wanted function of a module from no inputs to programs for the stages, or to a word on what was tried."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from xlalint.verify import eagerly
from xlalint.verify.alone import from_runs, from_tests, given
from xlalint.verify.alone.seal import at_most
from xlalint.verify.alone.search import Found, Search, others
from xlalint.verify.alone.ways import Way, ways_to
from xlalint.verify.jobs import Wanted
from xlalint.verify.program import Call, Program, parameter_names
from xlalint.verify.records import FAILED, SKIPPED, TargetReport

# Ways tried for one function, and programs made of it.
_WAYS = 8
_PROGRAMS = 4
_FAILURES = 3
ALONE = "alone"


@dataclass(frozen=True, slots=True)
class Tried:
    """One way that led nowhere."""

    label: str
    tries: int
    error: str

    @property
    def words(self) -> str:
        why = f", the furthest ended with {self.error[:120]}" if self.error else ""
        return f"{self.label}: {self.tries} tr{'y' if self.tries == 1 else 'ies'}{why}"


@dataclass(frozen=True, slots=True)
class Watch:
    """What the child knows of AutoGraph's conversions and of strategies, which captured calls need; inputs that killed
    another child, and whom to tell what is tried."""

    converted: AbstractSet[tuple[str, int]]
    runs: Any
    avoid: AbstractSet[str] = frozenset()
    on_try: Callable[[str], None] = lambda inputs: None


def programs(
    wanted: Wanted, module: ModuleType, watch: Watch
) -> Generator[Program | TargetReport, TargetReport | None, None]:
    """Programs that together come to the lines in question; a report where nothing does.

    Wants to be sent the report on each program: its trace says which lines are still to be come to.
    """
    if wanted.inputs:
        try:
            yield given.from_settings(wanted, module)
        except given.SettingsError as error:
            yield not_reached(wanted, f"the inputs in the settings cannot be used: {error}")
        return
    remaining = set(wanted.lines)
    tried: list[Tried] = []
    count = failed = 0
    for number, found in enumerate(_found(wanted, module, watch, remaining, tried)):
        if number >= _PROGRAMS:
            break
        program = _numbered(found, wanted, number)
        report = yield program
        count += 1
        if report is not None:
            failed += report.status == FAILED
            remaining -= _settled(wanted, report, failed < _FAILURES)
    if not count:
        yield not_reached(wanted, *_words(tried), _advice(wanted, module))


def _settled(wanted: Wanted, report: TargetReport, is_choosy: bool) -> set[tuple[int, int]]:
    """The lines in question of which nothing more is to be learned: they ran in a program that passes, or fails there.

    In a program that fails elsewhere they have run too, and count unless `is_choosy`: another way may come further.
    """
    ran = set(report.evidence.executed.get(wanted.path, ()))
    places = [one.place for one in report.failures if one.place is not None]
    failing = {place.line for place in places if place.path == wanted.path}
    counted = ran if report.status != FAILED or not is_choosy else failing
    return {span for span in wanted.lines if any(span[0] <= line <= span[1] for line in counted)}


def _found(
    wanted: Wanted,
    module: ModuleType,
    watch: Watch,
    remaining: set[tuple[int, int]],
    tried: list[Tried],
) -> Iterator[Program]:
    """Programs with inputs from tests, then with inputs found by trying, as long as lines remain."""
    for path, name in wanted.tests:
        if not remaining:
            return
        try:
            yield from from_tests.programs(wanted, path, name, watch.converted, watch.runs)
        except from_runs.NotRunError as error:
            tried.append(Tried(f"{Path(path).name}::{name}", 1, str(error)))
    with contextlib.suppress(from_runs.NotRunError):
        yield from from_runs.programs_of_owner(wanted, module, watch.converted, watch.runs)
        return
    with contextlib.suppress(from_runs.NotRunError):
        yield from from_tests.programs_of_examples(wanted, module, watch.converted, watch.runs)
    for way in itertools.islice(ways_to(wanted, module), _WAYS):
        if not remaining:
            return
        search = Search(way, wanted, sorted(remaining), watch.avoid, watch.on_try)
        found = search.run()
        if not found:
            tried.append(Tried(way.label, search.tries, search.error))
        yield from (_program(wanted, one) for one in found)


def _program(wanted: Wanted, found: Found) -> Program:
    first = Call(found.bound.args, found.bound.kwargs)
    return Program(
        id=wanted.identity,
        function=_shown(wanted, found.way),
        path=wanted.path,
        line=wanted.line,
        origin=ALONE,
        call=found.bound.compiled,
        calls=(first, *_second(found, first)),
        parameters=_parameter_names(found.bound.eager),
        is_differentiated=False,
        inputs=f"inputs found by trying: {found.words}",
        is_special=found.is_special,
        has_made_inputs=True,
    )


def _numbered(program: Program, wanted: Wanted, number: int) -> Program:
    return replace(program, id=wanted.identity + (f":{number + 1}" if number else ""))


def _parameter_names(function: Any) -> tuple[str, ...]:
    call = getattr(function, "call", None)
    return parameter_names(call if callable(call) else function)


def _second(found: Found, first: Call) -> tuple[Call, ...]:
    """The same call with other values, if it runs with them."""
    changed = Call(others(first.args), others(first.kwargs))
    try:
        with at_most(20.0), eagerly.everything():
            found.bound.eager(*changed.args, **changed.kwargs)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return ()
    return (changed,)


def _shown(wanted: Wanted, way: Way) -> str:
    """The function, and by which way where that is another."""
    label = way.label.removesuffix(", called directly")
    return wanted.qualname if label == wanted.qualname else f"{wanted.qualname} through {label}"


def not_reached(wanted: Wanted, *notes: str) -> TargetReport:
    return TargetReport(
        wanted.identity, wanted.qualname, wanted.path, wanted.line, ALONE, SKIPPED, notes=notes
    )


def _words(tried: Sequence[Tried]) -> tuple[str, ...]:
    """In a sentence, then what else was tried."""
    if not tried:
        return ("no way to call it was found",)
    return (
        f"no inputs were found with which it runs ({tried[0].words})",
        *(one.words for one in tried[1:3]),
    )


def _advice(wanted: Wanted, module: ModuleType) -> str:
    """What to write in the settings."""
    key = f"{module.__name__}:{wanted.qualname.partition('.<locals>')[0]}"
    return f'give its arguments in [tool.xlalint.verify.inputs]: "{key}" = ["float32[4,8]", ...], or "package.module:function" that makes them'
