"""The stand-in's strategy. Imported by `standin.install` only: it needs TensorFlow as it is defined.

Every private name of TensorFlow goes through `private`, which says what is missing. They are the
names under which TPUStrategy itself is written, and the same from TensorFlow 2.12 to 2.21.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from xlalint.verify.sites import user_site
from xlalint.verify.standin import Event, Program, private

_DISTRIBUTE = "tensorflow.python.distribute."
_OneDeviceExtended = private(_DISTRIBUTE + "one_device_strategy", "OneDeviceExtended")
_distributed_datasets_from_function = private(
    _DISTRIBUTE + "input_util", "get_distributed_datasets_from_function"
)
_RebatchDataset = private(
    "tensorflow.python.data.experimental.ops.distribute", "_LegacyRebatchDataset"
)
_PerReplica = private(_DISTRIBUTE + "values", "PerReplica")
_regroup = private(_DISTRIBUTE + "distribute_utils", "regroup")
_select_replica = private(_DISTRIBUTE + "distribute_utils", "select_replica")
_validate_run_function = private(_DISTRIBUTE + "tpu_strategy", "validate_run_function")
_check_input_spec = private(_DISTRIBUTE + "tpu_strategy", "TPUExtended")._check_spec
_tf_convert = private("tensorflow.python.autograph.impl.api", "tf_convert")
_autograph_status = private("tensorflow.python.autograph.core.ag_ctx", "control_status_ctx")
_ALL_REDUCE_SINCE = (2, 16)


@dataclass(slots=True)
class Sums:
    """How sums over replicas are made: replica 0's value times their number, as on the one device that runs here, or,
    while a program is traced for `chips` replicas of its own, by all-reduces between them."""

    chips: int = 0


@dataclass(frozen=True, slots=True)
class Watch:
    """How many replicas to report, how to sum over them, and where to tell what was seen."""

    replicas: int
    sums: Sums
    note: Callable[[Event], None]
    keep: Callable[[Program], None]

    def event(self, kind: str, detail: str) -> None:
        path, line = user_site()
        self.note(Event(kind, detail, path, line))


class _ReplicaContext(tf.distribute.ReplicaContext):  # type: ignore[misc]
    """Replica 0's context. As on a TPU the replica's number is a tensor, not a Python int."""

    def __init__(self, strategy: Any) -> None:
        super().__init__(strategy, replica_id_in_sync_group=tf.constant(0, tf.int32))

    @property
    def devices(self) -> Sequence[str]:
        return tuple(self._strategy.extended.worker_devices)


class _Extended(_OneDeviceExtended):  # type: ignore[misc, valid-type]
    """One device that feeds and reports `watch.replicas` replicas."""

    def __init__(self, container: Any, watch: Watch) -> None:
        super().__init__(container, "/cpu:0")
        self._watch = watch
        # Both as TPUExtended sets them: Keras and tf.data read them.
        self._require_static_shapes = True
        self.experimental_enable_get_next_as_optional = True

    _check_spec = _check_input_spec

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._watch.replicas

    @property
    def num_hosts(self) -> int:
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        return self._watch.replicas

    @property
    def tpu_hardware_feature(self) -> None:
        return None

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, _PerReplica):
            return tuple(value.values)
        if tf.nest.is_nested(value):
            return tuple(_select_replica(index, value) for index in range(self._watch.replicas))
        return (value,)

    def _experimental_distribute_dataset(self, dataset: Any, options: Any) -> Any:
        _refuse_per_replica(options)
        if options is None or options.experimental_fetch_to_device:
            self._check_spec(dataset.element_spec)
        self._note_batch(dataset.element_spec)
        # An iterator per replica would be TensorFlow's way; on a machine with few cores eight of them
        # wait for each other for minutes. So: split each global batch, and keep replica 0's share.
        share = _split(dataset, self._watch.replicas).shard(self._watch.replicas, 0)
        return super()._experimental_distribute_dataset(share, options)

    def _distribute_datasets_from_function(self, dataset_fn: Any, options: Any) -> Any:
        _refuse_per_replica(options)
        distributed = _distributed_datasets_from_function(
            dataset_fn,
            self._input_workers_with_options(options),
            [tf.distribute.InputContext(1, 0, self._watch.replicas)],
            self._container_strategy(),
            options=options,
        )
        if options is None or options.experimental_fetch_to_device:
            self._check_spec(distributed.element_spec)
        return distributed

    def _note_batch(self, element_spec: Any) -> None:
        """Tell of a batch whose size is unknown, or does not split evenly."""
        sizes = [_leading_size(spec) for spec in tf.nest.flatten(element_spec)]
        if any(size is None for size in sizes):
            shapes = dict.fromkeys(str(spec.shape) for spec in tf.nest.flatten(element_spec))
            self._watch.event("dynamic-batch", f"the batch size is not static: {', '.join(shapes)}")
        uneven = next((size for size in sizes if size and size % self._watch.replicas), None)
        if uneven is not None:
            detail = f"a batch of {uneven} does not split over {self._watch.replicas} replicas"
            self._watch.event("batch-not-divisible", detail)

    def _experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        count = self._watch.replicas
        contexts = [tf.distribute.experimental.ValueContext(index, count) for index in range(count)]
        return _regroup([value_fn(context) for context in contexts], always_wrap=True)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        is_sum = reduce_op == tf.distribute.ReduceOp.SUM
        return tf.nest.map_structure(lambda part: self._reduce_one(part, is_sum), value)

    def _reduce_one(self, value: Any, is_sum: bool) -> Any:
        if isinstance(value, _PerReplica):
            if _has_equal_replicas(value):
                return self._reduce_one(value.values[0], is_sum)
            return _reduce_different(value.values, is_sum)
        if self._watch.sums.chips and not tf.executing_eagerly():
            return _all_reduced(value, self._watch.sums.chips, is_sum)
        return _times(value, self._watch.replicas) if is_sum else value

    def _gather_to_implementation(
        self, value: Any, destinations: Any, axis: int, options: Any
    ) -> Any:
        parts = value.values if isinstance(value, _PerReplica) else [value] * self._watch.replicas
        return tf.concat(parts, axis)

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        strategy = self._container_strategy()
        first_args, first_kwargs = _select_replica(0, args), _select_replica(0, kwargs)
        with tf.device(self._device), _ReplicaContext(strategy):
            return fn(*first_args, **first_kwargs)


class TPUStrategy(tf.distribute.Strategy):  # type: ignore[misc]
    """`tf.distribute.TPUStrategy` without a TPU.

    Keras knows a TPU strategy by its class's name, hence the name. `bind` makes the class that
    scripts see.
    """

    _watch: Watch

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        super().__init__(_Extended(self, self._watch))
        self._resolver = tpu_cluster_resolver
        self._compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        for name, value in (
            ("experimental_device_assignment", experimental_device_assignment),
            ("experimental_spmd_xla_partitioning", experimental_spmd_xla_partitioning),
        ):
            if value:
                detail = f"TPUStrategy({name}=...) is ignored: one core stands for each replica"
                self._watch.event("unsupported-argument", detail)

    @property
    def cluster_resolver(self) -> Any:
        return self._resolver

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Run `fn` as one program compiled by XLA, whatever `jit_compile` the user asked for."""
        _validate_run_function(fn)
        kwargs = kwargs or {}
        with self.scope():
            first_args, first_kwargs = _select_replica(0, args), _select_replica(0, kwargs)
            compiled = self._program(fn, first_args, first_kwargs)
            result = compiled(*first_args, **first_kwargs)
        return tf.nest.map_structure(self._for_all_replicas, result)

    def _program(self, fn: Any, args: Any, kwargs: Any) -> Any:
        # As TPUStrategy does: kept per function in eager code, inlined anew in a traced function.
        if tf.executing_eagerly() and fn in self._compiled:
            return self._compiled[fn]
        compiled = self._compile(fn)
        self._watch.keep(
            Program(_name(fn), fn, compiled, tuple(_specs(list(args))), dict(_specs(kwargs)))
        )
        if tf.executing_eagerly():
            self._compiled[fn] = compiled
        return compiled

    def _compile(self, fn: Any) -> Any:
        converted = _tf_convert(fn, _autograph_status())
        strategy = weakref.proxy(self)

        def replica(*args: Any, **kwargs: Any) -> Any:
            with strategy.scope():
                return strategy.extended._call_for_each_replica(converted, args, kwargs)

        replica.__name__ = _name(fn)
        return tf.function(replica, jit_compile=True, autograph=False)

    def _for_all_replicas(self, value: Any) -> Any:
        return _PerReplica((value,) * self._watch.replicas) if tf.is_tensor(value) else value


class _BesideExtended(_Extended):
    """For a program that names no strategy: variables that it made count as made for this one."""

    def variable_created_in_scope(self, v: Any) -> bool:
        return True

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        return


class Beside(tf.distribute.Strategy):  # type: ignore[misc]
    """Replicas for a program that runs without any: only traced under, and no TPUStrategy for Keras, which would want
    metrics made in its scope."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(_BesideExtended(self, watch))

    def as_replica(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, called as one replica of several."""

        def call(*args: Any) -> Any:
            with self.scope():
                return self.extended._call_for_each_replica(function, args, {})

        return call


def bind(watch: Watch) -> type[TPUStrategy]:
    """The strategy class that reports to `watch`; its name and signature are TensorFlow's own."""

    class Bound(TPUStrategy):
        _watch = watch

    # AutoGraph converts what a converted step calls, unless TensorFlow's own modules define it.
    TPUStrategy.run.__module__ = "tensorflow.python.distribute.tpu_strategy"

    return _named(Bound)


def bind_experimental(strategy_class: type[TPUStrategy]) -> type[TPUStrategy]:
    """`tf.distribute.experimental.TPUStrategy`, gone from the guides and still in old scripts."""

    class Experimental(strategy_class):  # type: ignore[misc, valid-type]
        def __init__(
            self,
            tpu_cluster_resolver: Any = None,
            steps_per_run: Any = None,
            device_assignment: Any = None,
        ) -> None:
            super().__init__(tpu_cluster_resolver, device_assignment)

    return _named(Experimental)


def _refuse_per_replica(options: Any) -> None:
    """As TPUExtended does."""
    per_replica = tf.distribute.InputReplicationMode.PER_REPLICA
    if options is not None and options.experimental_replication_mode == per_replica:
        raise NotImplementedError(
            "InputReplicationMode.PER_REPLICA is only supported in "
            "`experimental_distribute_datasets_from_function` of tf.distribute.MirroredStrategy"
        )


def _named(cls: type[Any]) -> type[Any]:
    cls.__name__ = cls.__qualname__ = "TPUStrategy"
    return cls


def _name(fn: Any) -> str:
    return str(getattr(fn, "__name__", None) or type(fn).__name__)


def _specs(values: Any) -> Any:
    return tf.nest.map_structure(
        lambda value: (
            tf.TensorSpec(value.shape, value.dtype)
            if isinstance(value, tf.Tensor) and not isinstance(value, tf.Variable)
            else value
        ),
        values,
    )


def _split(dataset: Any, replicas: int) -> Any:
    """A dataset of replicas' batches, `replicas` for each batch of `dataset`, of static size if even."""
    sizes = {_leading_size(spec) for spec in tf.nest.flatten(dataset.element_spec)} - {0}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is not None and size % replicas == 0:
        split = dataset.rebatch(size // replicas, drop_remainder=True)
    else:
        split = _RebatchDataset(dataset, replicas)
    if int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
        # Rebatching forgets it, and only of endless data does an iterator give static shapes always.
        return split.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    return split


def _leading_size(spec: Any) -> int | None:
    """The batch size that a spec states; 0 for a spec without a batch dimension."""
    shape = getattr(spec, "shape", None)
    if shape is None or shape.rank == 0:
        return 0
    return None if shape.rank is None else shape[0]


def _has_equal_replicas(value: Any) -> bool:
    """Is it a result of `run`, in which replica 0 stands for all?"""
    return all(part is value.values[0] for part in value.values)


def _reduce_different(values: Sequence[Any], is_sum: bool) -> Any:
    """Reduce what differs by replica: a batch, or `experimental_distribute_values_from_function`."""
    total = tf.add_n(list(values))
    return total if is_sum else total / tf.cast(len(values), total.dtype)


def _all_reduced(value: Any, chips: int, is_sum: bool) -> Any:
    # As TPUStrategy does, which sums the gradient of an embedding as a whole table.
    tensor = tf.convert_to_tensor(value)
    total = _all_reduce(tensor, chips) if chips > 1 else tensor
    return total if is_sum else total / tf.cast(chips, total.dtype)


def _all_reduce(tensor: Any, chips: int) -> Any:
    """By XLA's own operation; TensorFlow 2.15 and older have no kernel for it on the CPU that lowers here, and one for this."""
    if tuple(int(part) for part in tf.__version__.split(".")[:2]) < _ALL_REDUCE_SINCE:
        return tf.raw_ops.CollectiveReduceV2(
            input=tensor,
            group_size=chips,
            group_key=1,
            instance_key=1,
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
        )
    groups = tf.constant([list(range(chips))], tf.int32)
    all_reduce = private("tensorflow.compiler.tf2xla.ops.gen_xla_ops", "xla_all_reduce")
    return all_reduce(tensor, groups, reduce_op="Add", mode="CrossReplica")


def _times(value: Any, count: int) -> Any:
    if isinstance(value, tf.IndexedSlices):
        scaled = value.values * tf.cast(count, value.values.dtype)
        return tf.IndexedSlices(scaled, value.indices, value.dense_shape)
    tensor = tf.convert_to_tensor(value)
    return tensor if tensor.dtype == tf.string else tensor * tf.cast(count, tensor.dtype)
