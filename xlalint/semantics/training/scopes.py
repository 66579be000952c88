"""What is made outside a strategy's scope, and used with the strategy all the same.

Variables belong to the strategy whose scope they are made in. Values remember where a model, an optimizer or a metric was made, while
the code that makes it is run abstractly: through helpers, attributes and closures. What the uses do was seen with MirroredStrategy
over two CPUs, TensorFlow 2.21, Keras 3 and tf_keras (rules/XLA505.md).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.classes import METRIC, MODEL, OPTIMIZER, external_role
from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import EAGER, SCOPE, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.values import INSTANCE, STRATEGY, UNKNOWN, Value, class_name, constant

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Before: where the strategy is only made later on.
INSIDE, OUTSIDE, BEFORE = "inside", "outside", "before"
_STRATEGIES = re.compile(
    r"^(TPU|Mirrored|MultiWorkerMirrored|OneDevice|CentralStorage|ParameterServer)Strategy"
)
# What loads a model with its variables.
_LOADS = ("keras.models.load_model", "keras.models.clone_model")
# The optimizer of `compile()`.
_RMSPROP = constant("rmsprop")
_CURRENT = "tf.distribute.get_strategy"


class Scopes:
    """Where things with variables are made, in or out of a strategy's scope, and who uses them where."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._starts: dict[FunctionInfo, str] = {}
        # Constructors are run once for all callers: those that somebody calls inside a scope may all be.
        self._constructed_inside: set[FunctionInfo] = set()
        self._noted: dict[tuple[str, Site], Value] = {}

    def start(self, info: FunctionInfo) -> str:
        """Where a function runs whose caller says nothing: outside, where it enters a scope itself."""
        known = self._starts.get(info)
        if known is None:
            known = self._starts[info] = self.start_of(info.module, info.body)
        return known

    def start_of(self, module: ModuleInfo, body: Sequence[ast.AST]) -> str:
        """Where these statements run, as their author sees it; empty where they do not say."""
        if not (module.mentions(".scope(") or module.mentions("Strategy(")):
            return ""  # most enter no scope and make no strategy, and are not walked
        start = ""
        for node in nodes_of(body, into_functions=False):
            if isinstance(node, ast.Call) and _makes_strategy(node):
                return BEFORE
            if isinstance(node, ast.With) and any(enters(i.context_expr) for i in node.items):
                start = OUTSIDE
        return start

    def made(self, value: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """What a call returns, with where it was made where that matters; a strategy that is made is not entered yet."""
        if value.kind is STRATEGY and value.ref != _CURRENT:
            frame.scope = OUTSIDE if frame.scope in ("", BEFORE) else frame.scope
        if not frame.scope or value.made is not None:
            return value
        if frame.scope == INSIDE and isinstance(value.ref, ClassInfo):
            constructor = self._analysis.classes.method(value.ref, "__init__")
            if constructor is not None:
                self._constructed_inside.add(constructor)
        if value.kind is INSTANCE and self._role(value) in (MODEL, OPTIMIZER, METRIC):
            return value._replace(made=Site(node, frame.module, frame.function, frame.scope))
        if value.kind is UNKNOWN and (name in _LOADS or _is_pretrained(name)):
            return value._replace(made=Site(node, frame.module, frame.function, frame.scope))
        return value

    def saw_compile(self, model: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.compile(...)`: the model, its optimizer and its metrics must be of one strategy."""
        if _is_silent(frame) or model.made is None:
            return
        is_keras_2 = self._is_keras_2(model)
        if _is_outside(model):
            if frame.scope == INSIDE and not (is_keras_2 and _is_subclass(model)):
                self._note(model, "compiled")
            return
        given = [*arguments.positional[:1], *arguments.keywords.values()]
        wanted = METRIC if is_keras_2 else OPTIMIZER
        for value in (leaf for each in given for leaf in leaves(each)):
            if _is_outside(value) and self._role(value) == wanted and not _is_sgd(value):
                self._note(value, wanted)
        if frame.scope == OUTSIDE and not is_keras_2 and not arguments.open_ended:
            named = arguments.keywords.get("optimizer", next(iter(arguments.positional), _RMSPROP))
            known = named.constant()
            if known is not None and isinstance(known.value, str) and known.value.lower() != "sgd":
                self._keep("compiled-outside", Site(node, frame.module, frame.function), model)

    def saw_fit(self, model: Value, frame: Frame) -> None:
        """`model.fit(...)` trains with the strategy in whose scope the model was made, if any."""
        if _is_silent(frame) or not _is_outside(model):
            return
        if frame.scope == OUTSIDE:
            self._note(model, "unused")
        elif frame.scope == INSIDE and not (self._is_keras_2(model) and _is_subclass(model)):
            self._note(model, "compiled")

    def saw_use(self, value: Value, method: str, frame: Frame) -> None:
        """Something made outside is called, or a method of it, in code that `strategy.run` runs."""
        is_run = frame.context.why[:1] == ("strategy.run",)
        if _is_silent(frame) or not is_run or not _is_outside(value):
            return
        role = MODEL if value.kind is UNKNOWN else self._role(value)
        if role == OPTIMIZER and method in ("apply_gradients", "apply", "minimize"):
            if not self._is_keras_2(value) and not _is_sgd(value):
                self._note(value, OPTIMIZER)
        elif role == METRIC and method in ("update_state", "__call__"):
            self._note(value, "on-host")
        elif role == MODEL and method == "__call__" and frame.tapes and not _is_subclass(value):
            self._note(value, "trained")

    def _note(self, value: Value, variant: str) -> None:
        """Remark on the call that made it."""
        self._keep(variant, value.made, value)

    def _keep(self, variant: str, site: Site, value: Value) -> None:
        self._noted.setdefault((variant, site), value)

    def judge(self) -> None:
        """Keep a fact for all that was noted, but in constructors that are called inside a scope."""
        for (variant, site), value in self._noted.items():
            if site.function not in self._constructed_inside:
                frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False))
                words = (("made", _words(site.node)),)
                self._analysis.keep(frame, site.node, SCOPE, value, Remark(variant, words))

    def _role(self, value: Value) -> str | None:
        if isinstance(value.ref, ClassInfo):
            role = self._analysis.classes.role(value.ref)
        else:
            role = external_role(class_name(value) or "")
        return role.kind if role is not None else None

    def _is_keras_2(self, value: Value) -> bool:
        if self._analysis.keras == "2" or (class_name(value) or "").startswith("tf_keras."):
            return True
        role = self._analysis.classes.role(value.ref) if isinstance(value.ref, ClassInfo) else None
        # The models of transformers for TensorFlow are tf_keras's.
        return value.kind is UNKNOWN or (role is not None and role.legacy)


def enters(expression: ast.expr) -> bool:
    """Whether a `with` of this expression enters a strategy's scope: `strategy.scope()`, or a name that says so."""
    called = expression.func if isinstance(expression, ast.Call) else expression
    name = (dotted_name(called) or "").rpartition(".")[2] or getattr(called, "attr", "")
    return name == "scope" or "strategy_scope" in name or "distribution_scope" in name


def _makes_strategy(node: ast.Call) -> bool:
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return _STRATEGIES.search(name) is not None


def _is_silent(frame: Frame) -> bool:
    """Constructors are run silently for what they leave in attributes, and only so."""
    return frame.silent and frame.attributes is None


def _is_sgd(value: Value) -> bool:
    """Plain SGD has no variables of its own beside the model's, and trains wherever it was made."""
    return (class_name(value) or "").endswith(".SGD")


def _is_pretrained(name: str) -> bool:
    return name.startswith("transformers.TF") and name.endswith(".from_pretrained")


def _is_outside(value: Value) -> bool:
    return value.made is not None and value.made.words in (OUTSIDE, BEFORE)


def _is_subclass(value: Value) -> bool:
    """Whether a model is of a class of the project's: its variables may be made when it is first called."""
    return isinstance(value.ref, ClassInfo)


def _words(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else "it"
