"""Find the loss in what a train step returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


class MetricLosses:
    """Losses by step, out of `Mean` metrics that hold the mean of all steps since their last reset."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, float]] = {}

    def of(self, metrics: Sequence[Any]) -> float | None:
        """The mean of what the first updated metric was given since the last call; None without one."""
        for metric in metrics:
            total, count = scalar(metric.total), scalar(metric.count)
            before = self._seen.get(id(metric), (0.0, 0.0))
            if total is None or count is None or (total, count) == before:
                continue
            self._seen[id(metric)] = total, count
            total_before, count_before = before if count > before[1] else (0.0, 0.0)  # else: reset
            return (total - total_before) / (count - count_before) if count else None
        return None


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
    # TensorFlow's, NumPy's and (Keras 3's variables) plain strings spell dtypes alike.
    if "float" not in str(getattr(value, "dtype", "")) or not hasattr(value, "shape"):
        return None
    try:
        array = value.numpy() if hasattr(value, "numpy") else value
        return np.asarray(array, np.float64)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None
