"""A TPU that is not there: `tf.distribute.TPUStrategy` and all that leads to it, on one CPU device.

Scripts written for a TPU run unchanged: resolver, connect, initialize, strategy, training. What a
replica runs is compiled by XLA as one program, as on a TPU; only replica 0 runs, and the other
replicas' results are taken to equal its own. TensorFlow's own checks (no eager `strategy.run`, no
sparse or ragged input) raise their own errors.

Not simulated: outside compilation (on a TPU, soft placement may move `tf.print` or `tf.summary` out
of the program to the host), several hosts, TPU embeddings, SPMD partitioning.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xlalint.verify.patching import Patches

DEFAULT_REPLICAS = 8


class StandinUnavailable(Exception):  # noqa: N818 - a state of the world, not a bug
    """This TensorFlow lacks something that the stand-in is made of; the message names it."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something a TPU would mind, noticed while the script ran on.

    `kind` is `dynamic-batch` (the batch size is not static), `batch-not-divisible` (by the number
    of replicas), or `unsupported-argument` (the stand-in ignores it). `path` and `line` are the
    user's own, empty and 0 where no user code is on the stack.
    """

    kind: str
    detail: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Program:
    """What one `strategy.run` became: `compiled`, a tf.function with `jit_compile=True`.

    `function` is what the user passed; `specs` and `keyword_specs` are the arguments of replica 0 in
    the first call, tensors as `tf.TensorSpec`.
    """

    name: str
    function: Any
    compiled: Any
    specs: tuple[Any, ...]
    keyword_specs: dict[str, Any]


class Standin:
    """A stand-in that is in place; made by `install`."""

    def __init__(
        self, replicas: int, strategy_class: type[Any], sums: Any, patches: Patches
    ) -> None:
        self.replicas = replicas
        self._sums = sums
        self.strategy_class = strategy_class
        self._patches = patches
        self._events: list[Event] = []
        self._programs: list[Program] = []

    @property
    def events(self) -> tuple[Event, ...]:
        """What a TPU would mind, each once, in the order in which it was first seen."""
        return tuple(self._events)

    @property
    def programs(self) -> tuple[Program, ...]:
        """What each `strategy.run` became, in the order of their first calls."""
        return tuple(self._programs)

    def strategy(self) -> Any:
        """A new strategy, as `tf.distribute.TPUStrategy()` would give the script."""
        return self.strategy_class()

    @contextmanager
    def all_reducing(self, chips: int) -> Iterator[None]:
        """While a step is traced in here, its sums over replicas are all-reduces between `chips` of them."""
        self._sums.chips = chips
        try:
            yield
        finally:
            self._sums.chips = 0

    def uninstall(self) -> None:
        """Give TensorFlow its own names back; strategies made meanwhile keep working."""
        self._patches.undo()


def install(
    replicas: int = DEFAULT_REPLICAS, record: Callable[[Event], None] | None = None
) -> Standin:
    """Put the stand-in in the place of TensorFlow's TPU entry points.

    Call it right after TensorFlow's import and before user code, so that `from
    tensorflow.distribute import TPUStrategy` finds the stand-in too. `record` hears of each event
    as it happens. Raises `StandinUnavailable` where this TensorFlow lacks a part, and `ValueError`
    for fewer than one replica.
    """
    if replicas < 1:
        raise ValueError(f"a TPU has at least one replica, not {replicas}")
    tensorflow = _import("tensorflow")
    strategies = _import_ours("xlalint.verify.standin_strategy")
    cluster = _import_ours("xlalint.verify.standin_cluster")
    sums = strategies.Sums()
    standin = Standin(replicas, strategies.TPUStrategy, sums, Patches())

    def note(event: Event) -> None:
        if event not in standin._events:
            standin._events.append(event)
            if record is not None:
                record(event)

    watch = strategies.Watch(replicas, sums, note, standin._programs.append)
    standin.strategy_class = strategies.bind(watch)
    _replace(standin, tensorflow, strategies.bind_experimental(standin.strategy_class), cluster)
    return standin


def beside(replicas: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What makes a function of a program that names no strategy one of `replicas`: its gradients are summed over them.

    Raises `StandinUnavailable` where this TensorFlow lacks a part.
    """
    strategies = _import_ours("xlalint.verify.standin_strategy")
    watch = strategies.Watch(replicas, strategies.Sums(replicas), lambda _: None, lambda _: None)
    as_replica: Callable[[Callable[..., Any]], Callable[..., Any]]
    as_replica = strategies.Beside(watch).as_replica
    return as_replica


def private(module: str, name: str) -> Any:
    """`name` of a module that TensorFlow does not promise to keep.

    Raises `StandinUnavailable`, naming both, where this TensorFlow has none.
    """
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise StandinUnavailable(f"TensorFlow {_version()} has no {module}.{name}") from error


def _replace(
    standin: Standin, tensorflow: Any, experimental_class: type[Any], cluster: Any
) -> None:
    put = standin._patches.put_if_present
    resolver = cluster.resolver_class(standin.replicas)
    topology = cluster.topology(standin.replicas)
    for api in (tensorflow, tensorflow.compat.v1):
        put(api.distribute, "TPUStrategy", standin.strategy_class)
        put(api.distribute.experimental, "TPUStrategy", experimental_class)
        put(api.distribute.cluster_resolver, "TPUClusterResolver", resolver)
        put(api.tpu.experimental, "initialize_tpu_system", lambda cluster_resolver=None: topology)
        put(api.tpu.experimental, "shutdown_tpu_system", lambda cluster_resolver=None: None)
        cluster.replace_connections(standin._patches, api.config, resolver)
        cluster.replace_device_lists(standin._patches, api.config, standin.replicas)
    # `from tensorflow.distribute import ...` finds another module than `tf.distribute`; in TensorFlow
    # 2.21 it holds no strategies, and such a script fails there as it would on a TPU.
    put(sys.modules.get("tensorflow.distribute"), "TPUStrategy", standin.strategy_class)
    definitions = "tensorflow.python.distribute.tpu_strategy"
    put(importlib.import_module(definitions), "TPUStrategyV2", standin.strategy_class)
    for name in ("TPUStrategy", "TPUStrategyV1"):
        put(importlib.import_module(definitions), name, experimental_class)
    for module in ("tpu.tpu_cluster_resolver", "tpu_cluster_resolver"):
        put(cluster.resolver_module(module), "TPUClusterResolver", resolver)


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise StandinUnavailable(f"{module} cannot be imported: {error}") from error


def _import_ours(module: str) -> Any:
    """A module of ours that is built on TensorFlow's private names as it is imported."""
    try:
        return importlib.import_module(module)
    except (ImportError, AttributeError, TypeError) as error:
        raise StandinUnavailable(f"TensorFlow {_version()}: {error}") from error


def _version() -> str:
    return str(getattr(importlib.import_module("tensorflow"), "__version__", "?"))
