"""Describe and copy the arguments of a call: nested tuples, lists and dictionaries of tensors and others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlalint.verify import structure

# A call's tensors above this many bytes are described, not copied.
_MOST_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Arguments:
    """Copies; where `has_values` is false a spec stands for at least one tensor."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    has_values: bool


class _NoValue(Exception):  # noqa: N818 - control flow of this module
    """A tensor without a value: symbolic, or too large to copy."""


def describe(value: Any) -> Any:
    """`value` with a `tf.TensorSpec` for each tensor and array, a type spec for each composite."""
    return _map(_spec, value)


def keep(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """Copies of the tensors and arrays, in host memory; everything else by reference."""
    budget = [_MOST_BYTES]
    complete = [True]

    def copy(value: Any) -> Any:
        try:
            return _copy(value, budget)
        except _NoValue:
            complete[0] = False
            return _spec(value)

    kept_args, kept_kwargs = _map(copy, args), _map(copy, kwargs)
    return Arguments(kept_args, kept_kwargs, complete[0])


def identity(described: Any) -> object:
    """A hashable that is equal for calls that TensorFlow would serve with the same trace."""
    if isinstance(described, dict):
        return ("dict", *((str(name), identity(part)) for name, part in described.items()))
    if isinstance(described, (tuple, list)):
        return (type(described).__name__, *(identity(part) for part in described))
    if (parts := list(structure.leaves(described))) and parts[0][0]:
        fields = ((path, identity(leaf)) for path, leaf in parts)
        return (type(described).__name__, *fields)
    if isinstance(described, (bool, int, float, str, bytes, type(None))):
        return (type(described).__name__, described)
    if hasattr(described, "is_compatible_with"):  # specs
        return repr(described)
    return (type(described).__name__, id(described))


def _map(change: Callable[[Any], Any], value: Any) -> Any:
    """Every leaf changed; of a value per replica, replica 0's."""
    return structure.mapped(lambda leaf: _changed(change, leaf), value)


def _changed(change: Callable[[Any], Any], leaf: Any) -> Any:
    one = first_replica(leaf)
    return change(leaf) if one is leaf else _map(change, one)


def first_replica(value: Any) -> Any:
    """Replica 0's of a value per replica; any other value as it is."""
    if type(value).__name__ == "PerReplica" and hasattr(value, "values"):
        return value.values[0]
    return value


def _spec(value: Any) -> Any:
    tf = importlib.import_module("tensorflow")
    if isinstance(value, tf.Variable):
        return value
    if isinstance(value, tf.Tensor):
        return tf.TensorSpec(value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _array_spec(tf, value)
    if type(value).__name__ == "KerasTensor":
        return tf.TensorSpec(value.shape, value.dtype)
    if _is_composite(tf, value):
        return tf.type_spec_from_value(value)
    return value


def _array_spec(tf: Any, array: Any) -> Any:
    try:
        return tf.TensorSpec(array.shape, tf.as_dtype(array.dtype))
    except TypeError:  # an array of Python objects
        return array


def _copy(value: Any, budget: list[int]) -> Any:
    """A copy, or the object itself where it holds no tensor. Raises `_NoValue`."""
    tf = importlib.import_module("tensorflow")
    if isinstance(value, tf.Variable):
        return value
    if isinstance(value, tf.Tensor):
        return _copied_tensor(tf, value, budget)
    if isinstance(value, (np.ndarray, np.generic)):
        _spend(budget, value.nbytes)
        return value.copy()
    if type(value).__name__ == "KerasTensor":
        raise _NoValue
    if _is_composite(tf, value) and not _is_stateful(tf, value):
        parts = [_copy(part, budget) for part in tf.nest.flatten(value, expand_composites=True)]
        return tf.nest.pack_sequence_as(value, parts, expand_composites=True)
    return value


def _copied_tensor(tf: Any, tensor: Any, budget: list[int]) -> Any:
    if tensor.dtype in (tf.resource, tf.variant):
        return tensor  # a handle: it has no value of its own
    if not isinstance(tensor, tf.__internal__.EagerTensor):
        raise _NoValue
    array = tensor.numpy()
    _spend(budget, getattr(array, "nbytes", 0))
    # tf.constant may share memory with an array that it is given: hence an array of our own.
    with tf.init_scope(), tf.device("/cpu:0"):
        return tf.constant(np.array(array), tensor.dtype)


def _spend(budget: list[int], size: int) -> None:
    budget[0] -= size
    if budget[0] < 0:
        raise _NoValue


def _is_composite(tf: Any, value: Any) -> bool:
    return isinstance(value, tf.__internal__.CompositeTensor)


def _is_stateful(tf: Any, value: Any) -> bool:
    """Datasets and iterators: copying would run them."""
    return isinstance(
        value, (tf.data.Dataset, tf.data.Iterator, tf.distribute.DistributedIterator)
    ) or type(value).__name__.startswith("Distributed")
