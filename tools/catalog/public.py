"""The public API of the installed TensorFlow and Keras: canonical names, aliases, and how to get at each object."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.util import tf_decorator, tf_inspect

from tools.catalog.methods import methods

# The same things under other names, and Keras, which is walked on its own terms below.
_ALIAS_MODULES = frozenset(
    {
        "tf.keras",
        "tf.compat.v1.keras",
        "tf.compat.v2",
        "tf.compat.v1.compat",
        "tf.compat.v1.raw_ops",
    }
    | {"tf.estimator", "tf.compat.v1.estimator", "tf.initializers", "tf.losses", "tf.metrics"}
    | {"tf.optimizers", "tf.raw_ops"}
)
_KERAS_PRIVATE = frozenset({"api", "src", "protobuf", "internal", "engine", "distribute"})
# Keras 2 beside Keras 3, whose names all differ in what they stand for.
LEGACY_KERAS = "tf_keras"


@dataclass(frozen=True)
class Public:
    """One callable of the public API. `aliases` are its other names; `params` its parameter names in order."""

    name: str
    target: Callable[..., Any]
    aliases: tuple[str, ...]
    is_class: bool
    parameters: tuple[inspect.Parameter, ...] | None

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters or ())


def enumerate_public() -> dict[str, Public]:
    """Every public callable by canonical name: `tf.*`, what differs in `tf.compat.v1`, `tf.raw_ops`, Keras."""
    names: dict[int, list[str]] = {}
    objects: dict[int, Any] = {}
    for name, target in _walk_all():
        objects.setdefault(id(target), target)
        spellings = names.setdefault(id(target), [])
        if name not in spellings:
            spellings.append(name)
    found = [_public(objects[key], names[key]) for key in names]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def keras_version() -> str | None:
    """The version of the Keras behind `tf.keras`."""
    version = getattr(tf.keras, "__version__", None)
    if version is None and hasattr(tf.keras, "version"):
        version = tf.keras.version()
    return version if isinstance(version, str) else None


def _public(target: Any, names: list[str]) -> Public:
    name = _canonical(target, names)
    return Public(
        name=name,
        target=target,
        aliases=tuple(sorted(set(names) - {name})),
        is_class=inspect.isclass(target),
        parameters=_parameters(target),
    )


def _walk_all() -> Iterator[tuple[str, Any]]:
    yield from _walk(tf, "tf", 0)
    yield from _members(tf.raw_ops, "tf.raw_ops")
    for root in _keras_roots():
        yield from _walk_keras(root, "keras", 0)
    legacy = legacy_keras()
    if legacy is not None:
        yield from _walk_keras(legacy, LEGACY_KERAS, 0)
    yield from methods()


def legacy_keras() -> Any | None:
    """The module `tf_keras` where it is installed beside Keras 3, else None."""
    if not (keras_version() or "").startswith("3"):
        return None
    try:
        return importlib.import_module(LEGACY_KERAS)
    except ImportError:
        return None


def _keras_roots() -> tuple[Any, ...]:
    """Keras 3 keeps the Keras 2 backend functions under `tf.keras.backend` only, so both trees count there."""
    try:
        import keras
    except ImportError:
        return (tf.keras,)
    return (keras, tf.keras) if str(keras.__version__).startswith("3") else (tf.keras,)


def _walk(module: types.ModuleType, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in _members(module, path):
        if not isinstance(value, types.ModuleType):
            yield name, value
        elif depth < 5 and name not in _ALIAS_MODULES and _is_public(value):
            yield from _walk(value, name, depth + 1)


def _walk_keras(module: types.ModuleType, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in _members(module, path):
        if not isinstance(value, types.ModuleType):
            yield name, value
        elif depth < 3 and "keras" in _module_name(value) and not _is_private(name):
            yield from _walk_keras(value, name, depth + 1)


def _is_private(module: str) -> bool:
    return module.count(".") == 1 and module.rsplit(".", 1)[1] in _KERAS_PRIVATE


def _is_public(module: types.ModuleType) -> bool:
    """Part of the generated API; older versions name it otherwise and take `tf.summary` from TensorBoard."""
    name = _module_name(module)
    return "._api." in name or name.startswith(
        ("tensorflow.compat", "tensorflow.experimental", "tensorboard.summary")
    )


def _module_name(module: types.ModuleType) -> str:
    """Empty for lazily loaded parts that this environment lacks."""
    return getattr(module, "__name__", "")


def _members(module: types.ModuleType, path: str) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except Exception:  # a lazily loaded part that this environment lacks
            continue
        if isinstance(value, types.ModuleType) or callable(value):
            yield f"{path}.{name}", value


def _canonical(target: Any, names: list[str]) -> str:
    """TensorFlow's own first name for the symbol where it says so, else the shortest path.

    `tf.compat.v1` names count only for what is nowhere else.
    """
    functions = [name for name in names if ".__" not in name] or names  # operators come last
    modern = [name for name in functions if not name.startswith("tf.compat.v1.")] or functions
    if inspect.isclass(target):
        modern = [name for name in modern if name.rsplit(".", 1)[1][0].isupper()] or modern
    official = getattr(tf_decorator.unwrap(target)[1], "_tf_api_names", None) or ()
    for name in official:
        if f"tf.{name}" in modern:
            return f"tf.{name}"
    return min(modern, key=_plainness)


def _plainness(name: str) -> tuple[int, int, str]:
    """Few dots first, then the long spelling (`mean_squared_error` before `mse`), then the alphabet.

    Keras repeats at its root what its namespaces hold: `keras.layers.Layer` stays under its namespace.
    """
    dots = name.count(".")
    at_root = name.startswith(("keras.", "tf_keras.")) and dots == 1
    return (3 if at_root else dots, -len(name.rsplit(".", 1)[1]), name)


def _parameters(target: Any) -> tuple[inspect.Parameter, ...] | None:
    for read in (inspect.signature, tf_inspect.signature):
        try:
            return tuple(read(target).parameters.values())
        except (TypeError, ValueError):
            continue
    return None
