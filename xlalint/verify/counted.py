"""Judge claims about compiling again by what was counted while the program ran."""

from __future__ import annotations

from collections.abc import Sequence

from xlalint.finding import Finding
from xlalint.verify.recompiles import Recompiles
from xlalint.verify.recompiling import cause_seen, is_ruled_out, other_cause, times_compiled
from xlalint.verify.records import TargetReport, TrainingReport


def judged(
    finding: Finding,
    targets: Sequence[TargetReport],
    trainings: Sequence[TrainingReport],
    recompiles: Sequence[Recompiles],
) -> tuple[str, str, str]:
    """(verdict, evidence, function). Several compilations bear a claim out where what it names had changed, or the data
    bring that; one compilation says nothing of runs that are longer."""
    function, count = times_compiled(finding, targets, trainings)
    if not count:
        return "not reached", f"nothing that was run compiled {function or 'it'}", ""
    told = f"XLA compiled {function} {'once' if count == 1 else f'{count} times'} in the run"
    seen = cause_seen(finding, recompiles)
    if seen:
        return "confirmed", f"{told}; {seen}", function
    if ruled_out := is_ruled_out(finding, recompiles):
        return "refuted", f"{told}; {ruled_out}", function
    if other := other_cause(finding, recompiles):
        return "not reached", f"{told}, for other reasons: {other}", function
    if count > 1:
        return "confirmed", told, function
    return (
        "not reached",
        f"{told}: it did not come to a batch or a value that is different",
        function,
    )
