"""Random data for data sets and weights that a program would download and cannot here: same shapes, same dtypes, and it is said.

The real thing is tried first, so that what is in the cache, or can be had, is what the program gets. What stands in serves to
compile and run a few steps; what the model learns from it means nothing.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import socket
import sys
import urllib.error
from collections.abc import Callable
from typing import Any

from xlalint.verify import hooks
from xlalint.verify.locate import text_of
from xlalint.verify.patching import Patches

_LONGEST_TEXT = 400
_MOCKED = 2048
# Said by libraries that wrap the error they had.
_WORDS = (
    "URL fetch failure",
    "Max retries exceeded",
    "couldn't connect to",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Failed to resolve",
    "Could not resolve host",
    "Error executing an HTTP request",
    "nodename nor servname provided",
)
_NETWORK = (urllib.error.URLError, socket.gaierror, ConnectionError, TimeoutError)


def is_unreachable(error: BaseException | None) -> bool:
    """Did something fail because the network, or a server, could not be reached?"""
    seen = 0
    while error is not None and seen < 16:
        if isinstance(error, _NETWORK) or any(words in text_of(error) for words in _WORDS):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


class Substitutes:
    """Puts random data in the place of what cannot be fetched, from `start` on. `say` hears of each, once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._patches = Patches()

    def start(self) -> None:
        hooks.install(
            {
                "keras": functools.partial(self._patch_keras, "keras"),
                "tf_keras": functools.partial(self._patch_keras, "tf_keras"),
                "tensorflow_datasets": self._patch_tfds,
            }
        )

    def undo(self) -> None:
        self._patches.undo()

    def _patch_keras(self, library: str) -> None:
        keras = importlib.import_module(library)
        for name, make in _DATASETS.items():
            module = getattr(keras.datasets, name, None)
            self._replace(library, module, "load_data", f"{library}.datasets.{name}", make)
            self._replace(library, module, "get_word_index", f"the words of {name}", _word_index)
        for name, model in list(vars(keras.applications).items()):
            if inspect.isfunction(model) and "weights" in inspect.signature(model).parameters:
                put = functools.partial(_untrained, model)
                self._replace(library, keras.applications, name, f"the weights of {name}", put)

    def _replace(
        self, library: str, owner: Any, name: str, what: str, make: Callable[..., Any]
    ) -> None:
        real = getattr(owner, name, None)
        if real is None:
            return

        @functools.wraps(real)
        def fetched(*args: Any, **kwargs: Any) -> Any:
            try:
                return real(*args, **kwargs)
            except Exception as error:
                if not is_unreachable(error):
                    raise
                made = make(*args, **kwargs)
                self._say(f"{what} cannot be fetched here: random ones of the same shapes stand in")
                return made

        # The public name lives in several modules.
        self._patches.put_wherever_named(real, name, fetched, [library, "tensorflow"])
        if getattr(owner, name, None) is real:
            self._patches.put(owner, name, fetched)

    def _patch_tfds(self) -> None:
        tfds = importlib.import_module("tensorflow_datasets")

        def wrap(real: Any) -> Any:
            @functools.wraps(real)
            def load(name: str, *args: Any, **kwargs: Any) -> Any:
                try:
                    return real(name, *args, **kwargs)
                except Exception as error:
                    if not _could_not_download(error):
                        raise
                    with tfds.testing.mock_data(num_examples=_MOCKED):
                        made = real(name, *args, **{**kwargs, "download": False})
                    if kwargs.get("with_info"):
                        _count_examples(tfds, made[1])
                    self._say(
                        f"tfds.load({name!r}) cannot download here: "
                        f"{_MOCKED} random examples of its features stand in"
                    )
                    return made

            return load

        self._patches.wrap(tfds, "load", wrap)


def _could_not_download(error: BaseException) -> bool:
    return is_unreachable(error) or type(error).__name__ in ("DownloadError", "NotFoundError")


def _count_examples(tfds: Any, info: Any) -> None:
    """Let `info.splits["train"].num_examples` be what stands in: without its files a data set knows of no split."""
    splits = tfds.core.splits
    if not info.splits:
        names = ("train", "test", "validation")
        made = [splits.SplitInfo(name=name, shard_lengths=[_MOCKED], num_bytes=0) for name in names]
        info.set_splits(splits.SplitDict(made))


def _untrained(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    bound = inspect.signature(model).bind(*args, **kwargs)
    bound.arguments["weights"] = None
    return model(*bound.args, **bound.kwargs)


# The data sets of Keras. Shapes and dtypes are those that its reference gives.


def _images(shape: tuple[int, ...], train: int, test: int, classes: int, column: bool) -> Any:
    np = sys.modules["numpy"]
    random = np.random.default_rng(0)

    def part(count: int) -> tuple[Any, Any]:
        labels = (count, 1) if column else (count,)
        return (
            random.integers(0, 256, (count, *shape), np.uint8),
            random.integers(0, classes, labels, np.uint8),
        )

    return part(train), part(test)


def _digits(*args: Any, **kwargs: Any) -> Any:
    return _images((28, 28), 60_000, 10_000, 10, column=False)


def _cifar10(*args: Any, **kwargs: Any) -> Any:
    return _images((32, 32, 3), 50_000, 10_000, 10, column=True)


def _cifar100(*args: Any, **kwargs: Any) -> Any:
    return _images((32, 32, 3), 50_000, 10_000, 100, column=True)


def _texts(train: int, test: int, classes: int, most: int, kwargs: Any) -> Any:
    """Lists of word numbers, as long as they come."""
    np = sys.modules["numpy"]
    random = np.random.default_rng(0)
    words = kwargs.get("num_words") or most
    longest = min(kwargs.get("maxlen") or _LONGEST_TEXT, _LONGEST_TEXT)

    def part(count: int) -> tuple[Any, Any]:
        texts = np.empty(count, object)
        for index, length in enumerate(random.integers(min(10, longest), longest + 1, count)):
            texts[index] = [1, *random.integers(3, max(words, 4), length - 1).tolist()]
        return texts, random.integers(0, classes, count)

    return part(train), part(test)


def _imdb(path: str = "imdb.npz", num_words: int | None = None, **kwargs: Any) -> Any:
    return _texts(25_000, 25_000, 2, 88_587, {"num_words": num_words, **kwargs})


def _reuters(path: str = "reuters.npz", num_words: int | None = None, **kwargs: Any) -> Any:
    return _texts(8_982, 2_246, 46, 30_980, {"num_words": num_words, **kwargs})


def _word_index(*args: Any, **kwargs: Any) -> dict[str, int]:
    return {f"word{number}": number for number in range(1, 30_980)}


def _table(columns: int, rows: int, test: int, dtype: str) -> Any:
    np = sys.modules["numpy"]
    random = np.random.default_rng(0)

    def part(count: int) -> tuple[Any, Any]:
        return random.random((count, columns)).astype(dtype), random.random(count).astype(dtype)

    return part(rows - test), part(test)


def _boston(*args: Any, **kwargs: Any) -> Any:
    return _table(13, 506, 102, "float64")


def _california(*args: Any, **kwargs: Any) -> Any:
    return _table(8, 20_640, 4_128, "float32")


_DATASETS = {
    "mnist": _digits,
    "fashion_mnist": _digits,
    "cifar10": _cifar10,
    "cifar100": _cifar100,
    "imdb": _imdb,
    "reuters": _reuters,
    "boston_housing": _boston,
    "california_housing": _california,
}
