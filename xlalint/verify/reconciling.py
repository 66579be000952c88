"""Put right what a helper's own compilation says of it against the program that calls it.

A helper that was captured alone gets unknown values for all its tensors. In the program that calls it one of them may be a
constant: the size of a static shape, say. What fails alone for that reason only, and compiles where it is called, is no
failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xlalint.verify.reached import passed
from xlalint.verify.records import FAILED, LOWER, SKIPPED, Failure, Stage, TargetReport

_ALONE = frozenset({"plain", "alone"})


def reconciled(targets: Sequence[TargetReport]) -> list[TargetReport]:
    """The same targets, without failures of helpers that the programs calling them do not have."""
    programs = [one for one in targets if one.origin not in _ALONE and passed(one, LOWER)]
    return [_against(one, programs) if one.origin in _ALONE else one for one in targets]


def _against(helper: TargetReport, programs: Iterable[TargetReport]) -> TargetReport:
    lowering = [failure for failure in helper.failures if failure.stage == LOWER]
    if not lowering or any(failure.kind != "not-constant" for failure in lowering):
        return helper
    caller = next(
        (one for one in programs if all(_ran(failure, one) for failure in lowering)), None
    )
    if caller is None:
        return helper
    why = f"compiled alone, {lowering[0].message}; in {caller.function} it is a constant, and compiles"
    stages = tuple(
        Stage(LOWER, SKIPPED, stage.seconds, why) if stage.name == LOWER else stage
        for stage in helper.stages
    )
    others = tuple(failure for failure in helper.failures if failure.stage != LOWER)
    failed = any(stage.status == FAILED for stage in stages)
    return replace(
        helper,
        stages=stages,
        failures=others,
        status=FAILED if failed else SKIPPED,
        notes=(*helper.notes, why),
    )


def _ran(failure: Failure, program: TargetReport) -> bool:
    """Did the program trace the line of a failure?"""
    place = failure.place
    if place is None:
        return False
    lines = program.evidence.executed.get(place.path, ())
    return place.line in lines or str(place.line) in program.evidence.ops.get(place.path, {})
