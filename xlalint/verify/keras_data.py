"""One batch of the data that was given to Keras's `fit`, as its train step receives it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

_DEFAULT_BATCH = 32


def example_batch(arguments: Mapping[str, Any], spec: Any) -> Any:
    """A batch with the structure, dtypes and static sizes of `spec`, which the step was traced with.

    `arguments` are those of `fit` or `evaluate`. None where no such batch can be had: generators
    are used up, and what Keras adds to the data (class weights) is not repeated here.
    """
    try:
        batch = _first_batch(arguments)
        return None if batch is None else _fitted(batch, spec)
    except (
        Exception
    ):  # the user's pipeline runs here, and may raise anything; there is no batch then
        return None


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


def _fitted(batch: Any, spec: Any) -> Any:
    tf = importlib.import_module("tensorflow")
    leaves, specs = tf.nest.flatten(batch), tf.nest.flatten(spec)
    if len(leaves) != len(specs):
        return None
    fitted = [_fitted_leaf(tf, leaf, one) for leaf, one in zip(leaves, specs, strict=True)]
    return tf.nest.pack_sequence_as(spec, fitted)


def _fitted_leaf(tf: Any, leaf: Any, spec: Any) -> Any:
    tensor = tf.convert_to_tensor(leaf)
    tensor = tensor if tensor.dtype == spec.dtype else tf.cast(tensor, spec.dtype)
    if spec.shape.rank == tensor.shape.rank + 1:
        tensor = tf.expand_dims(tensor, -1)  # Keras makes columns of vectors
    rows = spec.shape[0] if spec.shape.rank else None
    if rows is not None:
        tensor = tensor[:rows]  # a replica's share of the global batch
    spec.shape.assert_is_compatible_with(tensor.shape)
    return tensor
