"""The shapes of the batches that a script's data would bring: what a run of five steps alone does not show.

Datasets that the script iterates, distributes or fits are remembered while it runs and read on for a while afterwards.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xlalint.verify.patching import Patches
from xlalint.verify.records import BatchShapes
from xlalint.verify.sites import user_site

_MOST_BATCHES = 200
_MOST_SOURCES = 8
# For all sources: reading is the user's own code, and may be slow.
_SECONDS = 6.0
_DEFAULT_BATCH = 32


class BatchSources:
    """Remembers what feeds the script's steps, with the line of the user's that takes from it."""

    def __init__(self) -> None:
        self._sources: dict[int, tuple[Any, Callable[[], Iterator[Any]], str, int]] = {}

    def watch_tensorflow(self, patches: Patches) -> None:
        tf = importlib.import_module("tensorflow")
        patches.wrap(tf.data.Dataset, "__iter__", self._iterated)
        strategy = tf.distribute.Strategy.__mro__[1]
        for owner in (strategy, tf.distribute.Strategy):
            if "experimental_distribute_dataset" in vars(owner):
                patches.wrap(owner, "experimental_distribute_dataset", self._distributed)

    def watch_keras(self, patches: Patches, library: str) -> None:
        model = importlib.import_module(library).Model
        for name in ("fit", "evaluate"):
            patches.wrap(model, name, self._fitted)

    def shapes(self) -> list[BatchShapes]:
        """Of each source the shapes of its first batches; reads them, for some seconds at most."""
        found = []
        deadline = time.monotonic() + _SECONDS
        for _, batches, path, line in list(self._sources.values()):
            shapes, is_all = _read(batches, deadline - time.monotonic())
            if shapes:
                found.append(BatchShapes(path, line, tuple(shapes), is_all))
        return found

    def _remember(self, source: Any, batches: Callable[[], Iterator[Any]]) -> None:
        path, line = user_site()
        is_new = id(source) not in self._sources and len(self._sources) < _MOST_SOURCES
        if is_new and path and not any(one[2:] == (path, line) for one in self._sources.values()):
            self._sources[id(source)] = (source, batches, path, line)

    def _iterated(self, original: Any) -> Any:
        @functools.wraps(original)
        def __iter__(dataset: Any) -> Any:  # noqa: N807
            tf = importlib.import_module("tensorflow")
            if tf.executing_eagerly():
                self._remember(dataset, lambda: original(dataset))
            return original(dataset)

        return __iter__

    def _distributed(self, original: Any) -> Any:
        @functools.wraps(original)
        def distribute(strategy: Any, dataset: Any, *args: Any, **kwargs: Any) -> Any:
            self._remember(dataset, lambda: iter(dataset))
            return original(strategy, dataset, *args, **kwargs)

        return distribute

    def _fitted(self, original: Any) -> Any:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                data = dict(signature.bind(model, *args, **kwargs).arguments)
            except TypeError:
                return original(model, *args, **kwargs)
            if data.get("x") is not None:
                self._remember(data["x"], functools.partial(_batches_of, data))
            return original(model, *args, **kwargs)

        return fit


def _batches_of(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """The batches that `fit` makes of its arguments; none for a generator, which can be read once only."""
    tf = importlib.import_module("tensorflow")
    x: Any = arguments.get("x")
    if isinstance(x, tf.data.Dataset):
        yield from x
        return
    leaves = tf.nest.flatten([arguments.get(name) for name in ("x", "y")])
    arrays = [leaf for leaf in leaves if hasattr(leaf, "shape")]
    if not hasattr(x, "shape") and hasattr(x, "__getitem__") and not isinstance(x, (dict, list)):
        for index in range(len(x)):
            yield x[index]
    elif arrays:
        total = int(arrays[0].shape[0])
        size = int(arguments.get("batch_size") or _DEFAULT_BATCH)
        for start in range(0, total, size):
            yield [array[start : start + size] for array in arrays]


def _read(
    batches: Callable[[], Iterator[Any]], seconds: float
) -> tuple[list[dict[str, list[int]]], bool]:
    """(shape of each part, per batch; whether that is all there is). Read aside: a pipeline may never answer."""
    found: list[dict[str, list[int]]] = []
    ended = threading.Event()
    enough = threading.Event()

    def read() -> None:
        try:
            for batch in batches():
                if enough.is_set() or len(found) >= _MOST_BATCHES:
                    return
                found.append(_shapes_of(batch))
            ended.set()
        except Exception:  # the user's pipeline
            return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(max(0.1, seconds))
    enough.set()
    return list(found), ended.is_set()


def _shapes_of(batch: Any, name: str = "batch") -> dict[str, list[int]]:
    if isinstance(batch, Mapping):
        parts = [(f"{name}[{key!r}]", part) for key, part in batch.items()]
    elif isinstance(batch, (tuple, list)):
        parts = [(f"{name}[{index}]", part) for index, part in enumerate(batch)]
    else:
        shape = getattr(batch, "shape", None)
        static = [] if shape is None else [size for size in tuple(shape) if size is not None]
        return {name: [int(size) for size in static]} if static else {}
    found: dict[str, list[int]] = {}
    for inner, part in parts:
        found |= _shapes_of(part, inner)
    return found
