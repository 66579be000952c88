"""The ways in to a function: itself, the layer or class it is a method of, the functions around it and those that call it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import captures
from xlalint.verify.alone import makers, signatures
from xlalint.verify.alone.guesses import Parameter
from xlalint.verify.alone.usage import Usage, class_usages
from xlalint.verify.jobs import Wanted
from xlalint.verify.targets import code_of, plain

_MOST_CALLERS = 4
_MOST_CLASSES = 4
_LIKE_OUTPUT = "like the output"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Bound:
    """Something ready to be called: `eager` as plain Python, `compiled` with AutoGraph as it has it in the user's program."""

    eager: Callable[..., Any]
    compiled: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """`settings` are the parameters of what has to be made first, `parameters` those of the call.

    `bind` takes a value for each that is given, by name. `module` is where it is defined.
    """

    label: str
    settings: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    bind: Callable[[Mapping[str, Any], Mapping[str, Any]], Bound]
    module: ModuleType
    owner: type | None = None
    is_model: bool = False


def ways_to(wanted: Wanted, module: ModuleType) -> Iterator[Way]:
    """Ways to have `wanted` run, the most direct that is natural first."""
    outer = wanted.qualname.partition(".<locals>")[0]
    found = resolve(module, outer)
    owner_name, _, method = outer.rpartition(".")
    owner = resolve(module, owner_name) if owner_name else None
    labels: set[str] = set()
    for way in _all_ways(wanted, module, found, owner, method):
        if way.label not in labels:
            labels.add(way.label)
            yield way


def _all_ways(
    wanted: Wanted, module: ModuleType, found: Any, owner: Any, method: str
) -> Iterator[Way]:
    if inspect.isclass(owner):
        yield from _of_class(owner, method, wanted, module)
    elif found is not None and callable(found) and not inspect.isclass(found):
        yield from _guarded(lambda: of_function(found, wanted, module, wanted.parameters))
    yield from _through_chain(wanted, module)
    name = (
        wanted.qualname.rpartition(".")[2] if "<locals>" not in wanted.qualname else (method or "")
    )
    yield from _callers(name, wanted, module, owner if inspect.isclass(owner) else None)


def _guarded(make: Callable[[], Way | None]) -> Iterator[Way]:
    """The way, unless Python cannot tell what it takes."""
    try:
        way = make()
    except (TypeError, ValueError, AttributeError):
        return
    if way is not None:
        yield way


# Functions


def of_function(
    function: Any,
    wanted: Wanted,
    module: ModuleType,
    beliefs: Mapping[str, Mapping[str, Any]] | None = None,
    label: str = "",
) -> Way:
    by_position = signatures.names_by_position(function, is_method=False)
    parameters = tuple(signatures.parameters_of(function, is_method=False, beliefs=beliefs))

    def bind(_: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        args, kwargs = _split(given, parameters, by_position, first_by_position=False)
        return Bound(function, as_traced(function, wanted.is_converted), args, kwargs)

    return Way(label or _name(function), (), parameters, bind, _module_of(function, module))


def as_traced(function: Any, is_converted: bool) -> Any:
    """`function` as its callers would have it traced: converted by AutoGraph or not; a tf.function decides for itself."""
    if hasattr(function, "python_function") or not is_converted:
        return function
    return captures.converted(function)


def _split(
    given: Mapping[str, Any],
    parameters: tuple[Parameter, ...],
    by_position: set[str],
    first_by_position: bool,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, kwargs = [], dict(given)
    for index, one in enumerate(parameters):
        if one.name in kwargs and (one.name in by_position or (first_by_position and index == 0)):
            args.append(kwargs.pop(one.name))
        else:
            break
    return tuple(args), kwargs


# Classes


def as_keras(made: Any) -> Any:
    """A layer, model or loss as the Keras that it belongs to calls it."""
    return captures.as_keras_calls(made)


def _of_class(owner: type, method: str, wanted: Wanted, module: ModuleType) -> Iterator[Way]:
    classes = [owner, *_subclasses(owner)][: _MOST_CLASSES + 1]
    usable = [cls for cls in classes if not inspect.isabstract(cls)] or classes[:1]
    static = inspect.getattr_static(owner, _mangled(owner, method), None)
    if isinstance(static, staticmethod):
        function = static.__func__
        yield from _guarded(lambda: of_function(function, wanted, module, wanted.parameters))
    for cls in usable:
        yield from (way for make in _kinds(cls, method, wanted, module) for way in _guarded(make))
    for cls in usable:
        yield from _guarded(partial(of_method, cls, method, wanted, module))


def _kinds(
    cls: type, method: str, wanted: Wanted, module: ModuleType
) -> Iterator[Callable[[], Way | None]]:
    """How Keras itself calls what is a layer, model, loss, metric or optimizer."""
    kind = kind_of(cls)
    if kind in ("layer", "model"):
        if method in ("train_step", "test_step", "compute_loss", "predict_step"):
            step = "train_step" if method == "compute_loss" else method
            yield lambda: _of_step(cls, step, module)
        yield lambda: _of_keras(cls, "call", wanted, module)
        if kind == "model" and method not in ("call", "train_step"):
            yield lambda: _of_step(cls, "train_step", module)
    elif kind == "loss":
        yield lambda: _of_keras(cls, "call", wanted, module)
    elif kind == "metric":
        yield lambda: _of_metric(cls, module)
    elif kind == "optimizer":
        yield lambda: _of_optimizer(cls, "sparse" in method, module)


def kind_of(cls: type) -> str:
    """`layer`, `model`, `loss`, `metric`, `optimizer`, or nothing; by the names of the bases, as Keras 2 and 3 differ."""
    bases = {base.__name__ for base in cls.__mro__[1:] if "keras" in base.__module__}
    for kind, names in (
        ("optimizer", {"Optimizer", "OptimizerV2", "BaseOptimizer"}),
        ("loss", {"Loss"}),
        ("metric", {"Metric"}),
        ("model", {"Model"}),
        ("layer", {"Layer"}),
    ):
        if bases & names:
            return kind
    return ""


def _of_keras(cls: type, method: str, wanted: Wanted, module: ModuleType) -> Way | None:
    if getattr(cls, method, None) is None:
        return None
    function = getattr(cls, method)
    settings = tuple(signatures.settings_of(cls))
    beliefs = (
        wanted.parameters
        if code_of(function) is not None and wanted.qualname.endswith(f".{method}")
        else {}
    )
    parameters = _first_required(
        signatures.parameters_of(function, is_method=True, beliefs=beliefs)
    )

    def bind(made_with: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        made = cls(**made_with)
        args, kwargs = _split(given, parameters, set(), first_by_position=True)
        return Bound(made, captures.as_keras_calls(made), args, kwargs)

    return Way(
        f"{cls.__name__}.{method}",
        settings,
        parameters,
        bind,
        _module_of(cls, module),
        cls,
        kind_of(cls) == "model",
    )


def _first_required(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Keras wants the first argument of a call, whatever its default (`call(self, input_ids=None, ...)`)."""
    first = [replace(one, has_default=False) for one in parameters[:1]]
    return (*first, *parameters[1:])


def _of_metric(cls: type, module: ModuleType) -> Way:
    settings = tuple(signatures.settings_of(cls))
    parameters = tuple(signatures.parameters_of(cls.update_state, is_method=True))  # type: ignore[attr-defined]

    def bind(made_with: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        metric: Any = cls(**made_with)

        def update(*args: Any, **kwargs: Any) -> Any:
            metric.update_state(*args, **kwargs)
            return metric.result()

        return Bound(update, captures.as_keras_calls(update, metric), (), dict(given))

    return Way(
        f"{cls.__name__}.update_state", settings, parameters, bind, _module_of(cls, module), cls
    )


def _of_optimizer(cls: type, is_sparse: bool, module: ModuleType) -> Way:
    settings = tuple(signatures.settings_of(cls))

    def bind(made_with: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        optimizer: Any = cls(**made_with)
        variable = tf.Variable(np.ones((4, 3), "float32"))

        def step(gradient: Any) -> Any:
            rows = tf.IndexedSlices(gradient[:2], tf.constant([0, 2]), tf.constant([4, 3]))
            optimizer.apply_gradients([(rows if is_sparse else gradient, variable)])
            return tf.identity(variable)

        step(tf.zeros((4, 3)))  # makes the slots
        return Bound(step, step, (given["gradient"],), {})

    gradient = Parameter("gradient", belief={"kind": "tensor", "dtype": "float32", "shape": (4, 3)})
    return Way(
        f"{cls.__name__}.apply_gradients", settings, (gradient,), bind, _module_of(cls, module), cls
    )


def _of_step(cls: type, step: str, module: ModuleType) -> Way | None:
    """A training step of a model that is compiled with a usual loss and optimizer, as `fit` calls it."""
    settings = tuple(signatures.settings_of(cls))
    inputs = signatures.parameters_of(cls.call, is_method=True)[:1]  # type: ignore[attr-defined]
    if not inputs:
        inputs = [Parameter("inputs")]
    targets = Parameter("targets", usage=Usage(literals=[_LIKE_OUTPUT]))

    def bind(made_with: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        model: Any = cls(**made_with)
        _compile(model)
        data = given[inputs[0].name]
        target = given.get("targets")
        output = model(data)
        build = getattr(model.optimizer, "build", None)
        if build is not None:  # as `fit` does before the first step
            build(model.trainable_variables)
        if isinstance(target, str):
            target = tf.nest.map_structure(tf.zeros_like, output)
        batch = data if target is None else (data, target)
        run = getattr(model, step)
        return Bound(run, captures.as_keras_calls(run, model), (batch,), {})

    return Way(
        f"{cls.__name__}.{step}",
        settings,
        (inputs[0], targets),
        bind,
        _module_of(cls, module),
        cls,
        True,
    )


def _compile(model: Any) -> None:
    """Compile a model; a `compile` of the user's own is given what the names of its parameters ask for."""
    keras = (
        importlib.import_module("tf_keras")
        if captures.is_keras_2(model) and "tf_keras" in sys.modules
        else tf.keras
    )
    given: dict[str, Any] = {}
    for name, one in inspect.signature(model.compile).parameters.items():
        if "optimizer" in name:
            given[name] = keras.optimizers.SGD(0.01)
        elif (
            "loss" in name
            and (one.default is one.empty or one.default is None)
            and "weight" not in name
        ):
            given[name] = keras.losses.MeanSquaredError()
    model.compile(**given)


def of_method(cls: type, method: str, wanted: Wanted, module: ModuleType) -> Way | None:
    """The method of an instance, called directly."""
    name = _mangled(cls, method)
    function = getattr(cls, name, None)
    static = inspect.getattr_static(cls, name, None)
    if (
        function is None
        or isinstance(static, (property, staticmethod))
        or method in ("__init__", "build")
    ):
        return None
    settings = tuple(signatures.settings_of(cls))
    is_bound_to_class = isinstance(static, classmethod)
    # A mixin reads the configuration of the class that it is mixed into.
    configurations = [one for one in ("config", "hparams") if f"self.{one}" in class_usages(cls)]
    parameters = tuple(
        signatures.parameters_of(
            function, is_method=not is_bound_to_class, beliefs=wanted.parameters
        )
        if not is_bound_to_class
        else signatures.parameters_of(function, is_method=True, beliefs=wanted.parameters)
    )

    def bind(made_with: Mapping[str, Any], given: Mapping[str, Any]) -> Bound:
        owner: Any = cls if is_bound_to_class else cls(**made_with)
        for missing in configurations:
            if not hasattr(owner, missing):
                setattr(owner, missing, makers.Answering())
        bound = getattr(owner, name)
        if not (is_bound_to_class or inspect.ismethod(bound)):
            bound = _held(owner, name)
        args, kwargs = _split(given, parameters, set(), first_by_position=False)
        compiled = as_traced(bound, wanted.is_converted)
        return Bound(bound, compiled, args, kwargs)

    return Way(
        f"{cls.__name__}.{method}, called directly",
        () if is_bound_to_class else settings,
        parameters,
        bind,
        _module_of(cls, module),
        cls,
    )


def _held(owner: Any, name: str) -> Callable[..., Any]:
    """A method of an object that lives as long: a tf.function forgets whose method it is when nobody else holds the object."""
    return lambda *args, **kwargs: getattr(owner, name)(*args, **kwargs)


# Round about


def _through_chain(wanted: Wanted, module: ModuleType) -> Iterator[Way]:
    """The layers, models and functions by which check itself came to the function."""
    modules = [module, *(one for name in wanted.modules if (one := _import(name)) is not None)]
    for step in reversed(wanted.via):
        words = _WORD.findall(step.partition(".<locals>")[0])
        for holder in modules:
            found = resolve(holder, ".".join(words[-2:])) if len(words) > 1 else None
            cls = resolve(holder, words[-2]) if len(words) > 1 else None
            last = resolve(holder, words[-1]) if words else None
            if inspect.isclass(cls) and found is not None:
                yield from _of_class(cls, words[-1], wanted, holder)
            elif inspect.isclass(last) and kind_of(last):
                yield from _of_class(last, "call", wanted, holder)
            elif inspect.isroutine(last) or hasattr(last, "python_function"):
                yield from _guarded(partial(of_function, last, wanted, holder))


def _callers(name: str, wanted: Wanted, module: ModuleType, owner: type | None) -> Iterator[Way]:
    """Other functions and methods of the module whose code names the function."""
    if not name:
        return
    count = 0
    for holder in (module, *(one for part in wanted.modules if (one := sys.modules.get(part)))):
        for attribute, item in list(vars(holder).items()):
            if getattr(item, "__module__", None) != holder.__name__ or attribute == name:
                continue
            if count >= _MOST_CALLERS:
                return
            if inspect.isclass(item):
                for method in [
                    m for m, f in vars(item).items() if _mentions(f, name) and m != name
                ][:2]:
                    count += 1
                    yield from _of_class(item, method, wanted, holder)
            elif _mentions(item, name):
                count += 1
                yield from _guarded(partial(of_function, item, wanted, holder))


def _mentions(item: Any, name: str) -> bool:
    code = code_of(item) if callable(item) and not inspect.isclass(item) else None
    waiting: list[Any] = [code] if code is not None else []
    while waiting:
        one: Any = waiting.pop()
        if name in one.co_names:
            return True
        waiting += [constant for constant in one.co_consts if inspect.iscode(constant)]
    return False


def resolve(module: ModuleType, qualname: str) -> Any:
    value: Any = module
    for part in qualname.split("."):
        if inspect.isclass(value):
            part = _mangled(value, part)
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def _mangled(cls: type, name: str) -> str:
    """`__private` as Python spells it in a class."""
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if is_private else name


def _subclasses(cls: type) -> list[type]:
    found: list[type] = []
    direct: list[type] = type.__subclasses__(cls)
    for one in direct:
        found += [one, *_subclasses(one)]
    return list(dict.fromkeys(found))


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # a module of the chain that cannot be imported is no way in
        return None


def _module_of(item: Any, fallback: ModuleType) -> ModuleType:
    return sys.modules.get(getattr(plain(item), "__module__", ""), fallback)


def _name(function: Any) -> str:
    name = getattr(plain(function), "__qualname__", None) or getattr(
        function, "__name__", "function"
    )
    return str(name)
