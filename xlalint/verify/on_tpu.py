"""Hand a program to the TPU compiler: lower it for a target's replicas, compile, search the largest batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf

from xlalint.isolation.sandbox import Limits
from xlalint.tpu import targets
from xlalint.tpu.batch import Largest, largest
from xlalint.tpu.compiler import COMPILES, OVERFLOWS, Compiler, Result
from xlalint.tpu.installed import Installed, why_not
from xlalint.tpu.outcome import Outcome, outcome_of
from xlalint.tpu.targets import Target
from xlalint.verify import retrace
from xlalint.verify.jobs import TpuJob
from xlalint.verify.patching import Patches
from xlalint.verify.standin import Standin

# TensorFlow's all-reduce for XLA; 2.15 and older have no kernel for it on the CPU that lowers here.
_ALL_REDUCE_SINCE = (2, 16)


@dataclass(frozen=True, slots=True)
class OnTpu:
    """The targets of a job, and the stand-in whose replicas' sums become all-reduces between chips."""

    targets: tuple[Target, ...]
    compiler: Compiler
    searches: bool
    standin: Standin | None

    def outcomes(
        self,
        function: Callable[..., Any],
        specs: Sequence[Any],
        *,
        is_replicated: bool,
        is_step: bool,
        tell: Callable[[str], None],
    ) -> Iterator[Outcome]:
        """What each target makes of `function`, called with tensors of `specs` (static TensorSpecs).

        `is_replicated`: the strategy runs it on every replica; `is_step`: it trains, so that its batch is worth a search.
        Raises what tracing or lowering raises.
        """
        batch = common_batch(specs)
        lowered = _Lowered(function, specs, batch, self.standin if is_replicated else None)
        for target in self.targets:
            replicas = target.replicas if is_replicated and self.standin is not None else 1
            tell(f"compiling for {target.name}")
            result = self.compiler.compile(lowered.hlo(batch, replicas), target, replicas)
            found: Largest | None = None
            if self.searches and is_step and batch and result.status in (COMPILES, OVERFLOWS):
                tell(f"searching the largest batch for {target.name}")
                found = largest(
                    batch, result, _compile_at(self.compiler, lowered, target, replicas)
                )
            yield outcome_of(result, replicas, batch, found)


def of_job(job: TpuJob, standin: Standin | None) -> OnTpu | None:
    """None for a job that names no TPU."""
    if not job.targets:
        return None
    installed = Installed(Path(job.library), job.version)
    limits = Limits(wall=job.seconds, memory_mb=job.memory_mb)
    named = tuple(targets.parse(name) for name in job.targets)
    return OnTpu(named, Compiler(installed, limits), job.searches, standin)


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
        standin: Standin | None,
    ) -> None:
        self._function = function
        self._specs = list(specs)
        self._batch = batch
        self._standin = standin
        self._known: dict[tuple[int | None, int], bytes] = {}

    def hlo(self, batch: int | None, replicas: int) -> bytes:
        key = (batch, replicas)
        if key not in self._known:
            with _summing_over(self._standin, replicas):
                self._known[key] = _serialized(self._function, self._with(batch))
        return self._known[key]

    def _with(self, batch: int | None) -> list[Any]:
        return [
            tf.TensorSpec([batch, *one.shape[1:]], one.dtype)
            if one.shape.rank and one.shape[0] == self._batch
            else one
            for one in self._specs
        ]


def _compile_at(
    compiler: Compiler, lowered: _Lowered, target: Target, replicas: int
) -> Callable[[int], Result | None]:
    def compile_at(batch: int) -> Result | None:
        try:
            hlo = lowered.hlo(batch, replicas)
        except Exception:  # the step's own code, which may take one batch size only
            return None
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


@contextmanager
def _summing_over(standin: Standin | None, replicas: int) -> Iterator[None]:
    """While a program is traced for several chips, its sums over replicas are all-reduces."""
    has_kernel = tuple(int(part) for part in tf.__version__.split(".")[:2]) >= _ALL_REDUCE_SINCE
    if standin is None or replicas < 2 or not has_kernel:
        yield
        return
    with standin.all_reducing(replicas):
        yield
