"""A batch with values for a step that was only ever traced, from the data that feeds it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from xlalint.verify.arguments import first_replica

_DEFAULT_BATCH = 32


def batch_of_fit(arguments: Mapping[str, Any], specs: Any) -> Any:
    """A batch with the structure, dtypes and static sizes of `specs`, which the step was traced with.

    `arguments` are those of `fit` or `evaluate`. None where no such batch can be had: generators
    are used up, and what Keras adds to the data (class weights) is not repeated here.
    """
    return _batch(lambda: _first_batch(arguments), specs)


def batch_of_source(source: Any, specs: Any) -> Any:
    """The next batch of an iterator, or the first of a dataset, shaped as `specs`; None as above."""
    return _batch(lambda: next(iter(source)), specs)


def batch_of_caller(args: Any, specs: Any) -> Any:
    """The arguments that a tf.function was called with, where it hands the same on; None as above."""
    return _batch(lambda: args, specs)


def is_source(value: Any) -> bool:
    """Is it a dataset or an iterator of one, distributed or not?"""
    tf = importlib.import_module("tensorflow")
    kinds = (tf.data.Dataset, tf.data.Iterator, tf.distribute.DistributedIterator)
    return isinstance(value, kinds) or type(value).__name__.startswith("DistributedDataset")


def _batch(draw: Callable[[], Any], specs: Any) -> Any:
    try:
        batch = draw()
        return None if batch is None else _fitted(batch, specs)
    except Exception:
        return None  # the user's pipeline runs here, and may raise anything


def _first_batch(arguments: Mapping[str, Any]) -> Any:
    tf = importlib.import_module("tensorflow")
    x: Any = arguments.get("x")
    if isinstance(x, tf.data.Dataset):
        return next(iter(x))
    if hasattr(x, "__getitem__") and hasattr(x, "__len__") and not _is_array_like(x):
        return x[0]  # a keras Sequence or PyDataset
    if not _is_array_like(x):
        return None
    size = arguments.get("batch_size") or _DEFAULT_BATCH
    parts = [arguments.get(name) for name in ("x", "y", "sample_weight")]
    while parts and parts[-1] is None:
        parts.pop()
    batch = tuple(tf.nest.map_structure(lambda array: array[:size], part) for part in parts)
    return batch if len(batch) > 1 or isinstance(batch[0], (tuple, list)) else batch[0]


def _is_array_like(x: Any) -> bool:
    tf = importlib.import_module("tensorflow")
    leaves = tf.nest.flatten(x)
    return bool(leaves) and all(hasattr(leaf, "shape") for leaf in leaves)


def _fitted(batch: Any, specs: Any) -> Any:
    tf = importlib.import_module("tensorflow")
    leaves, parts = tf.nest.flatten(batch), tf.nest.flatten(specs)
    if len(leaves) != len(parts) or not all(isinstance(one, tf.TensorSpec) for one in parts):
        return None
    fitted = [_fitted_leaf(tf, leaf, one) for leaf, one in zip(leaves, parts, strict=True)]
    return tf.nest.pack_sequence_as(specs, fitted)


def _fitted_leaf(tf: Any, leaf: Any, spec: Any) -> Any:
    tensor = tf.convert_to_tensor(first_replica(leaf))
    tensor = tensor if tensor.dtype == spec.dtype else tf.cast(tensor, spec.dtype)
    if spec.shape.rank == tensor.shape.rank + 1:
        tensor = tf.expand_dims(tensor, -1)  # Keras makes columns of vectors
    rows = spec.shape[0] if spec.shape.rank else None
    if rows is not None:
        tensor = tensor[:rows]  # a replica's share of the global batch
    spec.shape.assert_is_compatible_with(tensor.shape)
    return tensor
