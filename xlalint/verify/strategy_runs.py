"""Decide under which strategies a program is trained, and how it gets there, from the names in its sources."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from xlalint.verify import choices, jobs
from xlalint.verify.choices import Choice
from xlalint.verify.jobs import Job

_TPU_NAMES = frozenset({"TPUStrategy", "TPUClusterResolver", "initialize_tpu_system"})
_FIT = "fit"
# What a training loop of one's own calls, and what makes its step a graph.
_TRAINS = frozenset({"GradientTape", "apply_gradients", "minimize"})
_FUNCTION = "function"
# What trains a program of its own kind by default; for the rest, that is the program as it is.
_OWN = (jobs.MULTI_WORKER, jobs.PARAMETER_SERVER, jobs.CENTRAL_STORAGE)


def plan(
    base: Job, names: AbstractSet[str], asked: Sequence[Choice], slice_replicas: int = 0
) -> list[Job]:
    """The children for one program: first the one whose functions are captured, then one for each further strategy.

    `slice_replicas` are those of the TPU slice that the program is headed for, 0 where none of several chips is named.
    """
    first = _captured(base, names, asked, slice_replicas)
    further = [
        _under(base, names, choice)
        for choice in asked or _by_default(names)
        if choice.name != jobs.AS_IS and not (choice.name == jobs.STANDIN == first.strategy)
    ]
    if not asked and not further:
        first = replace(first, notes=(*first.notes, *_why_no_further(names)))
    return [first, *further]


def _captured(
    base: Job, names: AbstractSet[str], asked: Sequence[Choice], slice_replicas: int
) -> Job:
    """The run that is captured: on the stand-in where the program, or the user, asks for a TPU; else as it is."""
    tpu = next((choice for choice in asked if choice.name == jobs.STANDIN), None)
    if slice_replicas and (tpu is None or not tpu.is_counted):
        tpu = Choice(jobs.STANDIN, slice_replicas, is_counted=True, is_asked=tpu is not None)
    wanted = tpu or choices.default(jobs.STANDIN)
    standin = replace(
        base, strategy=jobs.STANDIN, replicas=wanted.count, is_asked=wanted.is_counted
    )
    if names & _TPU_NAMES:
        return standin
    if tpu is not None and _FIT in names and not _own(names):
        return replace(standin, is_imposed=True)
    return base


def _by_default(names: AbstractSet[str]) -> list[Choice]:
    own = _own(names)
    for name in _OWN:
        if name in own:
            return [choices.default(name)]
    if own & {jobs.STANDIN, jobs.MIRRORED} or (not own and (_FIT in names or _is_loop(names))):
        return [choices.default(jobs.MIRRORED)]
    return []


def _is_loop(names: AbstractSet[str]) -> bool:
    """Does the program train in a loop of its own whose step can be given to replicas?"""
    return bool(names & _TRAINS) and _FUNCTION in names


def _why_no_further(names: AbstractSet[str]) -> tuple[str, ...]:
    if _own(names) and _own(names) != {jobs.STANDIN}:
        return (f"not run under {jobs.MIRRORED}: the program has a strategy of its own",)
    if names & _TRAINS and not _own(names):
        return (
            f"not run under {jobs.MIRRORED}: the program's own training loop names no strategy and has no tf.function, "
            "which could be given to the replicas",
        )
    return ()


def _under(base: Job, names: AbstractSet[str], choice: Choice) -> Job:
    """The run under one strategy: the program's own, ours in the place of its own, or ours around it."""
    own = _own(names)
    job = replace(
        base,
        strategy=choice.name,
        replicas=choice.count,
        takes_targets=False,
        flagged=(),
        notes=(),
        is_asked=choice.is_asked,
    )
    if own == {choice.name} and not choice.is_counted:
        return job
    if own:
        return replace(job, is_substituted=True)
    return replace(job, is_imposed=True, is_driven=_FIT not in names)


def _own(names: AbstractSet[str]) -> set[str]:
    """Which strategies the program names."""
    found = {name for name, kind in choices.KINDS.items() if names & set(kind.class_names)}
    return found | {jobs.STANDIN} if names & _TPU_NAMES else found
