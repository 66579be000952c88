"""Strategies that a script can be trained under on a machine with one CPU.

`prepare` before TensorFlow starts its runtime, `make` after, `run_scoped` to run a script that
names no strategy under one, `check` to see whether the replicas still agree. Compiling by XLA works
under `none`, `one-device` and `tpu`; on CPUs a program for several real replicas cannot be
compiled (their variables live on different devices), so under the others steps run uncompiled, which
shows mistakes of aggregation and of replica context all the same. `multi-worker` and
`parameter-server` find their cluster in $TF_CONFIG (`clusters`).
"""

from __future__ import annotations

import gc
import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlalint.verify import choices, jobs, standin
from xlalint.verify.steps import StepsDone


class StrategyUnavailable(Exception):  # noqa: N818 - a state of the world, not a bug
    """The strategy cannot be had here; the message says why and what can be done."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A variable whose replicas hold different values: `difference` is the largest absolute one.

    It is NaN where one replica holds a NaN that another does not. Only of a trainable variable is it
    a mistake: Keras 3's BatchNormalization keeps moving averages of each replica's own batches.
    """

    variable: str
    difference: float
    is_trainable: bool


@dataclass(frozen=True, slots=True)
class ScopedRun:
    """How a script ended under a strategy.

    `is_complete` is false where training was stopped by `StepsDone`. `disagreements` are by
    variable, `unusable_losses` by step, counted from 1: NaN or infinite.
    """

    strategy: Any
    is_complete: bool
    variables_compared: int
    disagreements: tuple[Disagreement, ...]
    unusable_losses: tuple[int, ...]


def prepare(name: str, devices: int = 2) -> None:
    """Set TensorFlow up for a strategy; call it before anything runs an operation or asks for devices.

    Splits the CPU in `devices` virtual ones for `mirrored` and `central-storage`; the others need
    nothing. Raises `StrategyUnavailable` where TensorFlow's runtime has started with another number
    of devices, and `ValueError` for an unknown name or a number of devices outside 2 to 8.
    """
    choices.check(name, devices)
    if name not in (jobs.MIRRORED, jobs.CENTRAL_STORAGE):
        return
    tf = importlib.import_module("tensorflow")
    cpu = tf.config.list_physical_devices("CPU")[0]
    virtual = [tf.config.LogicalDeviceConfiguration() for _ in range(devices)]
    try:
        tf.config.set_logical_device_configuration(cpu, virtual)
    except RuntimeError as error:
        if len(tf.config.list_logical_devices("CPU")) < devices:
            raise StrategyUnavailable(
                f"{name} needs {devices} virtual CPUs, and TensorFlow's runtime has started already"
            ) from error


def make(name: str, devices: int = 2) -> Any:
    """A strategy by name, None for `none`.

    `devices` are virtual CPUs for `mirrored` and `central-storage`, replicas for `tpu` (the
    stand-in, which `make` installs unless it is); the cluster of `multi-worker` and `parameter-server` is that of $TF_CONFIG,
    whose processes must run by now. Raises `StrategyUnavailable`, and `ValueError` for an unknown name.
    """
    choices.check(name, devices)
    makers: dict[str, Callable[[int], Any]] = {
        jobs.AS_IS: lambda _: None,
        jobs.ONE_DEVICE: _one_device,
        jobs.MIRRORED: _mirrored,
        jobs.MULTI_WORKER: _multi_worker,
        jobs.CENTRAL_STORAGE: _central_storage,
        jobs.PARAMETER_SERVER: _parameter_server,
        jobs.STANDIN: _tpu,
    }
    try:
        return makers[name](devices)
    except (RuntimeError, ValueError, AttributeError) as error:
        raise StrategyUnavailable(f"{name}: {error}") from error


def run_scoped(
    strategy: Any, script: Callable[[], object], losses: Sequence[float | None] = ()
) -> ScopedRun:
    """Run `script` inside the strategy's scope, then `check` what it left.

    For scripts that name no strategy and train with Keras's `fit`: models made inside belong to the
    strategy. A script that enters a strategy of its own, or applies gradients in a loop of its own,
    gets TensorFlow's error for that. `losses` may be a list that fills while the script runs.
    `StepsDone` ends the run as asked; whatever else the script raises passes through.
    """
    scope = strategy.scope() if strategy is not None else None
    # Kept in names of this frame: Keras remembers the scope a model was made in, and TensorFlow
    # forgets a strategy that nobody holds.
    if scope is not None:
        scope.__enter__()
    is_complete = True
    try:
        script()
    except StepsDone:
        is_complete = False
    finally:
        if scope is not None:
            scope.__exit__(None, None, None)
    compared, disagreements = check(strategy)
    return ScopedRun(strategy, is_complete, compared, disagreements, unusable(losses))


def check(strategy: Any) -> tuple[int, tuple[Disagreement, ...]]:
    """How many mirrored variables of `strategy` were compared, and those whose replicas differ.

    The same update reaches every replica, so they must be equal bit by bit.
    """
    if strategy is None:
        return 0, ()
    mirrored = variables(strategy)
    found = [_disagreement(variable) for variable in mirrored]
    return len(mirrored), tuple(one for one in found if one is not None)


def not_numbers(strategy: Any) -> tuple[str, ...]:
    """The names of mirrored variables that hold a NaN or an infinity on some replica."""
    return tuple(
        str(variable.name)
        for variable in variables(strategy)
        if any(
            _is_floating(array) and not np.isfinite(array.astype(float)).all()
            for array in (np.asarray(replica.numpy()) for replica in variable.values)
        )
    )


def unusable(losses: Sequence[float | None]) -> tuple[int, ...]:
    """The steps, counted from 1, whose loss is NaN or infinite."""
    return tuple(
        index
        for index, loss in enumerate(losses, start=1)
        if loss is not None and not math.isfinite(loss)
    )


def _one_device(_: int) -> Any:
    return importlib.import_module("tensorflow").distribute.OneDeviceStrategy("/cpu:0")


def _mirrored(devices: int) -> Any:
    tf = importlib.import_module("tensorflow")
    return tf.distribute.MirroredStrategy(
        _virtual_cpus(tf, devices),
        # NCCL is for GPUs; the default would warn of that at each reduction.
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )


def _central_storage(devices: int) -> Any:
    tf = importlib.import_module("tensorflow")
    names = _virtual_cpus(tf, devices)
    # The compute devices' argument and its default differ by version; by place they do not.
    return tf.distribute.experimental.CentralStorageStrategy(names, names[0])


def _multi_worker(_: int) -> Any:
    return importlib.import_module("tensorflow").distribute.MultiWorkerMirroredStrategy()


def _parameter_server(_: int) -> Any:
    tf = importlib.import_module("tensorflow")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    # Public without `experimental` from TensorFlow 2.13 only.
    owner = next(
        one
        for one in (tf.distribute, tf.distribute.experimental)
        if hasattr(one, "ParameterServerStrategy")
    )
    return owner.ParameterServerStrategy(resolver)


def _tpu(replicas: int) -> Any:
    tf = importlib.import_module("tensorflow")
    if tf.distribute.TPUStrategy.__module__.startswith("xlalint."):
        return tf.distribute.TPUStrategy()
    try:
        return standin.install(replicas).strategy()
    except standin.StandinUnavailable as error:
        raise StrategyUnavailable(str(error)) from error


def _virtual_cpus(tf: Any, devices: int) -> list[str]:
    names = [device.name for device in tf.config.list_logical_devices("CPU")]
    if len(names) < devices:
        raise StrategyUnavailable(
            f"{devices} virtual CPUs are needed and there are {len(names)}: call prepare() first"
        )
    return names[:devices]


def variables(strategy: Any) -> list[Any]:
    """The strategy's variables that must be equal on every replica and worker, in the order in which they were made."""
    try:
        mirrored_class = standin.private("tensorflow.python.distribute.values", "MirroredVariable")
    except standin.StandinUnavailable:
        return []
    found = [
        candidate
        for candidate in gc.get_objects()
        if isinstance(candidate, mirrored_class) and candidate.distribute_strategy is strategy
    ]
    return sorted(found, key=_age)


def _age(variable: Any) -> tuple[int, str]:
    """TensorFlow numbers what it makes: `dense/kernel_12`."""
    number = str(getattr(variable, "_unique_id", "")).rpartition("_")[2]
    return (int(number) if number.isdecimal() else 0, str(variable.name))


def _disagreement(variable: Any) -> Disagreement | None:
    first, *others = (np.asarray(replica.numpy()) for replica in variable.values)
    is_floating = _is_floating(first)
    if all(np.array_equal(first, other, equal_nan=is_floating) for other in others):
        return None
    difference = math.nan
    if is_floating or first.dtype.kind in "iu":
        gaps = [np.abs(first.astype(float) - other.astype(float)) for other in others]
        difference = float(np.max(gaps))
    return Disagreement(str(variable.name), difference, bool(variable.trainable))


def _is_floating(array: Any) -> bool:
    return bool(array.dtype.kind == "f" or array.dtype.name == "bfloat16")
