"""What layers and models of Keras 2 did with shapes, weights and variables, and those of Keras 3 cannot do.

Keras 3 hands `build` and `compute_output_shape` a tuple where Keras 2 handed a tf.TensorShape; its weights are variables of its own, without
most methods of tf.Variable; and a tf.Variable that a layer keeps is no weight of it, so that `fit` leaves it as it is
(fixtures/XLA504/flagged_layers_of_keras_2.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from xlalint.semantics.classes import LAYER, MODEL
from xlalint.semantics.environment import by_position
from xlalint.semantics.environment.own_classes import bases_of, is_of_keras_3, is_plain
from xlalint.semantics.environment.rename_table import Entry, of_value, table
from xlalint.semantics.facts import EAGER, REFUSED, RENAMED, UNTRACKED, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import found_in
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_GIVEN_SHAPES = ("build", "compute_output_shape")
# Classes of one's own whose base has its parameters in another order than in Keras 2.
_REORDERED = ("Metric)", "Loss)")
_CALLS: frozenset[type[ast.AST]] = frozenset({ast.Call})
_ASSIGNMENTS: frozenset[type[ast.AST]] = frozenset({ast.Assign})


def note(analysis: Analysis, modules: Iterable[ModuleInfo]) -> None:
    """Keep a fact for each such place in the layers and models of these modules, where they run with Keras 3."""
    if analysis.keras != "3":
        return
    for module in modules:
        if not module.may_hold_findings or "keras" not in module.text:
            continue
        if any(word in module.text for word in _REORDERED):
            for cls in module.classes:
                by_position.note_constructor(cls, _frame(cls, None, analysis))
        if any(f"self.{name} = " in module.text for name in _kept_names()):
            for cls in module.classes:
                _note_kept(cls, analysis)
        kinds = _kinds_in(module.text)
        for cls in module.classes if kinds else ():
            if is_of_keras_3(cls, analysis, (LAYER, MODEL)):
                for note_kind in kinds:
                    note_kind(cls, analysis)


def _kinds_in(text: str) -> list[Callable[[ClassInfo, Analysis], None]]:
    """What a module of this text may hold."""
    kinds: list[Callable[[ClassInfo, Analysis], None]] = []
    if any(f"def {name}(" in text for name in _GIVEN_SHAPES) and _asks(table().shapes, text):
        kinds.append(_note_shapes)
    if "add_weight(" in text and _asks(table().weights, text):
        kinds.append(_note_weights)
    if ".Variable" in text:
        kinds.append(_note_variables)
    return kinds


@cache
def _kept_names() -> frozenset[str]:
    return frozenset(name for given in table().kept.values() for name in given)


def _note_kept(cls: ClassInfo, analysis: Analysis) -> None:
    """`self.model = model` in a callback: of the class that it inherits from, `model` is a property."""
    line, bases = analysis.classes.line(cls), bases_of(cls, analysis)
    names = {n: (base, e) for base in bases if isinstance(base, str) for n, e in _kept_of(base)}
    if not names or not all(isinstance(base, ClassInfo) or is_plain(base) for base in bases):
        return
    for method in cls.methods.values():
        for node in _assignments(method):
            attribute = _own(node.targets[0]) if len(node.targets) == 1 else ""
            if attribute in names and not any(_defines(each, attribute) for each in line):
                base, entry = names[attribute]
                words = (("attribute", attribute), ("base", base), ("use", entry.instead))
                frame = _frame(cls, method, analysis)
                analysis.keep(frame, node.targets[0], REFUSED, NOTHING_KNOWN, Remark("kept", words))


def _defines(cls: ClassInfo, name: str) -> bool:
    """Whether a class has something of that name itself, in place of what its base has."""
    return name in cls.methods or any(
        isinstance(part, (ast.Assign, ast.AnnAssign)) and name in ast.unparse(part).split()
        for part in cls.node.body
    )


def _kept_of(base: str) -> Iterable[tuple[str, Entry]]:
    """What an external base keeps for itself, by the class that says so."""
    for owner, given in table().kept.items():
        is_layer = owner == "keras.layers.Layer" and base.startswith("keras.layers.")
        if base == owner or is_layer:
            yield from given.items()


def _asks(names: Iterable[str], text: str) -> bool:
    return any(f".{name}" in text for name in names)


def _note_shapes(cls: ClassInfo, analysis: Analysis) -> None:
    for name in _GIVEN_SHAPES:
        method = cls.methods.get(name)
        if method is not None:
            for node, entry in _shapes(method):
                _keep(_frame(cls, method, analysis), node, entry)


def _note_weights(cls: ClassInfo, analysis: Analysis) -> None:
    weights = set(_weights(cls))
    for method in cls.methods.values() if weights else ():
        for node in found_in([method.node], _CALLS):
            called = node.func  # type: ignore[attr-defined]
            entry = table().weights.get(getattr(called, "attr", ""))
            if entry is not None and _own(called.value) in weights:
                _keep(_frame(cls, method, analysis), called, entry)


def _note_variables(cls: ClassInfo, analysis: Analysis) -> None:
    for method in cls.methods.values():
        frame = _frame(cls, method, analysis)
        for node in _assignments(method):
            attribute = _own(node.targets[0]) if len(node.targets) == 1 else ""
            if attribute and _is_untracked(node.value, attribute, cls, frame):
                analysis.keep(frame, node.value, UNTRACKED, NOTHING_KNOWN, f"self.{attribute}")


def _frame(cls: ClassInfo, method: FunctionInfo | None, analysis: Analysis) -> Frame:
    return Frame(analysis, cls.module, method, Context(EAGER, False))


def _assignments(method: FunctionInfo) -> list[ast.Assign]:
    return found_in([method.node], _ASSIGNMENTS)  # type: ignore[return-value]


def _keep(frame: Frame, node: ast.AST, entry: Entry) -> None:
    frame.analysis.keep(frame, node, RENAMED, NOTHING_KNOWN, of_value(entry))


def _shapes(method: FunctionInfo) -> Iterator[tuple[ast.AST, Entry]]:
    """Attributes of tf.TensorShape, of the shape that Keras hands a method, or of one in a list of them."""
    names = [argument.arg for argument in method.node.args.args]
    if len(names) < 2:
        return
    shape = names[1]
    for node in ast.walk(method.node):
        # It is made a TensorShape, or asked what it is.
        if isinstance(node, ast.Name) and node.id == shape and isinstance(node.ctx, ast.Store):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("hasattr", "isinstance", "getattr"):
                return
        if isinstance(node, ast.Try):
            return
    for node in ast.walk(method.node):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            entry = table().shapes.get(node.attr)
            if entry is not None and isinstance(of, ast.Name) and of.id == shape:
                written = f"tf.TensorShape({ast.unparse(node.value)}).{node.attr}"
                yield node, entry._replace(instead=f"`{written}`: Keras 3 hands tuples")


def _weights(cls: ClassInfo) -> Iterator[str]:
    """The attributes that are given what `self.add_weight` makes, and nothing else."""
    given: dict[str, bool] = {}
    for method in cls.methods.values():
        for node in _assignments(method):
            made = node.value.func if isinstance(node.value, ast.Call) else None
            for attribute in filter(None, map(_own, node.targets)):
                is_weight = made is not None and _own(made) == "add_weight"
                given[attribute] = given.get(attribute, True) and is_weight
    return (attribute for attribute, is_weight in given.items() if is_weight)


def _own(node: ast.AST) -> str:
    """`name` of `self.name`; empty for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else ""
    return ""


def _is_untracked(value: ast.expr, attribute: str, cls: ClassInfo, frame: Frame) -> bool:
    """Whether an attribute is given a tf.Variable that was meant to be trained: of floating point, and assigned to nowhere."""
    if not isinstance(value, ast.Call):
        return False
    target = frame.analysis.evaluate(value.func, frame)
    if str(target.ref) != "tf.Variable":
        return False
    written = ast.unparse(value)
    if any(word in written for word in ("trainable=", "int", "bool", "string", "uint")):
        return False
    first = value.args[0] if value.args else None
    if first is None or (isinstance(first, ast.Constant) and type(first.value) is not float):
        return False
    if f"{attribute}.assign" in cls.module.text or "trainable_variables" in cls.methods:
        return False
    # A step of its own may differentiate for whatever it likes.
    return "train_step" not in cls.methods and "trainable_weights" not in cls.methods
