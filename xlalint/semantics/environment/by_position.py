"""What layers and models of Keras 3 are handed by position: tensors alone. `layer(x, training)` and `model(x, True)` raise a ValueError there.

None may stand there, arrays are made tensors, and layers that prepare data take anything (measured, Keras 3.15: fixtures/XLA504/
flagged_arguments_by_position.py). The constructors of metrics and losses of one's own take the same arguments in another order than in Keras 2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xlalint.semantics.classes import LAYER, LOSS, METRIC, MODEL
from xlalint.semantics.elements import leaves
from xlalint.semantics.environment.own_classes import is_of_keras_3
from xlalint.semantics.facts import REFUSED, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import found_in
from xlalint.semantics.values import INSTANCE, NONE, NOTHING_KNOWN, PYTHON, Value, class_name

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_OBJECTS = (
    "keras.layers.",
    "keras.Model",
    "keras.Sequential",
    "keras.models.",
    "keras.applications.",
)
# Layers that prepare data: lists and texts as well as tensors.
_TAKE_ALL = frozenset(
    "AugMix AutoContrast CategoryEncoding CenterCrop ContrastLimitedAdaptiveHistogramEqualization CutMix Discretization Equalization "
    "HashedCrossing Hashing IntegerLookup MaxNumBoundingBoxes MelSpectrogram MixUp Normalization Pipeline RandAugment Rescaling Resizing "
    "Solarization StringLookup TextVectorization".split()
)
_FLAGS = frozenset({"training", "is_training"})
_CALLS: frozenset[type[ast.AST]] = frozenset({ast.Call})
_REDUCTIONS = frozenset({"auto", "none", "sum", "sum_over_batch_size"})


def note_call(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note the call of an object that is a layer or model of Keras 3."""
    if frame.silent or frame.caught or not isinstance(node, ast.Call):
        return
    named = _parameters(target, frame)
    if named is None or any(isinstance(given, ast.Starred) for given in node.args):
        return
    for place, (given, value) in enumerate(zip(node.args, arguments.positional)):
        if place and _is_no_tensor(given, value):
            name = named[place] if place < len(named) else "its name"
            if isinstance(given, ast.Name) and given.id in _FLAGS:
                name = "training"
            use = f"`{name}={ast.unparse(given)}`" if name.isidentifier() else "it with its name"
            words = (("value", ast.unparse(given)), ("use", use))
            frame.analysis.note_anywhere(frame, given, REFUSED, value, Remark("by-position", words))
            return


def _parameters(target: Value, frame: Frame) -> tuple[str, ...] | None:
    """What the object takes, as far as that is known; None of what is no layer or model of Keras 3, or has a call of its own."""
    classes = frame.analysis.classes
    if isinstance(target.ref, ClassInfo):
        cls = target.ref
        if not is_of_keras_3(cls, frame.analysis, (LAYER, MODEL)):
            return None
        if classes.method(cls, "__call__") is not None:
            return None
        if any(
            "_allow_non_tensor_positional_args" in each.module.text for each in classes.line(cls)
        ):
            return None
        method = classes.method(cls, "call")
        return _own_parameters(method)
    name = class_name(target) or ""
    plain = api_name(name)
    if name.startswith("tf_keras.") or not plain.startswith(_OBJECTS):
        return None
    leaf = plain.rpartition(".")[2]
    return None if leaf in _TAKE_ALL or leaf.startswith("Random") else ()


def _own_parameters(method: FunctionInfo | None) -> tuple[str, ...]:
    if method is None:
        return ()
    given = method.node.args
    return tuple(each.arg for each in (*given.posonlyargs, *given.args))[1:]


def _is_no_tensor(given: ast.expr, value: Value) -> bool:
    """Whether an argument is surely something else than a tensor, an array or None."""
    if isinstance(given, ast.Name) and given.id in _FLAGS and value.kind is PYTHON:
        return value != NONE  # Keras sets it, to True or False
    return any(
        leaf.constant() is not None and leaf != NONE
        for leaf in leaves(value)
        if leaf.kind is PYTHON
    )


def note_super(instance: Value, arguments: Arguments, node: ast.Call, frame: Frame) -> None:
    """The same of `super().__call__(inputs, training)`, which Keras's own `__call__` gets."""
    cls = instance.ref
    if instance.kind is not INSTANCE or not isinstance(cls, ClassInfo) or frame.silent:
        return
    if not is_of_keras_3(cls, frame.analysis, (LAYER, MODEL)):
        return
    for place, (given, value) in enumerate(zip(node.args, arguments.positional)):
        if place and not isinstance(given, ast.Starred) and _is_no_tensor(given, value):
            words = (("value", ast.unparse(given)), ("use", f"`{ast.unparse(given)}=...`"))
            frame.analysis.note_anywhere(frame, given, REFUSED, value, Remark("by-position", words))
            return


def note_constructor(cls: ClassInfo, frame: Frame) -> None:
    """`super().__init__(name)` in a metric, and `super().__init__(reduction, name)` in a loss: Keras 3 has these parameters the other way round."""
    analysis = frame.analysis
    for kind, base, first in (
        (METRIC, "keras.metrics.Metric", "name"),
        (LOSS, "keras.losses.Loss", "reduction"),
    ):
        if analysis.classes.bases(cls)[:1] == (base,) and is_of_keras_3(cls, analysis, (kind,)):
            method = cls.methods.get("__init__")
            for call in _handed_on(method) if method is not None else ():
                given = call.args[0]
                if _is_meant(given, first, method):
                    words = (
                        ("value", ast.unparse(given)),
                        ("use", f"`{first}={ast.unparse(given)}`"),
                        ("base", base),
                    )
                    analysis.keep(
                        frame, given, REFUSED, NOTHING_KNOWN, Remark("other-order", words)
                    )


def _handed_on(method: FunctionInfo) -> Iterator[ast.Call]:
    for node in found_in([method.node], _CALLS):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            made = node.func.value
            is_super = isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
            if is_super and made.func.id == "super" and node.func.attr == "__init__":  # type: ignore[attr-defined]
                yield node


def _is_meant(given: ast.expr, parameter: str, method: FunctionInfo | None) -> bool:
    """Whether an argument is a name for a metric, or a reduction, and is sure to be one when it is run with defaults."""
    if isinstance(given, ast.Constant):
        if parameter == "name":
            return isinstance(given.value, str)
        return given.value in _REDUCTIONS
    if isinstance(given, ast.Attribute):
        return parameter == "reduction" and "Reduction" in ast.unparse(given.value)
    if not isinstance(given, ast.Name) or given.id != parameter or method is None:
        return False
    default = method.default_of(parameter)
    return (
        default is None
        or (isinstance(default, ast.Constant) and isinstance(default.value, str))
        or isinstance(default, ast.Attribute)
    )
