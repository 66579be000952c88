"""Models that nobody shows: what `self.generator(z, training=True)` gives, where a constructor was handed it, or `model(x)` beside
`model.trainable_variables`.

Keras alone says `training=` to what it calls, and trains what has `trainable_variables`; both give tensors for tensors.
"""

from __future__ import annotations

import ast
import re

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.classes import LAYER, MODEL
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import COMPILED
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import COMPUTED, NOTHING_KNOWN, TENSOR, Value

_TRAINING = "training"
# What an attribute is called that is asked for something else than tensors.
_GIVES_NUMBERS = re.compile(
    r"(^|_)(shape|size|len|length|rank|ndim|dims?|axis|num|count|name|log|logger|callback|hook|print|is|has|should)(_|$)"
)
_NAMED = re.compile(
    r"(^|_)(model|network|net|generator|discriminator|critic|actor|policy|encoder|decoder|backbone|classifier|teacher|student)$"
)
_OF_MODELS = frozenset({"trainable_variables", "trainable_weights"})


def returned(func: ast.expr, arguments: Arguments, frame: Frame) -> Value:
    """What a call of something unknown gives that is a model or a layer, by how it is called, by what else is asked of it, or as
    what it is kept: tensors, in whatever structure. Nothing is known where no tensor is handed to it.
    """
    if not frame.context.is_compiled or not isinstance(
        func, (ast.Name, ast.Attribute, ast.Subscript)
    ):
        return NOTHING_KNOWN
    given = [leaf for value in arguments.positional for leaf in leaves(value)]
    tensors = [leaf for leaf in given if leaf.is_tensor]
    is_called_so = _TRAINING in arguments.keywords
    if is_called_so or ast.unparse(func) in _trained(frame.function):
        is_sure = frame.context.region == COMPILED and any(not leaf.guess for leaf in tensors)
        return _tensors(is_sure) if tensors else NOTHING_KNOWN
    is_named = isinstance(func, ast.Name) and _NAMED.search(func.id) is not None
    if (is_named or _is_kept(func, frame)) and any(not leaf.guess for leaf in tensors):
        return _tensors(False)
    return NOTHING_KNOWN


def _tensors(is_sure: bool) -> Value:
    return Value(TENSOR, COMPUTED, sure=is_sure, structured=True)


def _is_kept(func: ast.expr, frame: Frame) -> bool:
    """Whether a layer or a model keeps in an attribute what is called, and nothing is known of it but what it is called with."""
    if isinstance(func, ast.Subscript):
        func = func.value  # `self.heads[name](x)`
    cls = frame.function.cls if frame.function is not None else None
    if cls is None or not isinstance(func, ast.Attribute) or _GIVES_NUMBERS.search(func.attr):
        return False
    role = frame.analysis.classes.role(cls)
    if role is None or role.kind not in (LAYER, MODEL):
        return False
    is_own = isinstance(func.value, ast.Name) and func.value.id == frame.self_name
    return is_own and frame.analysis.objects.instance_attribute(cls, func.attr) is not None


def _trained(info: FunctionInfo | None) -> frozenset[str]:
    """What a function asks for the variables that are trained: the text of `self.generator` in `self.generator.trainable_weights`."""
    if info is None:
        return frozenset()
    return frozenset(
        ast.unparse(part.value)
        for call in info.calls
        for part in nodes_of(call.args)
        if isinstance(part, ast.Attribute) and part.attr in _OF_MODELS
    )
