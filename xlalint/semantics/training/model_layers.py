"""Layers of Keras that XLA cannot compile, or compiles again and again (recurrent.py), in models that are put together of layers: a list of them, or calls
on `keras.Input`.

Such a model has no `call` to read. Its value carries what is in it, through helpers and returns, until somebody trains it or calls it in
compiled code. Layers that are called in the input pipeline, or by a model that only serves it, are in no such model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics import symbolic
from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CALL, COMPILED, CallDetail, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.training.recurrent import Recurrent, recurrent_in
from xlalint.semantics.values import (
    INSTANCE,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    UNKNOWN,
    Made,
    Value,
    class_name,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

SEQUENTIAL = "keras.Sequential"
_FUNCTIONAL = "keras.Model"
# Under which name a model's value keeps them, beside what else it was made with.
_UNFIT = "unfit layers"


class Unfit(NamedTuple):
    """A layer that XLA cannot compile: where a model gets it, and what the catalogue says; or one that it compiles for each step."""

    site: Site
    detail: CallDetail | Recurrent


class Carried(NamedTuple):
    """What a symbolic tensor has come through: the `ref` of its value."""

    unfit: tuple[Unfit, ...]


class ModelLayers:
    """Follows such layers into models, and keeps a fact about each where its model is compiled."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        # Whether any was met: most projects have none, and their calls are not looked at.
        self.carries = False

    def called(
        self, detail: CallDetail | Recurrent, result: Value, node: ast.AST, frame: Frame
    ) -> Value:
        """What such a layer returns, called where nothing is compiled: the tensor of a model that may be in the making."""
        self.carries = True
        unfit = Unfit(Site(node, frame.module, frame.function), detail)
        return result._replace(ref=Carried((unfit,)))

    def model_called(self, model: Value, result: Value, frame: Frame) -> Value:
        """A model as a part of another, or of compiled code."""
        unfit = unfit_in(model)
        if not unfit:
            return result
        if frame.context.is_compiled:
            if not frame.silent:
                self._keep(unfit, frame.context)
                self._analysis.recurrent_layers.saw_model_called(_recurrent(unfit), frame)
            return result
        return result._replace(ref=Carried(unfit))

    def carried(self, value: Value, arguments: Arguments, frame: Frame) -> Value:
        """The result of a call, with what its arguments have come through."""
        if frame.context.region == COMPILED or value.kind not in (TENSOR, UNKNOWN):
            return value
        given = _of_arguments(arguments)
        own = value.ref.unfit if type(value.ref) is Carried else ()
        if not given or (value.ref is not None and not own):
            return value
        return value._replace(ref=Carried(_merged(own, given)))

    def made(
        self, name: str, plain: str, arguments: Arguments, node: ast.AST, frame: Frame
    ) -> Value | None:
        """`keras.Sequential([...])` or `keras.Model(inputs, outputs)` with such layers in it; None for models without."""
        if plain == SEQUENTIAL:
            unfit = self._listed(arguments, node, frame)
        elif plain == _FUNCTIONAL and self.carries:
            unfit = _of_arguments(arguments)
        else:
            return None
        return _model(name, unfit) if unfit else None

    def added(self, model: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.add(layer)`: from here on the name holds a model with that layer in it."""
        if not isinstance(node, ast.Call) or not node.args or not arguments.positional:
            return
        unfit = self._of_item(arguments.positional[0], node.args[0], frame)
        owner = dotted_name(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if unfit and owner is not None and owner in frame.names:
            merged = _merged(unfit_in(model), unfit)
            frame.names[owner] = model._replace(ref=_model(class_name(model) or "", merged).ref)

    def saw_training(self, model: Value, is_keras_2: bool, frame: Frame) -> None:
        """`model.fit(...)`: a TPU compiles all that is in it."""
        unfit = unfit_in(model)
        if unfit and not frame.silent:
            who = "Keras" if is_keras_2 else "Keras 3"
            why = (f"{who} traces the model that is trained in {_place(frame)}",)
            self._keep(unfit, Context(COMPILED, False, False, why))

    def saw_jitted(self, model: Value, frame: Frame) -> None:
        """`model.compile(..., jit_compile=True)`."""
        self._analysis.recurrent_layers.saw_jitted(model, _recurrent(unfit_in(model)), frame)

    def _listed(self, arguments: Arguments, node: ast.AST, frame: Frame) -> tuple[Unfit, ...]:
        layers = arguments.keywords.get("layers", next(iter(arguments.positional), NOTHING_KNOWN))
        if layers.kind is SEQUENCE and any(symbolic.is_symbolic(item) for item in layers.ref):
            for item in layers.ref:
                if item.kind is INSTANCE and isinstance(item.ref, ClassInfo):
                    self._analysis.traced_before.saw_in_functional(item.ref)
        written = _first_argument(node)
        if not isinstance(written, ast.List | ast.Tuple) or layers.kind is not SEQUENCE:
            return ()
        if len(written.elts) != len(layers.ref):
            return ()  # some of it is spread into the list
        found = (self._of_item(v, n, frame) for v, n in zip(layers.ref, written.elts))
        return _merged(*found)

    def _of_item(self, value: Value, node: ast.AST, frame: Frame) -> tuple[Unfit, ...]:
        own = unfit_in(value)
        name = class_name(value) or ""
        if own or value.kind is not INSTANCE or not api_name(name).startswith("keras.layers."):
            return own
        detail = recurrent_in(value) or frame.analysis.failing_layer(value, {}, frame)
        if detail is None:
            return ()
        self.carries = True
        return (Unfit(Site(node, frame.module, frame.function), detail),)

    def _keep(self, unfit: Iterable[Unfit], context: Context) -> None:
        for site, detail in unfit:
            if type(detail) is CallDetail:
                frame = Frame(self._analysis, site.module, site.function, context)
                self._analysis.keep(frame, site.node, CALL, NOTHING_KNOWN, detail)


def unfit_in(model: Value) -> tuple[Unfit, ...]:
    """What the value of a model says is in it."""
    if model.kind is not INSTANCE or type(model.ref) is not Made:
        return ()
    held = dict(model.ref.arguments).get(_UNFIT)
    return held.ref if held is not None else ()


def _recurrent(unfit: Iterable[Unfit]) -> list[tuple[Site, Recurrent]]:
    return [(site, detail) for site, detail in unfit if type(detail) is Recurrent]


def _model(name: str, unfit: tuple[Unfit, ...]) -> Value:
    return Value(INSTANCE, ref=Made(name, ((_UNFIT, Value(UNKNOWN, ref=unfit)),)))


def _of_arguments(arguments: Arguments) -> tuple[Unfit, ...]:
    flat = (leaf for value in arguments.values for leaf in leaves(value))
    return _merged(*(leaf.ref.unfit for leaf in flat if type(leaf.ref) is Carried))


def _merged(*parts: tuple[Unfit, ...]) -> tuple[Unfit, ...]:
    """All of them once: a loop that adds a layer adds the same each time."""
    by_site = {unfit.site: unfit for part in parts for unfit in part}
    return tuple(by_site.values())


def _first_argument(node: ast.AST) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    named = (k.value for k in node.keywords if k.arg == "layers")
    return next(iter(node.args), None) or next(named, None)


def _place(frame: Frame) -> str:
    return frame.function.qualname if frame.function is not None else frame.module.name
