"""Hand a program to the TPU compiler: lower it for a target's replicas, compile, search the largest batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tensorflow as tf

from xlalint.tpu import targets
from xlalint.tpu.batch import largest
from xlalint.tpu.budget import Budget
from xlalint.tpu.compiler import Compiler, Result
from xlalint.tpu.installed import Installed, why_not
from xlalint.tpu.outcome import Outcome, outcome_of
from xlalint.tpu.statuses import COMPILES, OVERFLOWS
from xlalint.tpu.targets import Target
from xlalint.verify import retrace, standin
from xlalint.verify.alone import seal
from xlalint.verify.jobs import Job, TpuJob
from xlalint.verify.patching import Patches

# Of a child's time, what the TPU compiler may use; the rest is for what comes after it.
_SHARE = 0.75


class RunsOnHost(Exception):  # noqa: N818 - a state of the world, not a bug
    """The function gives others to `strategy.run`: on a TPU it runs on the host, and those are what is compiled."""


@dataclass(frozen=True, slots=True)
class OnTpu:
    """The targets of a job, and the stand-in whose replicas' sums become all-reduces between chips.

    `splits_batch`: is the batch of the program's data that of all replicas together, whatever their number?
    """

    targets: tuple[Target, ...]
    compiler: Compiler
    searches: bool
    standin: standin.Standin | None
    splits_batch: bool

    def outcomes(
        self,
        function: Callable[..., Any],
        specs: Sequence[Any],
        *,
        is_replicated: bool,
        is_step: bool,
        tell: Callable[[str], None],
    ) -> Iterator[Outcome]:
        """What each target makes of `function`, called with tensors of `specs` (static TensorSpecs); those whose largest batch
        is searched come a second time, with that.

        `is_replicated`: a strategy runs it on every replica, or may; `is_step`: it trains, so that its batch is worth a search.
        Raises what tracing or lowering raises, and RunsOnHost.
        """
        seen = common_batch(specs)
        lowered = _Lowered(function, specs, seen, self.standin, is_replicated)
        compiled: list[tuple[Outcome, Result, Callable[[int], Result | None]]] = []
        for target in self.targets:
            tell(f"lowering for {target.name}")
            batch, replicas, note = self._settled(lowered, target)
            tell(f"compiling for {target.name}")
            hlo = lowered.hlo(batch, replicas)
            with seal.lifted():
                result = self.compiler.compile(hlo, target, replicas)
            outcome = replace(outcome_of(result, replicas, batch), note=note, is_step=is_step)
            yield outcome
            if batch and result.status in (COMPILES, OVERFLOWS):
                compiled.append(
                    (outcome, result, _compile_at(self.compiler, lowered, target, replicas))
                )
        for outcome, result, compile_at in compiled if self.searches and is_step else ():
            assert outcome.batch is not None
            tell(f"searching the largest batch for {outcome.target}")
            yield replace(outcome, largest=largest(outcome.batch, result, compile_at))

    def _settled(self, lowered: _Lowered, target: Target) -> tuple[int | None, int, str]:
        """(batch of a replica, replicas, note): its share of the program's batch where it splits and the step takes that, else
        the batch that was seen; one replica for what is not replicated, or cannot be."""
        seen = lowered.seen
        if not lowered.is_replicated:
            return seen, 1, ""
        replicas, batch, note = target.replicas, seen, ""
        if seen and self.splits_batch:
            whole = seen * (self.standin.replicas if self.standin is not None else 1)
            batch, rest = divmod(whole, replicas)
            if rest:
                note = f"its batch of {whole} does not split over {replicas} replicas: {seen} each"
                batch = seen
        why = lowered.why_not(batch, replicas)
        if why and batch != seen:
            note = f"it does not trace with its share of the batch, {batch}: {seen} each"
            batch, why = seen, lowered.why_not(seen, replicas)
        if why and self.standin is None:
            lowered.is_replicated = False
            note = f"compiled without a strategy: as TPUStrategy would run it, it does not trace ({why})"
            return seen, 1, note
        return batch, replicas, note


def of_job(job: Job, stood_in: standin.Standin | None, started: float) -> OnTpu | None:
    """None for a job that names no TPU; it `started` at that `time.monotonic`."""
    asked = job.tpu
    if not asked.targets:
        return None
    seconds = asked.seconds * (1.0 if job.compile_only else _SHARE)
    budget = Budget(started + seconds if seconds else 0.0, asked.memory_mb)
    compiler = Compiler(Installed(Path(asked.library), asked.version), budget)
    named = tuple(targets.parse(name) for name in asked.targets)
    return OnTpu(named, compiler, asked.searches, stood_in, job.splits_batch)


def unusable(job: TpuJob) -> str:
    """Why this TensorFlow's programs cannot be read by that libtpu; empty where they can."""
    return why_not(Installed(Path(job.library), job.version), tf.__version__)


def common_batch(specs: Sequence[Any]) -> int | None:
    """The leading size that most of the specs have."""
    sizes = Counter(one.shape[0] for one in specs if one.shape.rank and one.shape[0])
    return sizes.most_common(1)[0][0] if sizes else None


class _Lowered:
    """The program's HLO by batch and number of replicas, each lowered once."""

    def __init__(
        self,
        function: Callable[..., Any],
        specs: Sequence[Any],
        batch: int | None,
        stood_in: standin.Standin | None,
        is_replicated: bool,
    ) -> None:
        self._function = function
        self._specs = list(specs)
        self.seen = batch
        self._standin = stood_in
        self.is_replicated = is_replicated
        self._known: dict[tuple[int | None, int], bytes] = {}

    def why_not(self, batch: int | None, replicas: int) -> str:
        """Why it cannot be lowered so, empty where it can: it may be written for one batch size, or for no strategy."""
        try:
            self.hlo(batch, replicas)
        except RunsOnHost:
            raise
        except Exception as error:  # the step's own code
            return _summary(error)
        return ""

    def hlo(self, batch: int | None, replicas: int) -> bytes:
        key = (batch, replicas)
        if key not in self._known:
            self._known[key] = self._lower(self._with(batch), replicas)
        return self._known[key]

    def _lower(self, specs: Sequence[Any], replicas: int) -> bytes:
        if self._standin is None:
            as_replica = standin.beside(replicas) if self.is_replicated else None
            function = self._function if as_replica is None else as_replica(self._function)
            return _serialized(function, specs)
        before = len(self._standin.programs)
        with self._standin.all_reducing(replicas):
            made = _serialized(self._function, specs)
        if not self.is_replicated and len(self._standin.programs) > before:
            raise RunsOnHost
        return made

    def _with(self, batch: int | None) -> list[Any]:
        return [
            tf.TensorSpec([batch, *one.shape[1:]], one.dtype)
            if one.shape.rank and one.shape[0] == self.seen
            else one
            for one in self._specs
        ]


def _summary(error: Exception) -> str:
    """One line of an error; AutoGraph puts the error itself after the user's frames."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1 if lines[0].startswith("in user code") else 0][:160]


def _compile_at(
    compiler: Compiler, lowered: _Lowered, target: Target, replicas: int
) -> Callable[[int], Result | None]:
    def compile_at(batch: int) -> Result | None:
        try:
            hlo = lowered.hlo(batch, replicas)
        except Exception:  # the step's own code, which may take one batch size only
            return None
        with seal.lifted():
            return compiler.compile(hlo, target, replicas)

    return compile_at


def _serialized(function: Callable[..., Any], specs: Sequence[Any]) -> bytes:
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    patches = Patches()
    retrace.anew(patches)
    try:
        traced = tf.function(function, jit_compile=True, autograph=False)
        concrete = traced.get_concrete_function(*specs)
    finally:
        patches.undo()
    found: bytes = compiler_ir.from_concrete_function(concrete, list(specs))("hlo_serialized")
    return found
