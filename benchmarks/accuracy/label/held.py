"""Objects of a package that hold tensors: the tensors become inputs of a call, and the objects are made around them."""

from __future__ import annotations

import copy
import types
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.composite_tensor import CompositeTensor

# What TensorFlow itself takes as an argument, and what may hold state that tracing must not copy.
_LEFT_ALONE = (type, tf.Module, tf.Tensor, types.FunctionType, types.ModuleType)


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor with a value, of a dtype that a compiled program may be given."""
    return (
        isinstance(value, tf.Tensor)
        and hasattr(value, "_numpy")
        and value.dtype not in (tf.variant, tf.resource)
    )


def is_composite(value: Any) -> bool:
    """Whether `value` is a sparse or ragged tensor."""
    return isinstance(value, (tf.SparseTensor, tf.RaggedTensor))


def held(value: Any, package: str) -> list[Any]:
    """The tensors that an object of the package holds; none of what is no such object."""
    if isinstance(value, _LEFT_ALONE) or is_composite(value) or isinstance(value, tf.Variable):
        return []
    try:
        if isinstance(value, CompositeTensor):
            return list(tf.nest.flatten(value, expand_composites=True))
        if _is_plain_object(value, package):
            return [t for t in tf.nest.flatten(list(vars(value).values())) if is_tensor(t)]
    except (TypeError, ValueError):
        return []
    return []


def holding(value: Any, tensors: Sequence[Any]) -> Any:
    """A copy of `value` that holds `tensors` in the place of those that `held` gives."""
    if isinstance(value, CompositeTensor):
        return tf.nest.pack_sequence_as(value, tensors, expand_composites=True)
    made, left = copy.copy(value), iter(tensors)
    for name, kept in vars(value).items():
        parts = tf.nest.flatten(kept)
        if any(map(is_tensor, parts)):
            changed = [next(left) if is_tensor(part) else part for part in parts]
            vars(made)[name] = tf.nest.pack_sequence_as(kept, changed)
    return made


def opened(results: Any, package: str) -> list[Any]:
    """The results of a call, objects of the package replaced by the tensors that they hold."""
    try:
        return [shown for result in tf.nest.flatten(results) for shown in _shown(result, package)]
    except (TypeError, ValueError):
        return []


def _shown(result: Any, package: str) -> Iterator[Any]:
    if isinstance(result, (*_LEFT_ALONE, CompositeTensor)) or not _is_plain_object(result, package):
        yield result
        return
    for part in tf.nest.flatten(list(vars(result).values())):
        if isinstance(part, (tf.Tensor, CompositeTensor)):
            yield part


def _is_plain_object(value: Any, package: str) -> bool:
    is_layer = isinstance(value, tf.keras.layers.Layer)
    return (
        type(value).__module__.split(".")[0] == package and hasattr(value, "__dict__")
    ) and not is_layer
