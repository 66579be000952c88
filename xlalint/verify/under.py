"""Put a script where its job wants it: on the stand-in for a TPU, on virtual devices, inside a strategy's scope."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xlalint.verify import jobs, standin, strategies
from xlalint.verify.jobs import Job
from xlalint.verify.patching import Patches

UNAVAILABLE = (standin.StandinUnavailable, strategies.StrategyUnavailable)


class Place:
    """Where the script runs; make it right after TensorFlow's import.

    `standin` is the stand-in for a TPU where one is in place, `strategy` the strategy that is ours. Raises one of UNAVAILABLE.
    """

    def __init__(self, job: Job, tf: Any, hear: Callable[[standin.Event], None]) -> None:
        self.standin: standin.Standin | None = None
        self.strategy: Any = None
        self._scope: Any = None
        strategies.prepare(job.strategy, max(job.replicas, 2))
        if job.strategy == jobs.STANDIN:
            self.standin = standin.install(job.replicas, hear)
        self._uncompiled = Patches()
        if job.strategy == jobs.MIRRORED or job.without_xla:
            _compile_nothing(self._uncompiled)
        if job.is_imposed:
            self._enter(strategies.make(job.strategy, job.replicas))
        if job.is_substituted:
            standin.install(job.replicas, hear)  # for the resolver and the initialization
            _substitute(tf, lambda: self._made(strategies.make(job.strategy, max(job.replicas, 2))))

    def compile_again(self) -> None:
        """Let tf.functions made from now on be compiled as they ask."""
        self._uncompiled.undo()

    def _enter(self, strategy: Any) -> None:
        # Never left: Keras remembers the scope a model was made in. Held, or TensorFlow forgets it.
        self.strategy, self._scope = strategy, strategy.scope()
        self._scope.__enter__()

    def _made(self, strategy: Any) -> Any:
        self.strategy = strategy
        return strategy


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


def _substitute(tf: Any, make: Callable[[], Any]) -> None:
    """Let `tf.distribute.TPUStrategy(...)` give what `make` makes."""

    class _AnyOfOurs(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, tf.distribute.Strategy)

    class TPUStrategy(metaclass=_AnyOfOurs):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return make()

    patches = Patches()
    for api in (tf, tf.compat.v1):
        for owner in (api.distribute, api.distribute.experimental):
            patches.put_if_present(owner, "TPUStrategy", TPUStrategy)
