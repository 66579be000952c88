"""See what a script's tf.functions are called with, which calls trace, and what datasets feed them.

The child observes; the parent, which reads TensorFlow's log of compilations, says what each of them was for
(`recompiles`). A mark on standard error before each call tells the log's lines of one call from those of the next.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xlalint.verify import hooks
from xlalint.verify.arguments import describe
from xlalint.verify.batch_shapes import BatchSources
from xlalint.verify.jobs import CALL
from xlalint.verify.origins import Origins
from xlalint.verify.patching import Patches
from xlalint.verify.records import MeteredCall, MeteredFunction
from xlalint.verify.sites import package_of
from xlalint.verify.targets import code_of, name_of, plain

# Calls that are looked at, in all: a loop of small functions must not be slowed down for ever, nor its log be all marks.
_MOST_CALLS = 500
_LIBRARIES = ("tensorflow", "keras", "tf_keras")
_LONGEST = 60


class Meter:
    """Watches from `start` to `stop`; `functions` and `sources` may be asked for at any time.

    Only calls from eager code count: a tf.function inside another is part of that one's program.
    """

    def __init__(self) -> None:
        self._patches = Patches()
        self._seen: dict[int, tuple[Any, list[MeteredCall]]] = {}
        self._calls = 0
        self._depth = 0
        self._origins = Origins()
        self.sources = BatchSources()

    def start(self) -> None:
        """Observe from now on, in libraries that are imported and in those that will be."""
        hooks.install(
            {
                "tensorflow": self._watch_tensorflow,
                "keras": functools.partial(self._watch_keras, "keras"),
                "tf_keras": functools.partial(self._watch_keras, "tf_keras"),
            }
        )

    def stop(self) -> None:
        """Observe no more; what was seen stays."""
        self._patches.undo()

    def functions(self) -> list[MeteredFunction]:
        """Each function with its calls, in the order of the first calls; Keras's own as `fit` makes them."""
        return [self._metered(function, calls) for function, calls in self._seen.values()]

    def _watch_tensorflow(self) -> None:
        tf = importlib.import_module("tensorflow")
        self._patches.wrap(type(tf.function(lambda: None)), "__call__", self._watched)
        self.sources.watch_tensorflow(self._patches)

    def _watch_keras(self, library: str) -> None:
        self.sources.watch_keras(self._patches, library)

    def _watched(self, call: Any) -> Any:
        tf = importlib.import_module("tensorflow")

        @functools.wraps(call)
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            is_inner = self._depth > 0 or not tf.executing_eagerly()
            if is_inner or self._calls >= _MOST_CALLS:
                return call(function, *args, **kwargs)
            self._calls += 1
            self._depth += 1
            index, before = self._calls, _traces(function)
            os.write(2, f"\n{CALL} {index}\n".encode())
            started = time.perf_counter()
            try:
                return call(function, *args, **kwargs)
            finally:
                seconds = time.perf_counter() - started
                self._depth -= 1
                made = _traces(function) - before
                arguments = _arguments(function, args, kwargs)
                _, calls = self._seen.setdefault(id(function), (function, []))
                calls.append(MeteredCall(index, made, seconds, arguments))

        return __call__

    def _metered(self, function: Any, calls: Sequence[MeteredCall]) -> MeteredFunction:
        code = code_of(function)
        path, line = self._origins.of(code) if code is not None else ("", 0)
        return MeteredFunction(
            function=name_of(function),
            path=path,
            line=line,
            is_library=code is None or package_of(code.co_filename) in _LIBRARIES,
            calls=tuple(calls),
        )


def _traces(function: Any) -> int:
    count = getattr(function, "experimental_get_tracing_count", None)
    return int(count()) if count is not None else 0


def _arguments(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, str]:
    """What TensorFlow tells calls apart by: argument path -> `float32[8, 17]`, or a Python value as it prints."""
    found: dict[str, str] = {}
    try:
        for name, value in _named(function, args, kwargs):
            _describe(name, value, found)
    except Exception:  # an argument's own repr or mapping may raise anything
        return found
    return found


def _named(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterable[tuple[str, Any]]:
    names: list[str] = []
    target = plain(function)
    with contextlib.suppress(TypeError, ValueError):
        names = [
            one.name
            for one in inspect.signature(target).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
    if names[:1] == ["self"] and (not args or len(args) < len(names)):
        names = names[1:]
    for index, value in enumerate(args):
        yield names[index] if index < len(names) else f"argument {index + 1}", value
    yield from kwargs.items()


def _describe(name: str, value: Any, found: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _describe(f"{name}[{key!r}]", part, found)
    elif isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            _describe(f"{name}[{index}]", part, found)
        found.setdefault(f"len({name})", str(len(value)))
    else:
        found[name] = _word(value)


def _word(value: Any) -> str:
    tf = importlib.import_module("tensorflow")
    if isinstance(value, tf.Variable):
        return f"variable {value.name}"
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return f"Python value {value!r:.{_LONGEST}}"
    spec = describe(value)
    if isinstance(spec, tf.TensorSpec):
        return _tensor_word(value, spec)
    if callable(value):
        return f"{name_of(value)} at {id(value):#x}"
    if hasattr(spec, "is_compatible_with"):
        return str(spec)[: 2 * _LONGEST]
    return f"{type(value).__name__} at {id(value):#x}"


def _tensor_word(value: Any, spec: Any) -> str:
    """`float32[8, 17]`, and the value of a scalar: one that XLA needs as a constant compiles again when it changes."""
    word = f"{spec.dtype.name}{list(spec.shape) if spec.shape.rank is not None else '[...]'}"
    if spec.shape.rank == 0 and spec.dtype.name not in ("string", "resource", "variant"):
        return f"{word} = {getattr(value, 'numpy', lambda: value)()}"
    return word
