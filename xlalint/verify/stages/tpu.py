"""The real TPU compiler's word on a program that lowers: for each TPU that the user named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlalint.tpu.compiler import COMPILES, UNVERIFIED
from xlalint.tpu.outcome import Outcome
from xlalint.tpu.program import Emulated, Waste
from xlalint.verify.graphs import operations
from xlalint.verify.records import FAILED, NOTE, OK, TPU, Failure, Place
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject

# Programs that a strategy runs once per replica.
_REPLICATED = ("strategy.run", "train_step", "test_step")
# Helpers are compiled for the first target alone: the steps that call them are for all.
_HELPER = "plain"


def on_tpu(subject: Subject) -> Said:
    """Each target's compiler; an overflow and a rejection are failures, what could not be asked is told."""
    asked = subject.tools.tpu
    assert asked is not None
    books, program = subject.books, subject.program
    outcomes = asked.outcomes(
        subject.flat,
        subject.specs,
        is_replicated=program.origin in _REPLICATED,
        is_step=subject.trains or _updates_variables(subject),
        tell=lambda what: subject.tools.on_stage(what, books.report()),
    )
    for found in outcomes:
        outcome = _placed(found, subject)
        books.tpu.append(outcome)
        if outcome.status not in (COMPILES, UNVERIFIED):
            books.failures.append(_failure(outcome, subject))
        if program.origin == _HELPER:
            break
    failed = [one for one in books.tpu if one.status not in (COMPILES, UNVERIFIED)]
    if failed:
        return Said(FAILED, ", ".join(f"{one.target} {one.status}" for one in failed))
    unknown = [one for one in books.tpu if one.status == UNVERIFIED]
    if unknown:
        return Said(NOTE, f"not verified for {', '.join(one.target for one in unknown)}")
    return Said(OK)


def _updates_variables(subject: Subject) -> bool:
    return any(
        op.type.startswith(("Assign", "ResourceApply", "ResourceSparseApply"))
        for op in operations(subject.graph)
    )


def _placed(outcome: Outcome, subject: Subject) -> Outcome:
    """With the user's lines in the place of the library's own, and none where there is no line of the user's."""
    find = subject.tools.locator.in_program

    def at(one: Waste | Emulated) -> tuple[str, int]:
        place = find(one.op_name, one.path, one.line)
        return ("", 0) if place is None else (place.path, place.line)

    wasted = [(one, *at(one)) for one in outcome.wasted]
    return replace(
        outcome,
        wasted=tuple(replace(one, path=path, line=line) for one, path, line in wasted),
        emulated=_by_line([(one, *at(one)) for one in outcome.emulated]),
    )


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
