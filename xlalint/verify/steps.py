"""Stop a training script after N train steps, whoever wrote its loop, and say what each step's loss was.

Keras `fit` is clamped and returns, so the rest of the script runs. A loop that the user wrote is
left by `StepsDone` as it begins a step too many, so that all that follows the last step in the loop's
body still runs. `Capture` keeps the arguments that functions were called with.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xlalint.verify import hooks
from xlalint.verify.capture import Call as Call
from xlalint.verify.capture import Capture as Capture
from xlalint.verify.capture import Captured as Captured
from xlalint.verify.capture import Signature as Signature
from xlalint.verify.graph_loops import GraphLoops
from xlalint.verify.inner_loops import InnerLoops
from xlalint.verify.keras_fit import patch_model
from xlalint.verify.losses import MetricLosses, find_loss, mean
from xlalint.verify.patching import Patches
from xlalint.verify.sites import is_user_file, real_path, user_site
from xlalint.verify.targets import code_of, name_of


class StepsDone(BaseException):
    """Raised in the user's script when it begins a train step beyond the last one wanted."""


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of the train step.

    `index` counts from 1 and is the number of steps done, `count` how many steps this execution
    made (more than one with `steps_per_execution` or a loop inside a tf.function). `loss` is None
    where it could not be seen: it is what `fit` logged for the batch, the loss that a step returned, what it
    added to a `Mean` metric with loss in its name, or what a tape was given. `source` is `fit`, `function` (a tf.function), `strategy.run` or
    `eager`; `path` and `line` say where the function starts, or the line that trained.
    """

    index: int
    count: int
    loss: float | None
    source: str
    name: str
    path: str
    line: int
    seconds: float


class Unit:
    """A call on the stack that may be a train step."""

    __slots__ = ("key", "line", "metrics", "name", "path", "source", "takes_gradient", "trains")

    def __init__(self, source: str, target: Any) -> None:
        code = code_of(target)
        self.source = source
        self.name = name_of(target)
        self.path = real_path(code.co_filename) if code else ""
        self.line = code.co_firstlineno if code else 0
        # A tf.function that a loop makes anew each time is the same step; Keras makes one function
        # per model from the same code, and those are different steps.
        self.key: object = ("object", id(target))
        if is_user_file(self.path):
            self.key = (self.path, self.line)
        else:
            self.path, self.line = user_site()  # a library's function: say who called it
        self.trains = False
        self.takes_gradient = False
        self.metrics: list[Any] = []


class Limiter:
    """Counts train steps and ends the run after the last one wanted; made by `limit`."""

    def __init__(self, steps: int, record: Callable[[Step], None]) -> None:
        self.steps = steps
        self._record = record
        self._lock = threading.RLock()
        self._local = threading.local()
        self._active: list[Unit] = []
        self._known: dict[object, Unit] = {}
        self._kept: list[object] = []
        self._counts: dict[object, int] = {}
        self._steps_in_fit = 0
        self._fits = 0
        self._idle_calls = 0
        self._optimizer_seen = False
        self._applying = threading.local()
        self._eager_loss: Any = None
        self._unapplied_gradients = 0
        self._last_time = time.monotonic()
        self._patches = Patches()
        self._inner_loops = InnerLoops(self._patches)
        self._graph_loops = GraphLoops(self._patches)
        self._metric_losses = MetricLosses()

    @property
    def done(self) -> int:
        """How many train steps have been made."""
        with self._lock:
            return self._steps_in_fit + max(self._counts.values(), default=0)

    @property
    def left(self) -> int:
        return max(0, self.steps - self.done)

    @property
    def is_in_fit(self) -> bool:
        return self._fits > 0

    def undo(self) -> None:
        """Give every library its own functions back."""
        self._patches.undo()

    # Keras fit

    def enter_fit(self) -> None:
        """Raises `StepsDone` when no step is left for this fit."""
        if self.left == 0:
            raise StepsDone
        self._fits += 1
        self._last_time = time.monotonic()

    def leave_fit(self) -> None:
        self._fits -= 1

    def fitted(self, count: int, loss: float | None, site: tuple[str, int], name: str) -> None:
        """Fit has made `count` steps more."""
        with self._lock:
            self._steps_in_fit += count
        self._tell(count, loss, "fit", name, *site)

    # The user's own loops

    def run_unit(self, source: str, target: Any, call: Callable[..., Any], a: Any, k: Any) -> Any:
        """Call `call(*a, **k)`, and count it where it turns out to be a train step."""
        unit = self._unit(source, target)
        stack = self._stack()
        counts = not stack and not self._active and not self.is_in_fit and _is_eager()
        made = 1
        shortened = None
        if counts:
            self._check_may_begin(unit)
            left = max(1, self.left)
            a, k, made = self._inner_loops.clamp(target, a, k, left)
            if made == 1 and source == "function":
                call = shortened = self._graph_loops.shortened(target, call, left)
        stack.append(unit)
        self._active.append(unit)
        try:
            result = call(*a, **k)
        finally:
            stack.pop()
            self._active.remove(unit)
        made = shortened.made if shortened is not None else made
        for outer in stack:
            outer.trains |= unit.trains
            outer.takes_gradient |= unit.takes_gradient
            outer.metrics += [metric for metric in unit.metrics if metric not in outer.metrics]
        if counts and self._is_training(unit):
            loss = find_loss(result.fetch() if source == "coordinator.schedule" else result)
            self._count(unit, made, self._metric_losses.of(unit.metrics) if loss is None else loss)
        elif counts:
            self._count_idle()
        return result

    def apply(self, optimizer: Any, apply: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """An optimizer applies gradients: the mark of a train step."""
        self._optimizer_seen = True
        self._graph_loops.trains()
        if getattr(self._applying, "on", False):
            return apply(optimizer, *args, **kwargs)
        # A replica's thread has no stack of its own: the step is the one that waits for it.
        for unit in self._stack() or self._active:
            unit.trains = True
        is_step = not self._active and not self.is_in_fit and _is_eager()
        step = _EagerStep(("optimizer", id(optimizer)), type(optimizer).__name__, *user_site())
        if is_step:
            self._kept.append(optimizer)
            self._unapplied_gradients = 0
            self._check_may_begin(step)
        self._applying.on = True
        try:
            result = apply(optimizer, *args, **kwargs)
        finally:
            self._applying.on = False
        if is_step:
            self._count(step, 1, mean(self._eager_loss))
        return result

    def took_gradient(self, target: Any) -> None:
        """A tape computed a gradient: the mark of a train step where no optimizer is ever seen."""
        self._graph_loops.trains()
        for unit in self._stack() or self._active:
            unit.takes_gradient = True
        if self._active or self.is_in_fit or not _is_eager():
            return
        if self._unapplied_gradients and not self._optimizer_seen:
            # The one before had no optimizer behind it: the user updates the weights by hand.
            step = _EagerStep(("gradient",), "GradientTape.gradient", *user_site())
            self._count(step, 1, mean(self._eager_loss))
            if self.left == 0:
                raise StepsDone
        self._eager_loss = target
        self._unapplied_gradients += 1

    def _unit(self, source: str, target: Any) -> Unit:
        fresh = Unit(source, target)
        with self._lock:
            known = self._known.setdefault(fresh.key, fresh)
            if known is fresh:
                self._kept.append(target)  # its id must stay its own
        return known

    def _stack(self) -> list[Unit]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[Unit] = self._local.stack
        return stack

    def _is_training(self, unit: Unit) -> bool:
        return unit.trains or (unit.takes_gradient and not self._optimizer_seen)

    def _check_may_begin(self, step: Unit | _EagerStep) -> None:
        """Raise `StepsDone` where `step` would be one too many.

        A loop may train with several functions or optimizers by turns (a GAN): once one of them has
        made the last step, each other one may finish its turn.
        """
        if self.left or (isinstance(step, Unit) and not self._is_training(step)):
            return
        with self._lock:
            made = self._counts.get(step.key, 0)
        if self._steps_in_fit or made != self.steps - 1:
            raise StepsDone

    def _count(self, step: Unit | _EagerStep, made: int, loss: float | None) -> None:
        with self._lock:
            before = self.done
            self._counts[step.key] = self._counts.get(step.key, 0) + made
            advanced = self.done - before
        if advanced:
            self._tell(advanced, loss, step.source, step.name, step.path, step.line)

    def _count_idle(self) -> None:
        """After the last step a script may evaluate a little, and no more."""
        if self.left == 0:
            self._idle_calls += 1
            if self._idle_calls > 2 * self.steps + 16:
                raise StepsDone

    def _tell(
        self, count: int, loss: float | None, source: str, name: str, path: str, line: int
    ) -> None:
        now = time.monotonic()
        seconds, self._last_time = now - self._last_time, now
        self._record(Step(self.done, count, loss, source, name, path, line, seconds))

    # Patches, each made when its library has been imported

    def patch_tensorflow(self) -> None:
        tf = importlib.import_module("tensorflow")
        function_class = type(tf.function(lambda: None))
        self._patches.wrap(function_class, "__call__", self._wrap_function)
        for strategy_class in _with_subclasses(tf.distribute.Strategy.__mro__[1]):
            if "run" in vars(strategy_class):
                self._patches.wrap(strategy_class, "run", self._wrap_strategy_run)
        self._patches.wrap(tf.GradientTape, "gradient", self._wrap_gradient)
        self._patches.wrap(tf.compat.v1.train.Optimizer, "apply_gradients", self._wrap_apply)
        self._inner_loops.patch(tf)
        self._graph_loops.patch(tf)
        coordinator = getattr(tf.distribute, "coordinator", tf.distribute.experimental.coordinator)
        self._patches.wrap(coordinator.ClusterCoordinator, "schedule", self._wrap_schedule)

    def patch_keras(self, library: str) -> None:
        keras = importlib.import_module(library)
        patch_model(self, self._patches, keras)
        for owner in _optimizer_classes(keras, importlib.import_module(f"{library}.optimizers")):
            for name in {"apply_gradients", "apply"} & vars(owner).keys():
                self._patches.wrap(owner, name, self._wrap_apply)
        self._patches.wrap(keras.metrics.Mean, "update_state", self._wrap_metric)

    def _wrap_function(self, call: Any) -> Any:
        @functools.wraps(call)
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            def run(*a: Any, **k: Any) -> Any:
                return call(function, *a, **k)

            return self.run_unit("function", function, run, args, kwargs)

        return __call__

    def _wrap_strategy_run(self, strategy_run: Any) -> Any:
        @functools.wraps(strategy_run)
        def run(
            strategy: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None
        ) -> Any:
            def call(*a: Any, **k: Any) -> Any:
                return strategy_run(strategy, fn, a, k, options)

            if not isinstance(args, (tuple, list)):
                return strategy_run(strategy, fn, args, kwargs, options)
            return self.run_unit("strategy.run", fn, call, tuple(args), kwargs or {})

        return run

    def _wrap_schedule(self, schedule: Any) -> Any:
        """Steps on parameter servers, one after the other: each error comes up at the line that scheduled it."""

        @functools.wraps(schedule)
        def scheduled(coordinator: Any, fn: Any, args: Any = None, kwargs: Any = None) -> Any:
            def call(*a: Any, **k: Any) -> Any:
                value = schedule(coordinator, fn, a, k)
                coordinator.join()
                return value

            return self.run_unit("coordinator.schedule", fn, call, args or (), kwargs or {})

        return scheduled

    def _wrap_apply(self, apply: Any) -> Any:
        @functools.wraps(apply)
        def counted(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            return self.apply(optimizer, apply, args, kwargs)

        return counted

    def _wrap_metric(self, update_state: Any) -> Any:
        @functools.wraps(update_state)
        def noted(metric: Any, *args: Any, **kwargs: Any) -> Any:
            if self._active and not self.is_in_fit and "loss" in str(metric.name):
                for unit in self._stack() or self._active:
                    if metric not in unit.metrics:
                        unit.metrics.append(metric)
            return update_state(metric, *args, **kwargs)

        return noted

    def _wrap_gradient(self, gradient: Any) -> Any:
        @functools.wraps(gradient)
        def watched(tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            self.took_gradient(target)
            return gradient(tape, target, *args, **kwargs)

        return watched


@dataclass(frozen=True, slots=True)
class _EagerStep:
    key: object
    name: str
    path: str
    line: int
    source: str = "eager"


def limit(steps: int, record: Callable[[Step], None]) -> Limiter:
    """End the script's training after `steps` train steps in total.

    Call it in the process that will run the script, before the script imports TensorFlow or after,
    and after `standin.install` where there is one. `record` hears of each step as it is made.
    Raises `ValueError` for fewer than one step.
    """
    if steps < 1:
        raise ValueError(f"at least one step is needed to see anything, not {steps}")
    limiter = Limiter(steps, record)
    hooks.install(
        {
            "tensorflow": limiter.patch_tensorflow,
            "keras": functools.partial(limiter.patch_keras, "keras"),
            "tf_keras": functools.partial(limiter.patch_keras, "tf_keras"),
        }
    )
    return limiter


def _is_eager() -> bool:
    return bool(importlib.import_module("tensorflow").executing_eagerly())


def _with_subclasses(cls: type[Any]) -> list[type[Any]]:
    found = [cls]
    for subclass in cls.__subclasses__():
        found += [one for one in _with_subclasses(subclass) if one not in found]
    return found


def _optimizer_classes(keras: Any, optimizers: Any) -> list[type[Any]]:
    """Every class that a Keras optimizer may have its `apply_gradients` or `apply` from.

    Versions differ in what they call Optimizer, and LossScaleOptimizer has its own; Adam's ancestors
    and the legacy Adam's are all there is besides.
    """
    legacy = getattr(optimizers, "legacy", None)
    mixed_precision = getattr(keras, "mixed_precision", None)
    leaves = (
        getattr(optimizers, "Adam", None),
        # In Keras 2.12 that is the legacy one, and the present one stands in a module of its own.
        getattr(sys.modules.get(f"{optimizers.__name__}.adam"), "Adam", None),
        getattr(optimizers, "Optimizer", None),
        getattr(legacy, "Adam", None),
        getattr(mixed_precision, "LossScaleOptimizer", None),
    )
    found = [ancestor for leaf in leaves if leaf is not None for ancestor in leaf.__mro__[:-1]]
    return list(dict.fromkeys(found))
