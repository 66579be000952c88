"""Give the steps of a training loop that names no strategy to the replicas of ours, each with its share of the batch.

The loop goes on calling its tf.functions; each call from eager code becomes `strategy.run` (or, where there are parameter
servers, `ClusterCoordinator.schedule`), and the loop sees one result again: the mean of scalars, the parts of batches end to
end. That is what a guide would have the author write, done without touching the files.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from xlalint.verify.patching import Patches
from xlalint.verify.sites import is_user_file, real_path
from xlalint.verify.targets import code_of


class Driver:
    """Drives every tf.function of the user's from now on. `driven` names those that ran on the replicas."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._has_servers = hasattr(strategy, "_cluster_coordinator")
        self._coordinator: Any = None
        self._is_driving = False
        self._scheduled: dict[int, Any] = {}
        self.driven: list[str] = []
        Patches().wrap(type(tf.function(lambda: None)), "__call__", self._wrap)

    def _wrap(self, call: Any) -> Any:
        @functools.wraps(call)
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self._is_driving or not self._is_step(function):
                return call(function, *args, **kwargs)
            self._is_driving = True
            try:
                return (
                    self._on_servers(function, args, kwargs)
                    if self._has_servers
                    else self._on_replicas(function, args, kwargs)
                )
            finally:
                self._is_driving = False

        return __call__

    def _is_step(self, function: Any) -> bool:
        code = code_of(function)
        return (
            tf.executing_eagerly()
            and tf.distribute.in_cross_replica_context()
            and code is not None
            and is_user_file(real_path(code.co_filename))
        )

    def _on_replicas(self, function: Any, args: Any, kwargs: Any) -> Any:
        is_first = self._note(function)
        size = _batch_size((args, kwargs))
        share = functools.partial(self._share, size=size)
        shared_args, shared_kwargs = tf.nest.map_structure(share, (args, kwargs))
        # Variables that a model makes in its first step cannot be made in a graph for several devices.
        if is_first:
            tf.config.run_functions_eagerly(True)
        try:
            result = self._strategy.run(function, args=shared_args, kwargs=shared_kwargs)
        finally:
            if is_first:
                tf.config.run_functions_eagerly(False)
        return tf.nest.map_structure(self._merged, result)

    def _on_servers(self, function: Any, args: Any, kwargs: Any) -> Any:
        self._note(function)
        if self._coordinator is None:
            owner = getattr(tf.distribute, "coordinator", tf.distribute.experimental.coordinator)
            self._coordinator = owner.ClusterCoordinator(self._strategy)
        scheduled = self._scheduled.setdefault(id(function), self._in_replica(function))
        result = self._coordinator.schedule(scheduled, args, kwargs)
        self._coordinator.join()
        return tf.nest.map_structure(tf.convert_to_tensor, result.fetch())

    def _in_replica(self, function: Any) -> Any:
        """`function` as a guide has a scheduled one: what trains runs in a replica's context."""

        def replica_step(*args: Any, **kwargs: Any) -> Any:
            return self._strategy.run(function, args, kwargs)

        return tf.function(replica_step, autograph=False)

    def _note(self, function: Any) -> bool:
        """Is it the first call of this function?"""
        name = str(getattr(function, "__name__", "function"))
        if name in self.driven:
            return False
        self.driven.append(name)
        return True

    def _share(self, value: Any, size: int | None) -> Any:
        """Each replica's part of a batch; whatever is no batch goes to every replica as it is."""
        replicas = self._strategy.num_replicas_in_sync
        if size is None or size < replicas or _leading(value) != size:
            return value
        bounds = [index * size // replicas for index in range(replicas + 1)]

        def part(context: Any) -> Any:
            index = context.replica_id_in_sync_group
            return tf.convert_to_tensor(value[bounds[index] : bounds[index + 1]])

        return self._strategy.experimental_distribute_values_from_function(part)

    def _merged(self, value: Any) -> Any:
        parts = self._strategy.experimental_local_results(value)
        if len(parts) == 1 or not all(tf.is_tensor(part) for part in parts):
            return parts[0]
        if parts[0].shape.rank:
            same = all(part.shape[1:] == parts[0].shape[1:] for part in parts)
            return tf.concat(parts, 0) if same else parts[0]
        return tf.add_n(parts) / len(parts) if parts[0].dtype.is_floating else parts[0]


def _batch_size(arguments: Any) -> int | None:
    """The leading dimension of the first array among the arguments."""
    sizes = (_leading(value) for value in tf.nest.flatten(arguments))
    return next((size for size in sizes if size is not None), None)


def _leading(value: Any) -> int | None:
    shape = getattr(value, "shape", None)
    if (
        isinstance(value, tf.Variable)
        or shape is None
        or not hasattr(value, "dtype")
        or not len(shape)
    ):
        return None
    return int(shape[0])
