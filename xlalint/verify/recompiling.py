"""Judge claims about compiling again by what was counted while the program ran."""

from __future__ import annotations

from collections.abc import Sequence

from xlalint.finding import Finding
from xlalint.verify.records import TargetReport, TrainingReport

# What Keras calls the functions that `fit` compiles.
_KERAS_STEPS = ("one_step_on_data", "one_step_on_iterator", "train_function", "step_function")


def times_compiled(
    finding: Finding, targets: Sequence[TargetReport], trainings: Sequence[TrainingReport]
) -> tuple[str, int]:
    """The function that takes the batch or the argument of a finding, and how often XLA compiled it; 0 where it did not run.

    The last link of the finding's chain is that function's name, or `fit`, or `strategy.run`.
    """
    consumer = finding.region.why[-1] if finding.region.why else ""
    wanted = _KERAS_STEPS if consumer == "fit" else (consumer.rpartition(".")[2],)
    best = (consumer, 0)
    for target in targets:
        if target.function.rpartition(".")[2] in wanted and target.compiles > best[1]:
            best = (target.function, target.compiles)
    for training in trainings:
        for function, count in training.compiles.items():
            if function in wanted and count > best[1]:
                best = (function, count)
    return best
