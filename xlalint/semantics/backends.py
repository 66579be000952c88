"""Code that runs on one of several frameworks: of what a name may stand for there, what TensorFlow runs is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.joins import alternatives
from xlalint.semantics.names import mentions_tensorflow
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import (
    ANY_OF,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    NOTHING_KNOWN,
    UNKNOWN,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.classes import ClassTable
    from xlalint.semantics.frames import Frame

# As `names.canonical` spells them: the packages, and the modules of Keras 3 that compute with them.
_TENSORFLOW = re.compile(r"(tf|keras|tf_keras)(\.|$)")
_OTHERS = tuple("torch jax flax haiku cupy mxnet paddle mindspore theano mlx autograd dask".split())
_ANY_OTHER = "|".join(_OTHERS)
_OTHER = re.compile(
    rf"({_ANY_OTHER}|np)(\.|$)|keras\.backend\.(jax|torch|numpy|openvino|mlx)(\.|$)"
)
_IMPORTS_ANOTHER = re.compile(
    rf"^[ \t]*(?:import|from)[ \t]+(?:{_ANY_OTHER}|numpy)\b", re.MULTILINE
)

_BACKEND = "backend"


def of_tensorflow(value: Value) -> Value:
    """What TensorFlow code gets of `torch if ... else tf`, or of the modules, classes and objects that stand for either.

    A choice that is not between frameworks comes back as it is.
    """
    if value.kind is not ANY_OF:
        return value
    every = alternatives(value)
    kept = tuple(one for one in every if not _is_of_another(one))
    if len(kept) == len(every) or not any(map(_is_of_tensorflow, kept)):
        return value
    return kept[0] if len(kept) == 1 else value._replace(ref=kept)


def is_of_tensorflow(node: ast.If, frame: Frame) -> bool | None:
    """The answer with which a module goes on to its arm for TensorFlow: `if BACKEND == "jax": import jax` and `elif ...: import tensorflow`.

    None where the arms do not import one a framework and the other TensorFlow.
    """
    if frame.function is not None:
        return None
    own, rest = (set(_frameworks_in(arm)) for arm in (node.body, node.orelse))
    if own == {False} and True in rest:
        return False
    return True if own == {True} and False in rest else None


def _frameworks_in(block: Iterable[ast.stmt]) -> Iterator[bool]:
    """For each framework that a block imports: whether it is TensorFlow."""
    for node in nodes_of(block, into_functions=False):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            root = name.partition(".")[0]
            if root == "tensorflow":
                yield True
            elif root in _OTHERS:
                yield False


def named(value: Value, name: str, attr: str, frame: Frame) -> Value:
    """The object of TensorFlow's class, where a name says that a backend is meant, and the value is unknown or of another's.

    `attr` is what is asked of it: an unknown value that has that method is the object.
    """
    if _BACKEND not in name.lower() or value.kind not in (UNKNOWN, INSTANCE):
        return value
    cls = frame.analysis.modules.frameworks.backend_class(frame.module.name)
    if cls is None:
        return value
    classes = frame.analysis.classes
    if value.kind is INSTANCE:
        is_alike = isinstance(value.ref, ClassInfo) and _are_alike(value.ref, cls, classes)
        return Value(INSTANCE, ref=cls) if is_alike else value
    return Value(INSTANCE, ref=cls) if classes.method(cls, attr) is not None else value


def returned(value: Value, info: FunctionInfo, frame: Frame) -> Value:
    """What a function gives that hands out the backend in use: `get_backend(x)`."""
    if value != NOTHING_KNOWN or not info.name.lower().endswith(_BACKEND):
        return value
    cls = frame.analysis.modules.frameworks.backend_class(info.module.name)
    return value if cls is None else Value(INSTANCE, ref=cls)


def of_local(callee: ast.expr, info: FunctionInfo, frame: Frame) -> Value:
    """The method that a function calls of what it got for a backend: `nx.sum`, after `nx = get_backend(x)`."""
    if not (isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name)):
        return NOTHING_KNOWN
    for node in info.telling:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == callee.value.id:
                if called_name(node.value).lower().endswith(_BACKEND):
                    return _method(callee.attr, frame)
    return NOTHING_KNOWN


def _method(name: str, frame: Frame) -> Value:
    cls = frame.analysis.modules.frameworks.backend_class(frame.module.name)
    method = frame.analysis.classes.method(cls, name) if cls is not None else None
    return (
        NOTHING_KNOWN if method is None else Value(FUNCTION, ref=(method, Value(INSTANCE, ref=cls)))
    )


def _are_alike(one: ClassInfo, other: ClassInfo, classes: ClassTable) -> bool:
    """Whether two classes have a base of the project in common, neither being made of the other."""
    ours, theirs = classes.line(one), classes.line(other)
    return other not in ours and not set(ours).isdisjoint(theirs)


def _is_of_tensorflow(one: Value) -> bool:
    if one.kind is EXTERNAL:
        return _TENSORFLOW.match(one.ref) is not None
    module = _module(one)
    return module is not None and mentions_tensorflow(module.text)


def _is_of_another(one: Value) -> bool:
    if one.kind is EXTERNAL:
        return _OTHER.match(one.ref) is not None
    module = _module(one)
    if module is None or mentions_tensorflow(module.text):
        return False
    return _IMPORTS_ANOTHER.search(module.text) is not None


def _module(one: Value) -> ModuleInfo | None:
    """The module of the project that a value is, or that defines it."""
    owner = one.ref[0] if isinstance(one.ref, tuple) and one.ref else one.ref
    if isinstance(owner, ModuleInfo):
        return owner
    return owner.module if isinstance(owner, (ClassInfo, FunctionInfo)) else None
