"""From a function or class to calls that run: values are tried until one set of them runs eagerly."""

from __future__ import annotations

import inspect
import itertools
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf
from discover import Found, methods
from program import Call, Program
from recipes import SCENES, Scene, candidates, floats

_WEIGHTS = ("pretrained", "weights", "encoder_weights")
_TRIES = 24
_SECONDS = 8.0
_METHODS = 12
_OPTIONS = 5
_MANY = 16
_NO_OPTION = re.compile(
    r"name|scope|dtype|.*_dtype|seed|verbose|trainable|dynamic|validate_args|reuse|allow_nan_stats|.*name|self|"
    r".*initializer|.*regularizer|.*constraint|logger|callbacks?|.*path|.*file.*|.*dir|summar.*|debug\w*|config|.*_config"
)


class NoInputsError(Exception):
    """None of the values that were tried runs; the text is the last error."""


class _NoTensorError(Exception):
    """The values run, but what is called works on Python values: it is no matter of XLA's."""


def programs(found: Found, package: str) -> Iterator[Program]:
    """The programs that call `found`, a function or a class's methods: with defaults, then one other option at a time."""
    item = found.item
    if not inspect.isclass(item):
        yield from _varied(found.name, lambda scene: item, item, False)
        return
    if inspect.isabstract(item):
        return
    kind = _kind(item)
    if kind is _optimizer:
        yield Program(found.name, lambda: _optimizer(item))
    elif kind is not None:
        yield from _keras(found.name, item, kind)
    else:
        for name in list(methods(item, package))[:_METHODS]:
            yield from _method(f"{found.name}.{name}", item, name)


def _method(name: str, owner: type, method: str) -> Iterator[Program]:
    return _varied(
        name, lambda scene: getattr(_made(owner, scene), method), getattr(owner, method), True
    )


def _keras(name: str, item: type, kind: _Kind) -> Iterator[Program]:
    """The programs of a layer, a model, a loss or a metric, also made with other options."""
    method = getattr(item, kind.method)
    yield from _varied(name, lambda scene: kind.bound(_made(item, scene)), method, True)
    for parameter in _options(item.__init__, True):
        if isinstance(parameter.default, bool):
            changed = {parameter.name: not parameter.default}
            yield Program(
                f"{name}({parameter.name}={not parameter.default})",
                lambda changed=changed: _Search(
                    lambda scene: kind.bound(_made(item, scene, changed)), method, True
                ).call(),
            )


def _varied(
    name: str, bound: Callable[[Scene], Any], function: Any, is_method: bool
) -> Iterator[Program]:
    """A call with required arguments alone; then one with each optional one, where it is a mere flag or None."""
    search = _Search(bound, function, is_method)
    yield Program(name, search.call)
    for parameter in _options(function, is_method):
        yield Program(f"{name} {parameter.name}", lambda p=parameter: search.with_option(p))


def _options(function: Any, is_method: bool) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())[is_method:]
    except (TypeError, ValueError):
        return []
    wanted = [
        p
        for p in parameters
        if (p.default is None or isinstance(p.default, bool)) and not _NO_OPTION.fullmatch(p.name)
    ]
    return wanted[:_OPTIONS]


@dataclass(frozen=True, slots=True)
class _Kind:
    """How instances of a Keras class are called: the `method` that names the inputs, and what is compiled."""

    method: str
    bound: Callable[[Any], Any]


def _kind(item: type) -> Any:
    """By the names of the bases, since Keras 2 and 3 are different classes."""
    bases = {base.__name__ for base in item.__mro__[1:] if "keras" in base.__module__}
    if "Optimizer" in bases or "OptimizerV2" in bases:
        return _optimizer
    if "Loss" in bases:
        return _Kind("call", lambda made: made)
    if "Metric" in bases:
        return _Kind("update_state", _updated)
    if "Layer" in bases or "Model" in bases:
        return _Kind("call", lambda made: made)
    return None


def _updated(metric: Any) -> Any:
    def update(*arguments: Any, **options: Any) -> Any:
        metric.update_state(*arguments, **options)
        return metric.result()

    return update


def _optimizer(item: type) -> Call:
    optimizer = _made(item, SCENES[0])
    variable = tf.Variable(np.ones((4, 3), "float32"))

    def step(gradient: Any) -> Any:
        optimizer.apply_gradients([(gradient, variable)])
        return tf.identity(variable)

    step(tf.ones((4, 3)))
    return Call(step, [np.full((4, 3), 0.1, "float32")])


def _made(item: type, scene: Scene, options: dict[str, Any] | None = None) -> Any:
    """An instance of `item`."""
    required = _required(item.__init__, True)
    last: Exception | None = None
    for values in _choices([candidates(parameter, scene) for parameter in required], 12):
        try:
            return item(
                **{p.name: _constant(v) for p, v in zip(required, values)}, **(options or {})
            )
        except Exception as error:
            last = last or error
    raise NoInputsError(f"cannot be made: {last}")


def _constant(value: Any) -> Any:
    """What a constructor is given: a few numbers are a setting, which callers write as a list, and more of them a tensor."""
    if not isinstance(value, np.ndarray):
        return value
    return value.tolist() if value.ndim == 1 and value.size < _MANY else tf.constant(value)


def _required(function: Any, is_method: bool) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())[is_method:]
    return [
        p
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _bound(
    function: Callable[..., Any],
    names: Sequence[str],
    constants: dict[str, Any],
    positional: Sequence[str],
) -> Callable[..., Any]:
    """`function` with its Python values in place: called with the tensors alone."""

    def call(*tensors: Any) -> Any:
        values = {**constants, **dict(zip(names, tensors))}
        first = [values.pop(name) for name in positional]
        return function(*first, **values)

    return call


class _Search:
    """Looks for values with which `function` runs; `bound` makes anew, per scene, what is called."""

    def __init__(self, bound: Callable[[Scene], Any], function: Any, is_method: bool) -> None:
        self._bound = bound
        self._required = _required(function, is_method)
        self._fixed = _fixed(function)
        self._found: tuple[Scene, dict[str, Any]] | None = None

    def call(self) -> Call:
        """A call with the required arguments alone.

        Raises:
            NoInputsError: nothing that was tried runs.
        """
        deadline = time.monotonic() + _SECONDS
        first: Exception | None = None
        for scene in SCENES:
            tried = _choices([candidates(p, scene) for p in self._required], _TRIES)
            for values in tried:
                if time.monotonic() > deadline:
                    raise NoInputsError(f"no inputs found in time: {first}")
                given = {p.name: v for p, v in zip(self._required, values)}
                try:
                    call = self._runs(scene, given)
                    self._found = scene, given
                    return call
                except _NoTensorError as error:
                    raise NoInputsError(str(error)) from None
                except Exception as error:
                    first = first or error
                if not self._required:
                    break
        raise NoInputsError(f"no inputs found: {type(first).__name__}: {first}")

    def with_option(self, parameter: inspect.Parameter) -> Call:
        """The same call with one optional argument more.

        Raises:
            NoInputsError: nothing that was tried runs.
        """
        if self._found is None:
            self.call()
        assert self._found is not None
        scene, given = self._found
        is_flag = isinstance(parameter.default, bool)
        tried = [not parameter.default] if is_flag else candidates(parameter, scene)[:4]
        first: Exception | None = None
        for value in tried:
            try:
                call = self._runs(scene, {**given, parameter.name: value})
                return replace(call, check_shape=False)
            except Exception as error:
                first = first or error
        raise NoInputsError(f"no value found: {type(first).__name__}: {first}")

    def _runs(self, scene: Scene, given: dict[str, Any]) -> Call:
        call = _call(self._bound(scene), self._required, {**self._fixed, **given})
        result = call.function(*[_tensors(v) for v in call.inputs])
        if _is_model(result):
            return _model_call(result)
        if not _has_tensor(result):
            raise _NoTensorError("no tensor comes out")
        return call


def _fixed(function: Any) -> dict[str, Any]:
    """Arguments of functions that build models: no downloads, and small pictures."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if isinstance(parameter.default, str) and parameter.name in _WEIGHTS:
            given[parameter.name] = None
        elif parameter.name == "input_shape" and isinstance(parameter.default, tuple):
            given[parameter.name] = (64, 64, 3)
    return given


def _is_model(result: Any) -> bool:
    return hasattr(result, "trainable_weights") and bool(getattr(result, "inputs", None))


def _model_call(model: Any) -> Call:
    """A call of a model that a function built."""
    inputs = [
        floats(*(size or (2 if axis == 0 else 64) for axis, size in enumerate(made.shape)))
        for made in model.inputs
    ]
    if len(inputs) == 1:
        return Call(lambda value: model(value), inputs, True)
    return Call(lambda *values: model(list(values)), inputs, True)


def _call(function: Any, required: Sequence[inspect.Parameter], given: dict[str, Any]) -> Call:
    tensors = [name for name, value in given.items() if _is_data(value)]
    constants = {name: value for name, value in given.items() if name not in tensors}
    # Keras layers want their first argument by position.
    positional = [p.name for p in required if p.kind is not p.KEYWORD_ONLY]
    return Call(_bound(function, tensors, constants, positional), [given[n] for n in tensors], True)


def _is_data(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_data(v) for v in value.values())
    if isinstance(value, list):
        # A list of numbers is a setting, not data.
        return bool(value) and all(_is_data(v) for v in value)
    return isinstance(value, (np.ndarray, tf.SparseTensor, tf.RaggedTensor))


def _tensors(value: Any) -> Any:
    if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
        return value
    return tf.nest.map_structure(tf.convert_to_tensor, value)


def _has_tensor(result: Any) -> bool:
    try:
        return any(
            isinstance(v, tf.Tensor) for v in tf.nest.flatten(result, expand_composites=True)
        )
    except (TypeError, ValueError):
        return False


def _choices(options: Sequence[Sequence[Any]], limit: int) -> Iterator[tuple[Any, ...]]:
    """Up to `limit` combinations: all first choices, then one other at a time, then at random."""
    first = tuple(choice[0] for choice in options)
    yield first
    count = 1
    changes = ((i, j) for j in range(1, 4) for i in range(len(options)) if j < len(options[i]))
    for index, other in itertools.islice(changes, limit // 2):
        yield (*first[:index], options[index][other], *first[index + 1 :])
        count += 1
    pick = random.Random(len(options))
    while options and count < limit:
        yield tuple(pick.choice(choice) for choice in options)
        count += 1
