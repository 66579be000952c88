"""Code that runs on one of several frameworks: of what a name may stand for there, what TensorFlow runs is meant."""

from __future__ import annotations

import re

from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.joins import alternatives
from xlalint.semantics.names import mentions_tensorflow
from xlalint.semantics.values import ANY_OF, EXTERNAL, Value

# As `names.canonical` spells them: the packages, and the modules of Keras 3 that compute with them.
_TENSORFLOW = re.compile(r"(tf|keras|tf_keras)(\.|$)")
_OTHERS = "torch|jax|flax|haiku|cupy|mxnet|paddle|mindspore|theano|mlx|autograd|dask"
_OTHER = re.compile(rf"({_OTHERS}|np)(\.|$)|keras\.backend\.(jax|torch|numpy|openvino|mlx)(\.|$)")
_IMPORTS_ANOTHER = re.compile(rf"^[ \t]*(?:import|from)[ \t]+(?:{_OTHERS}|numpy)\b", re.MULTILINE)


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
