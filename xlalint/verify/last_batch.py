"""Let the last step wanted have the batch that ends an epoch, where that one is smaller than the others.

A run of a few steps never comes to it, and it is the one that leaves replicas without examples. The step is given as many rows
of its own batch as the last batch would have.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from xlalint.verify.keras_fit import DEFAULT_BATCH, rows_of
from xlalint.verify.patching import Patches
from xlalint.verify.records import FAILED, LAST_BATCH, NOTE, OK, Stage

# Datasets of as many batches as the one before them, each as large.
_KEEPING = ("Prefetch", "Map", "Cache", "Options", "Repeat", "Shuffle", "Model")


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Rows of a full batch and of the last one, and how many batches an epoch has."""

    full: int
    last: int
    batches: int


class LastBatch:
    """Watches what a strategy distributes; `check` says what came of the smaller batch."""

    def __init__(self, steps: int, replicas: int) -> None:
        self._steps = steps
        self._replicas = replicas
        self._sizes: _Sizes | None = None
        self._step = 0
        self._in_fit: _Sizes | None = None
        base = tf.distribute.Strategy.__mro__[1]
        Patches().wrap(base, "experimental_distribute_dataset", self._wrap_distribute)

    def watch(self, keras: Any) -> None:
        """Learn the sizes of arrays that a Keras library's fit is given: its datasets do not tell them."""
        Patches().wrap(keras.Model, "fit", self._wrap_fit)

    def check(self, losses: Sequence[float | None]) -> Stage | None:
        """What the step with the last batch came to; None where no such step was made, or begun."""
        sizes = self._sizes
        if sizes is None or len(losses) < self._step - 1:
            return None
        empty = max(0, self._replicas - sizes.last)
        left = (
            f", which leaves {empty} of {self._replicas} replicas without examples" if empty else ""
        )
        told = (
            f"step {self._step} had {sizes.last} of {sizes.full} rows, as each epoch's last{left}"
        )
        if len(losses) < self._step:
            return Stage(LAST_BATCH, NOTE, detail=f"{told}: it failed")
        loss = losses[self._step - 1]
        if loss is None:
            return Stage(LAST_BATCH, NOTE, detail=f"{told}: its loss was not seen")
        if not math.isfinite(loss):
            return Stage(LAST_BATCH, FAILED, detail=f"{told}: the loss is not a number")
        return Stage(LAST_BATCH, OK, detail=f"{told}: the loss is a number")

    def _wrap_distribute(self, distribute: Any) -> Any:
        @functools.wraps(distribute)
        def distributed(strategy: Any, dataset: Any, *args: Any, **kwargs: Any) -> Any:
            return distribute(strategy, self._with_last(dataset), *args, **kwargs)

        return distributed

    def _wrap_fit(self, fit: Any) -> Any:
        signature = inspect.signature(fit)

        @functools.wraps(fit)
        def watched(*args: Any, **kwargs: Any) -> Any:
            try:
                self._in_fit = _of_arrays(signature.bind(*args, **kwargs).arguments)
            except TypeError:
                self._in_fit = None
            try:
                return fit(*args, **kwargs)
            finally:
                self._in_fit = None

        return watched

    def _with_last(self, dataset: Any) -> Any:
        """The dataset whose batch for the last step wanted is as small as the one that ends an epoch. The first one only:
        what is distributed later may be for evaluation."""
        if self._sizes is not None or not isinstance(dataset, tf.data.Dataset):
            return dataset
        sizes = _of_dataset(dataset) or self._in_fit
        if sizes is None or not sizes.last or self._steps < 2:
            return dataset
        self._sizes, self._step = sizes, min(self._steps, sizes.batches)
        if sizes.batches <= self._steps or not _is_plain(dataset.element_spec):
            self._step = sizes.batches
            return dataset
        before = self._steps - 1
        small = dataset.skip(before).take(1).map(functools.partial(_first_rows, sizes.last))
        return dataset.take(before).concatenate(small).concatenate(dataset.skip(self._steps))


def _of_dataset(dataset: Any) -> _Sizes | None:
    """From the innermost call of `batch`; None where it drops the remainder, or rows are endless or cannot be counted."""
    while dataset is not None:
        name = type(dataset).__name__.lstrip("_").removeprefix("Parallel")
        if name.startswith("Batch"):
            return _of_batching(dataset)
        if not name.startswith(_KEEPING):
            return None
        dataset = getattr(dataset, "_input_dataset", None)
    return None


def _of_batching(dataset: Any) -> _Sizes | None:
    size = tf.get_static_value(getattr(dataset, "_batch_size", None))
    drops = tf.get_static_value(getattr(dataset, "_drop_remainder", None))
    rows = int(dataset._input_dataset.cardinality())
    if size is None or drops is None or bool(drops) or rows < int(size):
        return None
    return _Sizes(int(size), rows % int(size), -(-rows // int(size)))


def _of_arrays(arguments: dict[str, Any]) -> _Sizes | None:
    """From what fit is called with."""
    rows = rows_of(arguments.get("x"))
    if rows is None:
        return None
    rows = int(rows * (1 - (arguments.get("validation_split") or 0.0)))
    size = int(arguments.get("batch_size") or DEFAULT_BATCH)
    return _Sizes(size, rows % size, -(-rows // size)) if rows >= size else None


def _is_plain(spec: Any) -> bool:
    """Are all parts tensors with a batch dimension that may vary?"""
    return all(
        isinstance(part, tf.TensorSpec) and part.shape.rank and part.shape[0] is None
        for part in tf.nest.flatten(spec)
    )


def _first_rows(count: int, *parts: Any) -> Any:
    cut = tf.nest.map_structure(lambda part: part[:count], parts)
    return cut if len(cut) > 1 else cut[0]
