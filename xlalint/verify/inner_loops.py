"""Shorten loops that run inside one call of a tf.function, where no step can be counted.

`train_epoch(dataset)` iterates in the graph, `train_many(iterator, steps)` with `tf.range(steps)`:
one call would be a whole epoch. The dataset is cut to the steps that are left, the count clamped.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import weakref
from typing import Any

from xlalint.verify.patching import Patches
from xlalint.verify.targets import plain

_COUNT_NAME = re.compile(r"(?:^|_)(?:steps|iterations|iters|batches)(?:_per_\w+)?$")


class InnerLoops:
    """Clamps arguments; remembers which dataset each distributed dataset was made of."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._origins: weakref.WeakKeyDictionary[Any, tuple[Any, Any, Any]] = (
            weakref.WeakKeyDictionary()
        )

    def patch(self, tf: Any) -> None:
        base = tf.distribute.Strategy.__mro__[1]
        self._patches.wrap(base, "experimental_distribute_dataset", self._wrap_distribute)

    def clamp(self, target: Any, args: Any, kwargs: Any, left: int) -> tuple[Any, Any, int]:
        """The arguments cut down to `left` steps, and how many steps the call makes then."""
        cut = [self._cut(value, left) for value in (*args, *kwargs.values())]
        made = [count for _, count in cut if count]
        if made:
            values = [value for value, _ in cut]
            args = tuple(values[: len(args)])
            return args, dict(zip(kwargs, values[len(args) :], strict=True)), max(made)
        if any(_is_iterator(value) for value in (*args, *kwargs.values())):
            return _clamp_count(target, args, kwargs, left)
        return args, kwargs, 1

    def _cut(self, value: Any, left: int) -> tuple[Any, int]:
        tf = importlib.import_module("tensorflow")
        if isinstance(value, tf.data.Dataset):
            shorter = value.take(left)
            return shorter, _steps_in(shorter, left)
        origin = self._origin(value)
        if origin is None:
            return value, 0
        strategy, dataset, options = origin
        shorter = dataset.take(left)
        return strategy.experimental_distribute_dataset(shorter, options), _steps_in(shorter, left)

    def _origin(self, value: Any) -> tuple[Any, Any, Any] | None:
        if not type(value).__name__.startswith("DistributedDataset"):
            return None
        return self._origins.get(value)

    def _wrap_distribute(self, distribute: Any) -> Any:
        @functools.wraps(distribute)
        def remembered(strategy: Any, dataset: Any, options: Any = None) -> Any:
            distributed = distribute(strategy, dataset, options)
            if type(distributed).__name__.startswith("DistributedDataset"):
                self._origins[distributed] = (strategy, dataset, options)
            return distributed

        return remembered


def _steps_in(dataset: Any, left: int) -> int:
    """How many batches; `left` where tf.data cannot say."""
    count = int(dataset.cardinality())
    return min(count, left) if count > 0 else left


def _is_iterator(value: Any) -> bool:
    return type(value).__name__.endswith("Iterator")


def _clamp_count(target: Any, args: Any, kwargs: Any, left: int) -> tuple[Any, Any, int]:
    """Clamp the argument that is named like a number of steps."""
    try:
        signature = inspect.signature(plain(target))
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs, 1
    for name, value in bound.arguments.items():
        count = _whole_number(value)
        if count is not None and _COUNT_NAME.search(name):
            if count > left:
                bound.arguments[name] = _same_kind(value, left)
            return bound.args, bound.kwargs, max(1, min(count, left))
    return args, kwargs, 1


def _whole_number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    dtype = getattr(value, "dtype", None)
    if dtype is None or not getattr(dtype, "is_integer", False) or value.shape.rank != 0:
        return None
    return int(value)


def _same_kind(value: Any, number: int) -> Any:
    if isinstance(value, int):
        return number
    return importlib.import_module("tensorflow").constant(number, value.dtype)
