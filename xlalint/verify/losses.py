"""Find the loss in what a train step returned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_NAMES = ("loss", "total_loss", "train_loss")


def find_loss(result: Any) -> float | None:
    """The entry called loss, else the first floating-point scalar; None where there is neither."""
    for value in (*_named(result), *_flat(result)):
        found = scalar(value)
        if found is not None:
            return found
    return None


def scalar(value: Any) -> float | None:
    """A floating-point scalar's value; of a value per replica, replica 0's.

    None for anything else, and for symbolic tensors, which have no value yet.
    """
    if isinstance(value, float):
        return value
    array = _floating_array(value)
    return float(array) if array is not None and array.ndim == 0 else None


def mean(value: Any) -> float | None:
    """As `scalar`, and the mean of a tensor of losses by example."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    array = _floating_array(value)
    return float(array.mean()) if array is not None and array.size else None


def mean_before(mean: float, count: int, previous: float | None, previous_count: int) -> float:
    """The mean of the last `count - previous_count` values, from the running means before and after."""
    if previous is None or previous_count == 0 or not math.isfinite(previous):
        return mean
    return (mean * count - previous * previous_count) / (count - previous_count)


def _named(result: Any) -> Iterable[Any]:
    parts = result if isinstance(result, (tuple, list)) else (result,)
    for part in parts:
        if isinstance(part, Mapping):
            yield from (part[name] for name in _NAMES if name in part)
        else:
            yield from (getattr(part, name) for name in _NAMES if name in _fields(part))


def _fields(value: Any) -> tuple[str, ...]:
    return tuple(getattr(value, "_fields", ()))


def _flat(result: Any) -> Iterable[Any]:
    if isinstance(result, Mapping):
        for value in result.values():
            yield from _flat(value)
    elif isinstance(result, (tuple, list)):
        for value in result:
            yield from _flat(value)
    else:
        yield result


def _floating_array(value: Any) -> Any:
    if type(value).__name__ in ("PerReplica", "Mirrored") and value.values:
        value = value.values[0]
    dtype = getattr(value, "dtype", None)
    is_floating = getattr(dtype, "is_floating", getattr(dtype, "kind", "") == "f")
    if not is_floating or not hasattr(value, "shape"):
        return None
    try:
        array = value.numpy() if hasattr(value, "numpy") else value
        return np.asarray(array, np.float64)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None
