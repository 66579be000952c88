"""Clamp Keras's own loops: `fit` to the steps that are left, `evaluate` and `predict` to two."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Protocol

import numpy as np

from xlalint.verify.losses import MetricLosses, scalar
from xlalint.verify.patching import Patches
from xlalint.verify.sites import user_site

_EVALUATION_STEPS = 2
DEFAULT_BATCH = 32


class Steps(Protocol):
    """Who counts the train steps of a run, and knows when to end it."""

    @property
    def left(self) -> int: ...

    @property
    def is_in_fit(self) -> bool: ...

    def enter_fit(self) -> None: ...

    def leave_fit(self) -> None: ...

    def fitted(self, count: int, loss: float | None, site: tuple[str, int], name: str) -> None: ...


def patch_model(limiter: Steps, patches: Patches, keras: Any) -> None:
    """Clamp the loops of every model of one Keras library (`keras` or `tf_keras`)."""
    by_step = _step_callback(limiter, keras.callbacks.Callback)
    by_epoch = _epoch_callback(limiter, keras.callbacks.Callback)
    patches.wrap(keras.Model, "fit", lambda fit: _clamped_fit(limiter, fit, by_step, by_epoch))
    for name in ("evaluate", "predict"):
        patches.wrap(keras.Model, name, lambda real: _clamped_evaluation(limiter, real))


def _clamped_fit(limiter: Steps, fit: Any, by_step: Any, by_epoch: Any) -> Any:
    signature = inspect.signature(fit)

    @functools.wraps(fit)
    def clamped(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return fit(*args, **kwargs)  # Keras words its own complaint
        if limiter.is_in_fit:
            return fit(*args, **kwargs)  # a subclass's fit calls its parent's
        limiter.enter_fit()
        try:
            model = args[0]
            _clamp(bound.arguments, limiter.left)
            is_counted = bool(bound.arguments.get("steps_per_epoch"))
            _clamp_execution(model, limiter.left, is_counted)
            if _schedules_steps(model):
                steps = _clamp_to_one_epoch(bound.arguments, limiter.left)
                _add_callback(bound.arguments, by_epoch(model, user_site(), steps))
            else:
                _add_callback(bound.arguments, by_step(model, user_site()))
            return fit(*bound.args, **bound.kwargs)
        finally:
            limiter.leave_fit()

    return clamped


def _clamp(arguments: dict[str, Any], left: int) -> None:
    first = arguments.get("initial_epoch") or 0
    arguments["epochs"] = min(arguments.get("epochs", 1), first + left)
    # Of arrays, Keras works the batch size out from the number of steps: leave that to the callback.
    if arguments.get("steps_per_epoch") and rows_of(arguments.get("x")) is None:
        arguments["steps_per_epoch"] = min(arguments["steps_per_epoch"], left)
    validation = arguments.get("validation_data")
    if validation is None and not arguments.get("validation_split"):
        return
    arguments["validation_steps"] = 1
    if validation is None or rows_of(validation) is not None:
        batch_size = arguments.get("validation_batch_size") or arguments.get("batch_size")
        arguments["validation_batch_size"] = batch_size or DEFAULT_BATCH


def _schedules_steps(model: Any) -> bool:
    """Does fit hand its steps to parameter servers? Then nobody sees them one by one: Keras takes no callback that would."""
    strategy = getattr(model, "distribute_strategy", None)
    return bool(getattr(strategy, "_should_use_with_coordinator", False))


def _clamp_to_one_epoch(arguments: dict[str, Any], left: int) -> int:
    """Let fit make one epoch of the steps that are left, or of the fewer that are asked for: how many."""
    arguments["epochs"] = (arguments.get("initial_epoch") or 0) + 1
    arguments["steps_per_epoch"] = min(arguments.get("steps_per_epoch") or left, left)
    return int(arguments["steps_per_epoch"])


def _clamp_execution(model: Any, left: int, is_counted: bool) -> None:
    """Make the steps left a multiple of the steps that one execution of the train function makes."""
    variable: Any = getattr(model, "_steps_per_execution", None)
    if hasattr(variable, "assign"):  # tf_keras and Keras 2
        size = int(variable.numpy())
        if size > left or (left % size and not is_counted):  # it cuts the last execution itself
            variable.assign(left)
    elif left % (getattr(model, "steps_per_execution", 1) or 1):  # Keras 3
        model.steps_per_execution = left
        model.train_function = None


def _add_callback(arguments: dict[str, Any], callback: Any) -> None:
    given: Any = arguments.get("callbacks")
    if hasattr(given, "append") and not isinstance(given, list):  # a CallbackList
        given.append(callback)
        callback.set_model(callback.trained)
    else:
        given = [] if given is None else given
        given = list(given) if isinstance(given, (list, tuple)) else [given]
        # First, so that a step counts even if a callback of the user's fails over it.
        arguments["callbacks"] = [callback, *given]


def _step_callback(limiter: Steps, base: Any) -> Any:
    """A callback class of one Keras library that counts batches and stops the training."""

    class StepLimit(base):  # type: ignore[misc]
        def __init__(self, model: Any, site: tuple[str, int]) -> None:
            super().__init__()
            self.trained = model
            self._site = site
            self._name = f"{type(model).__name__}.fit"
            self._first = 0
            self._losses = MetricLosses()

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._losses = MetricLosses()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._first = batch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            count = int(batch) - int(self._first) + 1
            limiter.fitted(count, self._batch_loss(logs or {}), self._site, self._name)
            if limiter.left == 0:
                self.trained.stop_training = True

        def _batch_loss(self, logs: Any) -> float | None:
            # What is logged is the epoch's mean so far; the metric behind it knows its sum and weight.
            trackers = [one for one in self.trained.metrics if str(one.name) == "loss"]
            loss = self._losses.of([one for one in trackers if hasattr(one, "count")])
            return scalar(logs.get("loss")) if loss is None else loss

    return StepLimit


def _epoch_callback(limiter: Steps, base: Any) -> Any:
    """A callback class of one Keras library that counts the steps of an epoch at its end."""

    class EpochLimit(base):  # type: ignore[misc]
        def __init__(self, model: Any, site: tuple[str, int], steps: int) -> None:
            super().__init__()
            self.trained = model
            self._site = site
            self._steps = steps

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            name = f"{type(self.trained).__name__}.fit"
            limiter.fitted(self._steps, scalar((logs or {}).get("loss")), self._site, name)

    return EpochLimit


def _clamped_evaluation(limiter: Steps, real: Any) -> Any:
    signature = inspect.signature(real)

    @functools.wraps(real)
    def clamped(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return real(*args, **kwargs)
        if limiter.is_in_fit:
            return real(*args, **kwargs)
        data = bound.arguments.get("x")
        wanted = bound.arguments.get("steps") or _EVALUATION_STEPS
        batches = _number_of_batches(data, bound.arguments.get("batch_size"))
        bound.arguments["steps"] = min(wanted, _EVALUATION_STEPS, batches)
        if rows_of(data) is not None and not bound.arguments.get("batch_size"):
            bound.arguments["batch_size"] = DEFAULT_BATCH
        result = real(*bound.args, **bound.kwargs)
        return _as_long_as(result, data) if real.__name__ == "predict" else result

    return clamped


def _number_of_batches(data: Any, batch_size: int | None) -> int:
    rows = rows_of(data)
    if rows is not None:
        return max(1, -(-rows // (batch_size or DEFAULT_BATCH)))
    try:
        known = int(data.cardinality())
    except (AttributeError, TypeError):
        return _EVALUATION_STEPS
    return known if known > 0 else _EVALUATION_STEPS


def _as_long_as(result: Any, data: Any) -> Any:
    """Repeat predictions to one per row of `data`, so that the script can go on comparing them."""
    rows = rows_of(data)
    if isinstance(result, (list, tuple)):
        return type(result)(_as_long_as(part, data) for part in result)
    if isinstance(result, dict):
        return {name: _as_long_as(part, data) for name, part in result.items()}
    if rows is None or not isinstance(result, np.ndarray) or len(result) in (0, rows):
        return result
    return result[np.arange(rows) % len(result)]


def rows_of(data: Any) -> int | None:
    """The number of rows of arrays or tensors; None for datasets, generators and their like."""
    if isinstance(data, dict):
        data = next(iter(data.values()), None)
    elif isinstance(data, (list, tuple)) and data and hasattr(data[0], "shape"):
        data = data[0]
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) and shape[0] is not None else None
