"""Keep what functions were called with while a script runs: real arguments for the compiler to work on.

Observed are every tf.function of the user's, what is given to `strategy.run`, the train and test
steps of Keras models, calls of the project's own Keras layers, and the plain functions that are asked for (`observe`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xlalint.verify import hooks, structure
from xlalint.verify.arguments import Arguments, describe, identity, keep
from xlalint.verify.batches import batch_of_caller, batch_of_fit, batch_of_source, is_source
from xlalint.verify.observe import PlainCall, PlainCalls
from xlalint.verify.origins import Origins
from xlalint.verify.patching import Patches
from xlalint.verify.sites import package_of, real_path
from xlalint.verify.targets import bound_to, code_of, name_of, plain

_EXAMPLES = 2
_SIGNATURES = 8
_FRAMEWORKS = ("tensorflow", "keras", "tf_keras")


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call.

    Tensors and arrays are copies in host memory; of a value per replica, replica 0's; variables,
    models and all else are the script's own objects. Where `has_values` is false, at least one tensor
    had no value (the call was being traced) or was too large to keep, and a `tf.TensorSpec` stands
    for it.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    has_values: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """Arguments with a `tf.TensorSpec` for each tensor and array; a dimension may be None."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Captured:
    """A function that was called while the script ran.

    `kind` is `tf.function`, `strategy.run`, `train_step`, `test_step`, `layer` (the `call` of a layer or model, which
    `bound_to` is) or `plain`. `path` and `line`
    say where the function starts (its first decorator, as Python counts). `function` can be called
    with each example's arguments: `bound_to` is already bound. `traces` is None for what TensorFlow
    does not count. Up to two `examples`, with values before those without, and eight `signatures`.
    """

    kind: str
    name: str
    path: str
    line: int
    function: Any
    bound_to: Any
    calls: int
    traces: int | None
    examples: tuple[Call, ...]
    signatures: tuple[Signature, ...]


class Capture:
    """Collects calls from `start` to `stop`; `results` may be asked for at any time.

    `flagged` are plain functions to observe, by real path and first line: that of the `def` or that
    of the first decorator; `is_project` tells, of a file, whether its layers are. Records live as long as the capture, and
    so do the objects in them.
    """

    def __init__(
        self,
        flagged: Iterable[tuple[str, int]] = (),
        is_project: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self._layers = _LayerClasses(is_project)
        self._is_again = False
        self._lock = threading.RLock()
        self._records: dict[object, _Record] = {}
        self._local = threading.local()
        self._patches = Patches()
        self._origins = Origins()
        self._plain_calls = PlainCalls(flagged, self._saw_plain, self._origins)

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
        self._plain_calls.stop()
        self._patches.undo()

    @contextmanager
    def looking_again(self) -> Iterator[None]:
        """After `stop`: what is called while open counts for values alone, of functions that were seen without."""
        patches = Patches()
        self._is_again = True
        try:
            for library in ("keras", "tf_keras"):
                if library in sys.modules:
                    self._watch_layers(library, patches)
            self._plain_calls.start(patches)
            yield
        finally:
            self._plain_calls.stop()
            patches.undo()
            self._is_again = False

    def results(self) -> tuple[Captured, ...]:
        """What was seen, in the order of the first calls.

        Takes a batch from the data of each `fit`, and of each step inside a tf.function: ask when the
        script has ended.
        """
        with self._lock:
            records = list(self._records.values())
        return _each_once([record.captured(self._origins) for record in records])

    # What was seen

    def _saw_function(self, function: Any, args: Any, kwargs: Any) -> _Record | None:
        if _is_library_code(function):
            return None
        return self._saw("tf.function", function, args, kwargs)

    def _saw_run(self, function: Any, args: Any, kwargs: Any) -> _Record | None:
        loop = self._loops()[-1] if self._loops() else None
        if loop is not None and loop.step:
            step = getattr(loop.model, loop.step)
            record = self._saw(loop.step, step, args, kwargs, key=(id(loop.model), loop.step))
            record.data = record.data or loop.data
            return record
        if _is_library_code(function):
            return None
        return self._saw("strategy.run", function, args, kwargs)

    def _saw_plain(self, call: PlainCall) -> None:
        record = self._record("plain", call.code, call.function)
        record.add(call.args, call.kwargs, call.function)
        record.calls += not self._is_again

    def _saw_layer(self, layer: Any, args: Any, kwargs: Any) -> None:
        """Of the layers of a class, the first that is called stands for all."""
        if not self._layers.wants(type(layer)) or _is_described(args, kwargs):
            return
        record = self._record("layer", type(layer), layer.call)
        if record.owner is layer:
            record.add(args, kwargs)
        record.calls += not self._is_again

    def _saw(self, kind: str, function: Any, args: Any, kwargs: Any, key: object = None) -> _Record:
        # A bound method is a new object at each access; what it binds is not.
        inner, owner = plain(function), bound_to(function)
        default = (id(owner), code_of(function)) if inspect.ismethod(function) else id(function)
        record = self._record(kind, key or default, function, (inner, owner))
        record.add(args, kwargs)
        record.source = record.source or next(iter(self._sources()), None)
        record.caller = record.caller or next(iter(self._callers()), None)
        return record

    @contextmanager
    def _fed_by(self, record: _Record | None, values: Iterable[Any]) -> Iterator[None]:
        """Remember where the calls inside get their batches from: datasets, iterators, arguments."""
        found = [value for value in values if is_source(value)]
        callers = [record] if record is not None else []
        self._sources().extend(found)
        self._callers().extend(callers)
        try:
            yield
        finally:
            del self._sources()[len(self._sources()) - len(found) :]
            del self._callers()[len(self._callers()) - len(callers) :]

    def _callers(self) -> list[_Record]:
        if not hasattr(self._local, "callers"):
            self._local.callers = []
        callers: list[_Record] = self._local.callers
        return callers

    def _sources(self) -> list[Any]:
        if not hasattr(self._local, "sources"):
            self._local.sources = []
        sources: list[Any] = self._local.sources
        return sources

    def _record(self, kind: str, key: object, function: Any, alive: Any = None) -> _Record:
        with self._lock:
            record = self._records.get((kind, key))
            if record is None:
                record = self._records[(kind, key)] = _Record(kind, function, alive)
            return record

    # Where it is seen

    def _watch_tensorflow(self) -> None:
        tf = importlib.import_module("tensorflow")
        function_class = type(tf.function(lambda: None))
        self._patches.wrap(function_class, "__call__", self._watched_call)
        base = tf.distribute.Strategy.__mro__[1]
        for strategy_class in (base, *_all_subclasses(base)):
            if "run" in vars(strategy_class):
                self._patches.wrap(strategy_class, "run", self._watched_run)
        self._origins.watch(self._patches)
        self._plain_calls.start(self._patches)

    def _watch_keras(self, library: str) -> None:
        model = importlib.import_module(library).Model
        self._watch_layers(library, self._patches)
        for name, step in (("fit", "train_step"), ("evaluate", "test_step"), ("predict", "")):
            watched = functools.partial(self._watched_loop, step)
            self._patches.wrap(model, name, watched)
        for name, step in (("train_on_batch", "train_step"), ("test_on_batch", "test_step")):
            self._patches.wrap(model, name, functools.partial(self._watched_loop, step))

    def _watch_layers(self, library: str, patches: Patches) -> None:
        patches.wrap(sys.modules[library].layers.Layer, "__call__", self._watched_layer)

    def _watched_layer(self, call: Any) -> Any:
        @functools.wraps(call)
        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            self._saw_layer(layer, args, kwargs)
            return call(layer, *args, **kwargs)

        return __call__

    def _watched_call(self, call: Any) -> Any:
        @functools.wraps(call)
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            record = self._saw_function(function, args, kwargs)
            with _counted(record), self._fed_by(record, (*args, *kwargs.values())):
                return call(function, *args, **kwargs)

        return __call__

    def _watched_run(self, strategy_run: Any) -> Any:
        @functools.wraps(strategy_run)
        def run(
            strategy: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None
        ) -> Any:
            if not isinstance(args, (tuple, list)):
                return strategy_run(strategy, fn, args, kwargs, options)
            with _counted(self._saw_run(fn, tuple(args), kwargs or {})):
                return strategy_run(strategy, fn, args, kwargs, options)

        return run

    def _watched_loop(self, step: str, loop: Any) -> Any:
        signature = inspect.signature(loop)

        @functools.wraps(loop)
        def watched(model: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                data = dict(signature.bind(model, *args, **kwargs).arguments)
            except TypeError:
                return loop(model, *args, **kwargs)
            self._loops().append(_Loop(model, step, data))
            try:
                return loop(model, *args, **kwargs)
            finally:
                self._loops().pop()

        return watched

    def _loops(self) -> list[_Loop]:
        if not hasattr(self._local, "loops"):
            self._local.loops = []
        loops: list[_Loop] = self._local.loops
        return loops


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop of Keras's that is running: its model, the step it makes, its arguments."""

    model: Any
    step: str
    data: Mapping[str, Any]


class _Record:
    """What is known so far of one function."""

    def __init__(self, kind: str, function: Any, alive: Any) -> None:
        self.kind = kind
        self.function = function
        self.owner = bound_to(function)
        self.data: Mapping[str, Any] | None = None
        self.source: Any = None
        self.caller: _Record | None = None
        self._alive = alive  # ids are keys: the objects must not be replaced by others
        self.calls = 0
        self._examples: list[Call] = []
        self._signatures: dict[object, Signature] = {}
        self._batch: Any = None
        self._lock = threading.Lock()

    def add(self, args: Any, kwargs: Any, function: Any = None) -> None:
        """`function` is what can be called with these arguments, where that may differ from call to call: a closure made
        while tracing holds symbolic tensors."""
        with self._lock:
            self._add_signature(args, kwargs)
            n_with_values = sum(example.has_values for example in self._examples)
            is_first_in_training = bool(kwargs.get("training")) and not any(
                example.kwargs.get("training") for example in self._examples
            )
            if n_with_values < _EXAMPLES or is_first_in_training:
                self._add_example(args, kwargs)
            if n_with_values == 0 and self._examples[0].has_values and function is not None:
                self.function = function

    def _add_signature(self, args: Any, kwargs: Any) -> None:
        if len(self._signatures) >= _SIGNATURES:
            return
        specs, keyword_specs = describe(tuple(args)), describe(dict(kwargs))
        key = identity((specs, keyword_specs))
        self._signatures.setdefault(key, Signature(specs, keyword_specs))

    def _add_example(self, args: Any, kwargs: Any) -> None:
        arguments: Arguments = keep(tuple(args), dict(kwargs))
        if not arguments.has_values and len(self._examples) >= _EXAMPLES:
            return
        self._examples.append(Call(arguments.args, arguments.kwargs, arguments.has_values))
        # A layer's call in training says more than the one that built it.
        self._examples.sort(
            key=lambda example: (not example.has_values, not example.kwargs.get("training"))
        )
        del self._examples[_EXAMPLES:]

    def captured(self, origins: Origins) -> Captured:
        with self._lock:
            code = code_of(self.function)
            path, line = origins.of(code) if code is not None else ("", 0)
            return Captured(
                kind=self.kind,
                name=name_of(self.function),
                path=path,
                line=line,
                function=self.function,
                bound_to=bound_to(self.function),
                calls=self.calls,
                traces=_traces(self.function),
                examples=self._all_examples(),
                signatures=tuple(self._signatures.values()),
            )

    def _all_examples(self) -> tuple[Call, ...]:
        """A step inside `fit` or a tf.function is only ever traced: its values come from its data."""
        if any(example.has_values for example in self._examples):
            return tuple(self._examples)
        for signature in self._signatures.values() if self._batch is None else ():
            self._batch = self._batch_for(signature) if not signature.kwargs else None
            if self._batch is not None:
                break
        if self._batch is not None:
            return (Call(self._batch, {}, True), *self._examples[: _EXAMPLES - 1])
        return tuple(self._examples)

    def _batch_for(self, signature: Signature) -> Any:
        if self.data is not None:
            return batch_of_fit(self.data, signature.args)
        if self.source is not None:
            return batch_of_source(self.source, signature.args)
        for example in self.caller._examples if self.caller is not None else ():
            if example.has_values:
                return batch_of_caller(example.args, signature.args)
        return None


class _LayerClasses:
    """Which classes of layers are the project's own: those whose `call` it wrote."""

    def __init__(self, is_project: Callable[[str], bool]) -> None:
        self._is_project = is_project
        self._known: dict[type[Any], bool] = {}

    def wants(self, cls: type[Any]) -> bool:
        if cls not in self._known:
            code = code_of(getattr(cls, "call", None))
            self._known[cls] = code is not None and self._is_project(code.co_filename)
        return self._known[cls]


def _is_described(args: Any, kwargs: Any) -> bool:
    """Is it a call that builds a model out of Keras's descriptions of tensors?"""
    found = structure.leaves((args, kwargs))
    return any(type(leaf).__name__ == "KerasTensor" for _, leaf in found)


def _each_once(captured: list[Captured]) -> tuple[Captured, ...]:
    """Without those of which no values were seen, where another capture of the same function has values: AutoGraph's version
    of a nested function beside the function itself."""
    valued = {
        (one.kind, one.path, one.line)
        for one in captured
        if any(example.has_values for example in one.examples)
    }
    return tuple(
        one
        for one in captured
        if one.kind != "plain"
        or (one.kind, one.path, one.line) not in valued
        or any(example.has_values for example in one.examples)
    )


@contextmanager
def _counted(record: _Record | None) -> Iterator[None]:
    """Count the call, unless it is refused before it begins, as one step too many is (`StepsDone`)."""
    try:
        yield
    except Exception:
        if record is not None:
            record.calls += 1
        raise
    if record is not None:
        record.calls += 1


def _traces(function: Any) -> int | None:
    count: Callable[[], int] | None = getattr(function, "experimental_get_tracing_count", None)
    return count() if count is not None else None


def _is_library_code(function: Any) -> bool:
    code = code_of(function)
    return code is None or package_of(code.co_filename) in _FRAMEWORKS or _is_ours(code.co_filename)


def _is_ours(filename: str) -> bool:
    return real_path(filename).startswith(real_path(__file__).rpartition("/")[0] + "/")


def _all_subclasses(cls: type[Any]) -> list[type[Any]]:
    found: list[type[Any]] = []
    for subclass in cls.__subclasses__():
        found += [subclass, *_all_subclasses(subclass)]
    return list(dict.fromkeys(found))
