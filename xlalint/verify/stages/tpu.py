"""The real TPU compiler's word on a program that lowers: for each TPU that the user named."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xlalint.tpu.outcome import Outcome
from xlalint.tpu.program import DataSized, Emulated, Waste
from xlalint.tpu.statuses import COMPILES, UNVERIFIED
from xlalint.verify.graphs import operations
from xlalint.verify.on_tpu import RunsOnHost
from xlalint.verify.records import FAILED, NOTE, OK, SKIPPED, TPU, Failure, Place
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject

# Programs that a strategy runs once per replica, and functions of programs without one that would be if they train.
_REPLICATED = ("strategy.run", "train_step", "test_step")
_MAY_BE_REPLICATED = ("tf.function", "input_signature", "entry")
_ON_THE_HOST = "on the host: what it gives to strategy.run is compiled"
# Helpers are compiled for the first target alone: the steps that call them are for all.
_HELPER = "plain"


def on_tpu(subject: Subject) -> Said:
    """Each target's compiler; an overflow and a rejection are failures, what could not be asked is told."""
    asked = subject.tools.tpu
    assert asked is not None
    books, program = subject.books, subject.program
    is_step = subject.trains or _updates_variables(subject)
    outcomes = asked.outcomes(
        subject.flat,
        subject.specs,
        is_replicated=_is_replicated(subject, is_step),
        is_step=is_step,
        tell=lambda what: subject.tools.on_stage(f"{TPU}: {what}", books.report()),
    )
    for found in _unless_on_the_host(outcomes):
        outcome = _placed(found, subject)
        if _is_known(outcome, books.tpu):
            continue
        if outcome.status not in (COMPILES, UNVERIFIED):
            books.failures.append(_failure(outcome, subject))
        if program.origin == _HELPER:
            break
    if not books.tpu:
        return Said(SKIPPED, _ON_THE_HOST)
    failed = [one for one in books.tpu if one.status not in (COMPILES, UNVERIFIED)]
    if failed:
        return Said(FAILED, ", ".join(f"{one.target} {one.status}" for one in failed))
    unknown = [one for one in books.tpu if one.status == UNVERIFIED]
    if unknown:
        return Said(NOTE, f"not verified for {', '.join(one.target for one in unknown)}")
    return Said(OK)


def _is_known(outcome: Outcome, known: list[Outcome]) -> bool:
    """Take it into `known`, or in the place of what was known of its target."""
    for index, before in enumerate(known):
        if before.target == outcome.target:
            known[index] = outcome
            return True
    known.append(outcome)
    return False


def _is_replicated(subject: Subject, is_step: bool) -> bool:
    asked, origin = subject.tools.tpu, subject.program.origin
    if asked is not None and asked.standin is not None:
        return origin in _REPLICATED
    return is_step and origin in (*_REPLICATED, *_MAY_BE_REPLICATED)


def _unless_on_the_host(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    with contextlib.suppress(RunsOnHost):
        yield from outcomes


def _updates_variables(subject: Subject) -> bool:
    return any(
        op.type.startswith(("Assign", "ResourceApply", "ResourceSparseApply"))
        for op in operations(subject.graph)
    )


def _placed(outcome: Outcome, subject: Subject) -> Outcome:
    """With the user's lines in the place of the library's own, and none where there is no line of the user's."""
    find = subject.tools.locator.in_program

    def at(one: Waste | Emulated | DataSized) -> tuple[str, int]:
        place = find(one.op_name, one.path, one.line)
        return ("", 0) if place is None else (place.path, place.line)

    wasted = [(one, *at(one)) for one in outcome.wasted]
    return replace(
        outcome,
        wasted=tuple(replace(one, path=path, line=line) for one, path, line in wasted),
        data_sized=_each_once([(one, *at(one)) for one in outcome.data_sized]),
        emulated=_by_line([(one, *at(one)) for one in outcome.emulated]),
    )


def _each_once(found: Sequence[tuple[DataSized, str, int]]) -> tuple[DataSized, ...]:
    """The largest of each line of the user's, those without a line left out."""
    by_line: dict[tuple[str, int], DataSized] = {}
    for one, path, line in found:
        if path:
            by_line.setdefault((path, line), replace(one, path=path, line=line))
    return tuple(by_line.values())


def _by_line(found: Sequence[tuple[Emulated, str, int]]) -> tuple[Emulated, ...]:
    """One for each dtype and line of the user's, those without a line left out."""
    merged: dict[tuple[str, str, int], Emulated] = {}
    for one, path, line in found:
        key = (one.dtype, path, line)
        before = merged[key].instructions if key in merged else 0
        if path:
            merged[key] = replace(one, path=path, line=line, instructions=before + one.instructions)
    return tuple(merged.values())


def _failure(outcome: Outcome, subject: Subject) -> Failure:
    message = f"{outcome.target}: {' '.join(outcome.message.split())[:400]}"
    place = Place(outcome.path, outcome.line) if outcome.path else subject.place
    return Failure(TPU, "tpu", message, place=place)
