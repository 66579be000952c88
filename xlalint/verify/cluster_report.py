"""What a cluster's processes came to, as one report: the first one's, with what the others did."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlalint.verify import jobs
from xlalint.verify.clusters import Member, cause
from xlalint.verify.jobs import Job
from xlalint.verify.records import (
    FAILED,
    OK,
    SKIPPED,
    VARIABLES,
    WORKERS,
    Stage,
    TrainingReport,
    training_from,
)

_RAN = ("stopped", "ended")
_MOST_NAMED = 3
# The last line of a traceback, among all that TensorFlow logs.
_ERROR = re.compile(r"[\w.]*(?:Error|Exception)\b")


def of(first: TrainingReport, found: Sequence[Member], job: Job) -> TrainingReport:
    """The report on the cluster. `first` is what the process told that is reported on, made up where it told nothing.

    Where several failed, the one that failed first is to blame: the others lost it, and say so in many words.
    """
    report = replace(first, strategy=job.strategy, replicas=job.replicas, is_asked=job.is_asked)
    guilty = cause(found)
    if guilty is not None and guilty is not found[0]:
        return _blaming(guilty, report, found)
    if guilty is not None or report.status not in _RAN:
        return report
    checks = [*report.checks, *_compared(found), _others(found, job)]
    failed = any(check.status == FAILED for check in checks)
    return replace(report, checks=tuple(checks), status=FAILED if failed else report.status)


def _blaming(guilty: Member, report: TrainingReport, found: Sequence[Member]) -> TrainingReport:
    """The report where another process failed first: its error, or how it died."""
    told = _training(guilty)
    if told is not None and told.status == FAILED:
        return replace(
            report,
            status=FAILED,
            detail=f"{guilty.name} failed first: {told.detail}",
            failure=told.failure,
            output="",
            checks=(),
        )
    outcome = guilty.outcome
    said = [line.strip() for line in outcome.stderr.splitlines() if _ERROR.match(line.strip())]
    what = outcome.abort_message or f"its process {outcome.describes}"
    steps = sum(1 for record in outcome.records if record["kind"] == "step")
    after = f"{guilty.name} died after {steps} step{'s' * (steps != 1)}: {what}"
    last = f" ({said[-1][:200]})" if said and outcome.status == "exit" else ""
    return replace(report, status=FAILED, detail=after + last, failure=None, output="", checks=())


def _compared(found: Sequence[Member]) -> list[Stage]:
    """Do the workers hold the same values? From the digests of their variables."""
    by_worker = [
        record["digests"]
        for one in found
        for record in one.outcome.records
        if record["kind"] == "variables"
    ]
    return [_across(by_worker)] if len(by_worker) > 1 else []


def _across(by_worker: Sequence[Mapping[str, str]]) -> Stage:
    first, *others = by_worker
    if not first:
        return Stage(VARIABLES, SKIPPED, detail="no trained variable of the strategy was found")
    wrong = [name for name in first if any(other.get(name) != first[name] for other in others)]
    if wrong or any(other.keys() != first.keys() for other in others):
        named = ", ".join(name.partition(" ")[2] for name in wrong[:_MOST_NAMED])
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        told = (
            f"the workers disagree on {named}{more}"
            if wrong
            else "the workers made different variables"
        )
        return Stage(VARIABLES, FAILED, detail=told)
    count = f"{len(first)} variable{'s' * (len(first) != 1)}"
    return Stage(VARIABLES, OK, detail=f"equal on every worker ({count})")


def _others(found: Sequence[Member], job: Job) -> Stage:
    """What the processes beside the first did."""
    if job.strategy == jobs.PARAMETER_SERVER:
        serving = sum(
            any(record["kind"] == "serving" for record in one.outcome.records) for one in found[1:]
        )
        return Stage(WORKERS, OK, detail=f"{serving} servers ran on this machine and were stopped")
    told = [f"{one.name} made {_steps(one)}" for one in found]
    uneven = len({_steps(one) for one in found}) > 1
    return Stage(WORKERS, FAILED if uneven else OK, detail=", ".join(told))


def _steps(member: Member) -> str:
    training = _training(member)
    count = training.steps if training is not None else 0
    return f"{count} step{'s' * (count != 1)}"


def _training(member: Member) -> TrainingReport | None:
    record: Mapping[str, Any] | None = next(
        (one for one in member.outcome.records if one["kind"] == "training"), None
    )
    return None if record is None else training_from(record)
