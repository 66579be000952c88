"""What can be said of replicas after some steps: are their variables equal, is every loss a number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from xlalint.verify import standin, strategies
from xlalint.verify.records import FAILED, LOSS, NOTE, OK, SKIPPED, VARIABLES, Stage
from xlalint.verify.strategies import unusable as unusable

_MOST_NAMED = 3


def of_replicas(strategy: Any) -> Stage | None:
    """Do the replicas in this process hold the same values? None without a strategy, or with one replica."""
    if strategy is None or strategy.num_replicas_in_sync < 2 or _simulates(strategy):
        return None
    compared, differing = strategies.check(strategy)
    if not compared:
        return None
    lost = strategies.not_numbers(strategy)
    if lost:
        return Stage(
            VARIABLES, FAILED, detail=f"no number any more: {', '.join(lost[:_MOST_NAMED])}"
        )
    wrong = [one for one in differing if one.is_trainable]
    told = _counted(compared, "variable")
    if wrong:
        named = ", ".join(f"{one.variable} by {one.difference:.3g}" for one in wrong[:_MOST_NAMED])
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        return Stage(VARIABLES, FAILED, detail=f"the replicas disagree on {named}{more}")
    if differing:
        own = f"{_counted(len(differing), 'variable')} that {'is' if len(differing) == 1 else 'are'} not trained"
        return Stage(
            VARIABLES,
            NOTE,
            detail=f"equal on every replica ({told}), except {own}: each replica keeps its own",
        )
    return Stage(VARIABLES, OK, detail=f"equal on every replica ({told})")


def of_losses(losses: Sequence[float | None]) -> Stage | None:
    """Is every loss that was seen a number? None where no step was made."""
    bad = unusable(losses)
    if bad:
        steps = ", ".join(str(step) for step in bad)
        return Stage(LOSS, FAILED, detail=f"not a number in step{'s' * (len(bad) > 1)} {steps}")
    if not losses:
        return None
    if not any(loss is not None for loss in losses):
        return Stage(LOSS, SKIPPED, detail="no loss was seen")
    return Stage(LOSS, OK, detail="finite in every step")


def digests(strategy: Any) -> dict[str, str]:
    """Name and number -> digest of the first copy of each trained variable of the strategy, in the order of creation.

    Processes that ran the same program made the same variables in the same order, so that equal digests mean equal values.
    """
    if strategy is None:
        return {}
    trained = [one for one in strategies.variables(strategy) if one.trainable]
    found = {}
    for index, variable in enumerate(trained):
        value = variable.values[0].numpy()
        found[f"{index} {variable.name}"] = hashlib.sha256(value.tobytes()).hexdigest()
    return found


def _simulates(strategy: Any) -> bool:
    return type(strategy).__mro__[1].__module__.startswith(standin.__name__.rpartition(".")[0])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
