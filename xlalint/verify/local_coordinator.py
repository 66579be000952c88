"""A coordinator without a cluster: `ClusterCoordinator` for programs whose ParameterServerStrategy is another strategy here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from xlalint.verify.patching import Patches


class RemoteValue:
    """What `schedule` returns: a result that is there already."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def fetch(self) -> Any:
        """The result as NumPy values."""
        return tf.nest.map_structure(
            lambda one: one.numpy() if hasattr(one, "numpy") else one, self._value
        )

    def get(self) -> Any:
        """The result as tensors."""
        return self._value


class ClusterCoordinator:
    """Runs each function when it is scheduled, on the one machine that there is."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy

    @property
    def strategy(self) -> Any:
        return self._strategy

    def schedule(
        self, fn: Any, args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None
    ) -> RemoteValue:
        if not callable(fn):
            raise TypeError(f"`schedule` takes a function, not {type(fn).__name__}")
        return RemoteValue(fn(*(args or ()), **(kwargs or {})))

    def join(self) -> None:
        pass

    def done(self) -> bool:
        return True

    def create_per_worker_dataset(self, dataset_fn: Any) -> Any:
        """The dataset itself: this machine is the only worker."""
        return dataset_fn() if callable(dataset_fn) else dataset_fn

    def fetch(self, val: Any) -> Any:
        return tf.nest.map_structure(
            lambda one: one.fetch() if isinstance(one, RemoteValue) else one, val
        )


def replace(tensorflow: Any, patches: Patches) -> None:
    """Put it in the place of TensorFlow's, which takes no other strategy than ParameterServerStrategy."""
    for owner in (tensorflow.distribute, tensorflow.distribute.experimental):
        patches.put_if_present(
            getattr(owner, "coordinator", None), "ClusterCoordinator", ClusterCoordinator
        )
