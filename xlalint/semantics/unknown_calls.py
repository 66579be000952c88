"""What calls of something unknown give: of models and layers that nobody shows (`self.generator(z, training=True)`, where a constructor
was handed it, `model(x)` beside `model.trainable_variables`), and of losses, whoever computes them.

Keras alone says `training=` to what it calls, and trains what has `trainable_variables`; both give tensors for tensors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from xlalint.semantics import symbolic
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.classes import LAYER, LOSS, METRIC, MODEL
from xlalint.semantics.elements import flattened
from xlalint.semantics.facts import COMPILED
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name
from xlalint.semantics.values import COMPUTED, NOTHING_KNOWN, TENSOR, UNKNOWN, Value

_TRAINING = "training"
# What an attribute is called that is asked for something else than tensors.
_GIVES_NUMBERS = re.compile(
    r"(^|_)(shape|size|len|length|rank|ndim|dims?|axis|num|count|name|logger|callback|hook|print|is|has|should)(_|$)"
)
_NAMED = re.compile(
    r"(^|_)(q?network|model|q?net|gen|generator|disc|discriminator|critic|actor|policy|encoder|decoder|backbone|classifier|teacher|"
    r"student|mlp|head|layer|block|conv|dense|fc|norm|activation)(_(local|target|online|main|old|ema|real|fake|[a-z]))?_?\d*_?$",
    re.IGNORECASE,
)
_LOSSES = re.compile(r"(^|_)(loss|losses|criterion|lossfn)(_(fn|func|function|object|obj))?_?$")
# Classes whose constructors are handed functions of tensors.
_KEEPERS = frozenset({LAYER, LOSS, METRIC, MODEL})
DENSITIES = frozenset({"log_prob", "prob", "kl_divergence"})


def returned(func: ast.expr, arguments: Arguments, frame: Frame) -> Value:
    """What a call gives in compiled code that is of a model, a layer or a loss by how it is called, by what else is asked of it, by
    its name, or as what it is kept: tensors, in whatever structure. Nothing is known where no tensor is handed to it.
    """
    if not frame.context.is_compiled:
        return NOTHING_KNOWN
    if isinstance(func, ast.Attribute) and func.attr == "call":
        func = func.value  # `self.model.call(x, training)`
    value = _returned(func, flattened(arguments.values), arguments, frame)
    return symbolic.made_by_keras(value, arguments) if frame.analysis.makes_symbolic else value


def _returned(func: ast.expr, given: Sequence[Value], arguments: Arguments, frame: Frame) -> Value:
    # What is compiled works on tensors, whether or not it is known which.
    is_traced = frame.context.region == COMPILED
    are_tensors = any(leaf.is_tensor and not leaf.guess for leaf in given)
    if are_tensors and _is_loss(func):
        return Value(TENSOR, COMPUTED, sure=False)
    if not any(leaf.is_tensor or (is_traced and leaf.kind is UNKNOWN) for leaf in given):
        return NOTHING_KNOWN
    if _TRAINING in arguments.keywords or _is_trained(func, frame.function):
        return _tensors(is_traced and are_tensors)
    is_told = _is_density(func) or _is_layer_of_model(func) or _is_named(func)
    if is_told and (is_traced or are_tensors):
        return _tensors(False)
    if are_tensors and (_is_kept(func, frame) or _is_handed(func, frame.function)):
        return _tensors(False)
    return NOTHING_KNOWN


def _tensors(is_sure: bool) -> Value:
    return Value(TENSOR, COMPUTED, sure=is_sure, structured=True)


def _is_loss(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return _LOSSES.search(name) is not None


def _is_trained(func: ast.expr, caller: FunctionInfo | None) -> bool:
    trained = caller.training_uses.trained if caller is not None else ()
    return bool(trained) and ast.unparse(func) in trained


def _is_density(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and func.attr in DENSITIES


def _is_layer_of_model(func: ast.expr) -> bool:
    """`model.layers[-1](x)`, `model.get_layer("head")(x)`."""
    if isinstance(func, ast.Subscript):
        return isinstance(func.value, ast.Attribute) and func.value.attr == "layers"
    return isinstance(func, ast.Call) and called_name(func) == "get_layer"


def _is_named(func: ast.expr) -> bool:
    """`teacher(x)`, `self.Decoder(x)`; what `Decoder(x)` makes is a decoder."""
    if isinstance(func, ast.Name):
        return func.id[:1].islower() and _NAMED.search(func.id) is not None
    return isinstance(func, ast.Attribute) and _NAMED.search(func.attr) is not None


def _is_handed(func: ast.expr, caller: FunctionInfo | None) -> bool:
    """`kernel(x, y)`, of a function that a parameter holds."""
    if not isinstance(func, ast.Name) or caller is None or _GIVES_NUMBERS.search(func.id):
        return False
    return func.id in caller.parameter_names


def _is_kept(func: ast.expr, frame: Frame) -> bool:
    """Whether a layer or a model keeps in an attribute what is called, and nothing is known of it but what it is called with."""
    cls = frame.function.cls if frame.function is not None else None
    role = frame.analysis.classes.role(cls) if cls is not None else None
    if cls is None or role is None or role.kind not in _KEEPERS:
        return False
    if isinstance(func, ast.Call):  # `getattr(self, f"block_{i}")(x)`
        owner = func.args[0] if called_name(func) == "getattr" and func.args else None
        return isinstance(owner, ast.Name) and owner.id == frame.self_name
    keeper = _keeper(func, frame)
    if keeper is None or _GIVES_NUMBERS.search(keeper):
        return False
    return frame.analysis.objects.instance_attribute(cls, keeper) is not None


def _keeper(func: ast.expr, frame: Frame) -> str | None:
    """The attribute of `self` that holds what is called: `self.head(x)`, `self.heads[name](x)`, `for conv in self.convs: x = conv(x)`."""
    if isinstance(func, ast.Subscript):
        func = func.value
    if isinstance(func, ast.Name):
        func = _gone_through(func.id, frame.function) or func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        return func.attr if func.value.id == frame.self_name else None
    return None


def _gone_through(name: str, info: FunctionInfo | None) -> ast.expr | None:
    """What a loop takes the items from that it calls by this name; of `zip` and `enumerate`, what stands at its place."""
    for node in () if info is None else info.telling:
        if not isinstance(node, ast.For):
            continue
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        place = next((i for i, t in enumerate(targets) if getattr(t, "id", "") == name), None)
        if place is None:
            continue
        if isinstance(node.iter, ast.Call) and called_name(node.iter) in ("zip", "enumerate"):
            place -= called_name(node.iter) == "enumerate"
            return node.iter.args[place] if 0 <= place < len(node.iter.args) else None
        return node.iter
    return None
