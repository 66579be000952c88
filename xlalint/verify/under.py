"""Put a script where its job wants it: on the stand-in for a TPU, on virtual devices, in a cluster, inside a strategy's scope."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xlalint.verify import choices, jobs, standin, strategies
from xlalint.verify.jobs import Job
from xlalint.verify.patching import Patches

UNAVAILABLE = (standin.StandinUnavailable, strategies.StrategyUnavailable)


# What splits each batch over replicas that really run.
_SPLITTING = (jobs.MIRRORED, jobs.MULTI_WORKER, jobs.CENTRAL_STORAGE)


class Place:
    """Where the script runs; make it right after TensorFlow's import.

    `driver` gives a loop's steps to the replicas, where one is needed.
    `standin` is the stand-in for a TPU where one is in place, `strategy` the strategy that trains, ours or the script's own,
    once it is made. `name` and `replicas` are those of the job, unless the machine has a TPU of its own. Raises one of
    UNAVAILABLE.
    """

    def __init__(self, job: Job, tf: Any, hear: Callable[[standin.Event], None]) -> None:
        self.standin: standin.Standin | None = None
        self.strategy: Any = None
        self.name, self.replicas = job.strategy, job.replicas
        self.driver: Any = None
        self._scope: Any = None
        strategies.prepare(job.strategy, job.replicas)
        self._uncompiled = Patches()
        if job.without_xla or not choices.KINDS[job.strategy].is_compiled:
            _compile_nothing(self._uncompiled)
        if job.strategy == jobs.STANDIN and not job.is_substituted:
            self._take_tpu(job, tf, hear)
        self.last_batch: Any = None
        if job.strategy in _SPLITTING:
            from xlalint.verify import last_batch  # made of TensorFlow

            self.last_batch = last_batch.LastBatch(job.steps, job.replicas)
        if job.is_imposed:
            self._enter(strategies.make(self.name, self.replicas))
            if job.is_driven:
                from xlalint.verify import driven  # made of TensorFlow

                self.driver = driven.Driver(self.strategy)
        elif job.is_substituted:
            self._substitute(job, tf, hear)
        else:
            from xlalint.verify import own_strategies

            own_strategies.adapt(job, tf, hear, self._made)

    def compile_again(self) -> None:
        """Let tf.functions made from now on be compiled as they ask."""
        self._uncompiled.undo()

    def _take_tpu(self, job: Job, tf: Any, hear: Callable[[standin.Event], None]) -> None:
        """The stand-in, unless TensorFlow finds a TPU and nobody asked for a number of replicas."""
        cores = [] if job.is_asked else _tpu_cores(tf)
        if cores:
            self.name, self.replicas = jobs.REAL_TPU, len(cores)
        else:
            self.standin = standin.install(job.replicas, hear)

    def _enter(self, strategy: Any) -> None:
        # Never left: Keras remembers the scope a model was made in. Held, or TensorFlow forgets it.
        self.strategy, self._scope = strategy, strategy.scope()
        self._scope.__enter__()

    def _substitute(self, job: Job, tf: Any, hear: Callable[[standin.Event], None]) -> None:
        from xlalint.verify import own_strategies

        # The resolver of a TPU and its initialization are part of what is replaced.
        replicas = (
            job.replicas if job.strategy == jobs.STANDIN else choices.KINDS[jobs.STANDIN].default
        )
        stood_in = standin.install(replicas, hear)
        if job.strategy == jobs.STANDIN:
            self.standin = stood_in
        # Made now: a multi-worker strategy must be, before anything runs an operation.
        strategy = strategies.make(job.strategy, job.replicas)
        own_strategies.substitute(tf, strategy, self._made)

    def _made(self, strategy: Any) -> Any:
        self.strategy = strategy
        return strategy


def _tpu_cores(tf: Any) -> list[Any]:
    try:
        return list(tf.config.list_physical_devices("TPU"))
    except Exception:  # a TPU that cannot be reached is not there for us
        return []


def _compile_nothing(patches: Patches) -> None:
    """Let every tf.function run without XLA, Keras's too: a program for several CPU devices cannot be compiled ("Trying to
    access resource ... located in device CPU:1")."""
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    def init_of(original: Any) -> Any:
        @functools.wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **{**kwargs, "jit_compile": None})

        return init

    patches.wrap(polymorphic_function.Function, "__init__", init_of)
