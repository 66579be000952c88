"""The public API of the installed TensorFlow and Keras: canonical names, aliases, and how to get at each object."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.util import tf_decorator, tf_inspect

# Walked on their own terms below, or holding nothing that a program calls.
_SKIPPED_MODULES = frozenset(
    {"tf.keras", "tf.estimator", "tf.compat.v1.keras", "tf.compat.v1.estimator", "tf.compat.v2"}
    | {"tf.compat.v1.compat", "tf.lite", "tf.compat.v1.lite", "tf.initializers", "tf.losses"}
    | {"tf.metrics", "tf.optimizers", "tf.compat.v1.app", "tf.compat.v1.flags", "tf.flags"}
    | {"tf.compat.v1.logging", "tf.compat.v1.resource_loader", "tf.compat.v1.gfile", "tf.raw_ops"}
    | {
        "tf.compat.v1.raw_ops",
        "tf.mlir",
        "tf.test",
        "tf.compat.v1.test",
        "tf.compat.v1.initializers",
    }
)
_KERAS_NAMESPACES = ("layers", "ops", "losses", "metrics", "activations", "random", "backend")
# Methods reached from a value, that users call in models; `self` is their first parameter.
_METHODS = {
    "tf.RaggedTensor": (
        "bounding_shape", "from_nested_row_lengths", "from_nested_row_splits", "from_row_lengths",
        "from_row_limits", "from_row_splits", "from_row_starts", "from_tensor", "from_uniform_row_length",
        "from_value_rowids", "merge_dims", "nrows", "row_lengths", "row_limits", "row_starts", "to_sparse",
        "to_tensor", "value_rowids", "with_values",
    ),
    "tf.lookup.StaticHashTable": ("lookup", "size"),
}  # fmt: skip


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
    for roots in _keras_roots():
        for namespace in _KERAS_NAMESPACES:
            module = getattr(roots, namespace, None)
            if module is not None:
                yield from _walk_keras(module, f"keras.{namespace}", 0)
    for owner, methods in _METHODS.items():
        cls: Any = tf
        for part in owner.split(".")[1:]:
            cls = getattr(cls, part)
        for method in methods:
            if hasattr(cls, method):
                yield f"{owner}.{method}", getattr(cls, method)


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
        elif depth < 5 and name not in _SKIPPED_MODULES and _is_public(value):
            yield from _walk(value, name, depth + 1)


def _walk_keras(module: types.ModuleType, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in _members(module, path):
        if not isinstance(value, types.ModuleType):
            yield name, value
        elif depth < 2 and "keras" in _module_name(value):
            yield from _walk_keras(value, name, depth + 1)


def _is_public(module: types.ModuleType) -> bool:
    """Part of the generated API; older versions name it otherwise and take `tf.summary` from TensorBoard."""
    name = _module_name(module)
    return "._api." in name or name.startswith(("tensorflow.compat", "tensorboard.summary"))


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
    modern = [name for name in names if not name.startswith("tf.compat.v1.")] or names
    official = getattr(tf_decorator.unwrap(target)[1], "_tf_api_names", None) or ()
    for name in official:
        if f"tf.{name}" in modern:
            return f"tf.{name}"
    return min(modern, key=_plainness)


def _plainness(name: str) -> tuple[int, int, str]:
    """Few dots first, then the long spelling (`mean_squared_error` before `mse`), then the alphabet."""
    return (name.count("."), -len(name.rsplit(".", 1)[1]), name)


def _parameters(target: Any) -> tuple[inspect.Parameter, ...] | None:
    for read in (inspect.signature, tf_inspect.signature):
        try:
            return tuple(read(target).parameters.values())
        except (TypeError, ValueError):
            continue
    return None
