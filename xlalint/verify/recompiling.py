"""Judge claims about compiling again by what was counted while the program ran, and by what its data bring."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.finding import Finding
from xlalint.verify.recompiles import PYTHON, SHAPE, Axis, Change, Metered, Recompiles
from xlalint.verify.records import TargetReport, TrainingReport

# What Keras calls the functions that `fit` compiles.
_KERAS_STEPS = ("one_step_on_data", "one_step_on_iterator", "train_function", "step_function")
# What has to change from call to call for a claim to hold.
ROWS, LENGTHS = "number of rows", "length"
_CAUSE_OF = {"XLA301": ROWS, "XLA302": LENGTHS, "XLA303": PYTHON}


def times_compiled(
    finding: Finding, targets: Sequence[TargetReport], trainings: Sequence[TrainingReport]
) -> tuple[str, int]:
    """The function that takes the batch or the argument of a finding, and how often XLA compiled it; 0 where it did not run.

    The last link of the finding's chain is that function's name, or `fit`, or `strategy.run`.
    """
    wanted = _consumers(finding)
    best = (finding.region.why[-1] if finding.region.why else "", 0)
    for target in targets:
        if target.function.rpartition(".")[2] in wanted and target.compiles > best[1]:
            best = (target.function, target.compiles)
    for training in trainings:
        for function, count in training.compiles.items():
            if function in wanted and count > best[1]:
                best = (function, count)
    return best


def cause_seen(finding: Finding, recompiles: Sequence[Recompiles]) -> str:
    """What changed in the run, or changes in the data, as the finding says; empty where nothing of that was seen."""
    cause = _CAUSE_OF.get(finding.code, "")
    for found in recompiles:
        changes = [
            change
            for metered in _metered(finding, found)
            for again in metered.again
            for change in again.changes
            if cause in _causes(change)
        ]
        if changes:
            first = changes[0]
            return f"{first.kind} of `{first.argument}`: {_short(first.before)} -> {_short(first.after)}"
        for batches in found.batches:
            for axis in batches.axes:
                if cause == _cause_of_axis(axis):
                    sizes = " and ".join(map(str, (min(axis.sizes), max(axis.sizes))))
                    return f"the data bring batches with a {cause} of {sizes}"
    return ""


def other_cause(finding: Finding, recompiles: Sequence[Recompiles]) -> str:
    """What did make its consumer compile again, where each time is accounted for by something else; else empty."""
    told: list[str] = []
    for found in recompiles if finding.code in _CAUSE_OF else ():
        for metered in _metered(finding, found):
            if not all(again.changes for again in metered.again):
                return ""
            told += [
                f"{change.kind} of `{change.argument}`"
                for again in metered.again
                for change in again.changes
            ]
    return ", ".join(dict.fromkeys(told))


def is_ruled_out(finding: Finding, recompiles: Sequence[Recompiles]) -> str:
    """Why the data cannot bring what the finding says: all of them were read and have one shape; else empty."""
    sources = [batches for found in recompiles for batches in found.batches]
    if finding.code not in ("XLA301", "XLA302") or not sources:
        return ""
    cause = _CAUSE_OF[finding.code]
    is_free = all(
        batches.is_all and not any(_cause_of_axis(axis) == cause for axis in batches.axes)
        for batches in sources
    )
    total = sum(batches.read for batches in sources)
    return (
        f"all {total} batches of the data were read: each has the same {cause}" if is_free else ""
    )


def _consumers(finding: Finding) -> tuple[str, ...]:
    consumer = finding.region.why[-1] if finding.region.why else ""
    return _KERAS_STEPS if consumer == "fit" else (consumer.rpartition(".")[2],)


def _metered(finding: Finding, found: Recompiles) -> list[Metered]:
    wanted = _consumers(finding)
    return [
        one
        for one in found.functions
        if one.function.rpartition(".")[2] in wanted or any(name in wanted for name in one.compiled)
    ]


def _causes(change: Change) -> set[str]:
    if change.kind != SHAPE:
        return {change.kind}
    before, after = _sizes(change.before), _sizes(change.after)
    found = {ROWS} if before[:1] != after[:1] else set()
    return found | ({LENGTHS} if before[1:] != after[1:] else set())


def _sizes(word: str) -> list[object]:
    """The dimensions in `float32[8, 17]`."""
    try:
        return list(ast.literal_eval(word[word.index("[") :]))
    except (ValueError, SyntaxError):
        return []


def _cause_of_axis(axis: Axis) -> str:
    return ROWS if axis.axis == 0 and axis.options is None else LENGTHS


def _short(word: str) -> str:
    return word.removeprefix("Python value ")
