"""Results as arrays, and tensors moved by their last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_LAST_BIT = {"bfloat16": 2.0**-8, "float16": 2.0**-10, "float64": 2.0**-52}


@dataclass(frozen=True, slots=True)
class Result:
    """What a program returned, as arrays; `gradients` are those that it applied."""

    outputs: list[Any]
    gradients: list[Any]


def on_host(result: Any) -> Result:
    """The arrays of a result: outputs, and gradients where the program was listened to."""
    if isinstance(result, dict) and set(result) == {"outputs", "gradients"}:
        return Result(_arrays(result["outputs"]), _arrays(result["gradients"]))
    return Result(_arrays(result), [])


def _arrays(structure: Any) -> list[Any]:
    leaves = tf.nest.flatten(structure, expand_composites=True)
    tensors = [
        leaf
        for leaf in leaves
        if (tf.is_tensor(leaf) and leaf.dtype not in (tf.resource, tf.variant))
        or isinstance(leaf, (np.ndarray, np.generic, float, int))
    ]
    return [array(tensor) for tensor in tensors]


def array(value: Any) -> Any:
    """A tensor or number as an array: NumPy alone fails on a single bfloat16."""
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(array(left), array(right)))


def nudged(tensor: Any, seed: int = 0) -> Any:
    """`tensor` with every float one bit up or down, so that what is equal by chance is so no more."""
    if not tensor.dtype.is_floating:
        return tensor
    step = _LAST_BIT.get(tensor.dtype.name, 2.0**-23)
    signs = np.random.default_rng(seed).choice([-step, step], size=tuple(tensor.shape))
    return tensor * tf.cast(1.0 + signs, tensor.dtype)


def all_nudged(tensors: Sequence[Any]) -> list[Any]:
    return [nudged(tensor, index) for index, tensor in enumerate(tensors)]


def are_uniform(tensors: Sequence[Any]) -> bool:
    """Has each tensor of several numbers one value only? What goes to the wrong place is then not seen."""
    several = [np.asarray(one) for one in tensors if one.shape.num_elements() != 1]
    return bool(several) and all(np.unique(array).size <= 1 for array in several)
