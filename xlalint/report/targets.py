"""What the report of `xlalint verify` says of one target: how its stages went, how often it was called, what they told."""

from __future__ import annotations

from xlalint.verify.records import FAILED, NOTE, OK, OPAQUE, SKIPPED, VALUES, Stage, TargetReport

_IN_THE_STEP = "is part of the step"
# Most characters that a stage's detail may have beside its outcome; longer ones get a line.
_ASIDE = 40


def stages(target: TargetReport) -> str:
    """The outcome of each stage that ran: `eager ok, trace ok, lower FAILED, gradient ok (not compared)`."""
    words = []
    for stage in target.stages:
        if stage.status == FAILED:
            words.append(f"{stage.name} FAILED")
        elif stage.status in (OK, NOTE):
            aside = f" ({stage.detail})" if _is_aside(stage) else ""
            words.append(f"{stage.name} ok{aside}")
        elif stage.detail == _IN_THE_STEP:
            words.append(f"{stage.name} in the step")
    return ", ".join(words) or "nothing to compile"


def _is_aside(stage: Stage) -> bool:
    """Is what a stage that passed has to tell short enough to stand beside its outcome?"""
    return stage.status == OK and 0 < len(stage.detail) <= _ASIDE


def counts(target: TargetReport) -> str:
    counted = [
        f"{number} {noun}{'s' * (number != 1)}"
        for number, noun in (
            (target.calls, "call"),
            (target.traces, "trace"),
            (target.compiles, "compile"),
        )
        if number
    ]
    return f" ({', '.join(counted)} in the run)" if counted else ""


def told(target: TargetReport) -> list[str]:
    """What the stages have to tell besides their outcome, and why some did not run."""
    details = [
        f"{stage.name}: {stage.detail}{_counted(target) if stage.name == VALUES else ''}"
        for stage in target.stages
        if stage.detail
        and not _is_aside(stage)
        and (stage.status in (OK, NOTE) or _is_answer(stage))
    ]
    inputs = [target.inputs] if target.inputs else []
    return [*inputs, *target.notes, *details, *_not_run(target)]


def _counted(target: TargetReport) -> str:
    if not target.value_compiles:
        return ""
    times = "once more" if target.value_compiles == 1 else f"{target.value_compiles} more times"
    others = f"{target.values_tried} other value{'s' * (target.values_tried != 1)}"
    return f" ({times} for {others} of the same shapes)"


def _is_answer(stage: Stage) -> bool:
    """Does the detail of a failure tell something that no failure with a place tells?"""
    return stage.name == OPAQUE and stage.status == FAILED


def _not_run(target: TargetReport) -> list[str]:
    """`not run: values, shapes (it does not lower)`, one line per reason."""
    by_reason: dict[str, list[str]] = {}
    for stage in target.stages:
        if stage.status == SKIPPED and stage.detail != _IN_THE_STEP:
            by_reason.setdefault(stage.detail, []).append(stage.name)
    return [f"not run: {', '.join(names)} ({why})" for why, names in by_reason.items()]
