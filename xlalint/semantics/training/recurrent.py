"""LSTM and GRU of Keras 2 in training steps that XLA compiles on a CPU or GPU: each step is compiled again.

Where cuDNN could run such a layer, Keras 2 puts it into a function of its own, of which the gradient makes XLA take all that the layer is
given, its weights included, for compile-time constants. The same layer made of a cell (`RNN(LSTMCell(n))`), or in settings that cuDNN does not know,
is compiled once (fixtures/XLA203/flagged_recurrent_layers.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.facts import COMPILED, RECURRENT, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.values import (
    FALSE,
    INSTANCE,
    NOTHING_KNOWN,
    TRUE,
    UNKNOWN,
    Made,
    Value,
    constant,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Under which name the value of a layer says that it is one of these.
_RECURRENT = "recurrent"
_LAYERS = frozenset({"keras.layers.LSTM", "keras.layers.GRU"})
_BOTH_WAYS = "keras.layers.Bidirectional"
_FIRST = ("units", "activation", "recurrent_activation", "use_bias")
# What cuDNN can run; with anything else Keras 2 does without that function. With time_major=True XLA knows the sizes.
_FOR_CUDNN = {
    "activation": constant("tanh"),
    "recurrent_activation": constant("sigmoid"),
    "use_bias": TRUE,
    "unroll": FALSE,
    "recurrent_dropout": constant(0),
    "time_major": FALSE,
    "reset_after": TRUE,
}
_STEP = ("call", "train_step")


class Recurrent(NamedTuple):
    """A layer of that kind: its name, and whether it stands in a Bidirectional."""

    layer: str
    both_ways: bool = False


class _Call(NamedTuple):
    """`layers` that compiled code calls at `frame`; `taped`: under a gradient tape of its own."""

    layers: tuple[tuple[Site, Recurrent], ...]
    function: FunctionInfo | None
    context: Context
    taped: bool


class RecurrentLayers:
    """Collects calls of such layers in compiled code; says at the end which of them are trained with XLA."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._calls: list[_Call] = []
        self._taped: set[FunctionInfo] = set()
        self._steps: set[FunctionInfo] = set()

    def saw_call(self, layer: Recurrent, node: ast.AST, frame: Frame) -> None:
        """Compiled code calls a layer."""
        self.saw_model_called([(Site(node, frame.module, frame.function), layer)], frame)

    def saw_model_called(self, layers: Iterable[tuple[Site, Recurrent]], frame: Frame) -> None:
        """Compiled code calls a model with these layers in it."""
        found = tuple(layers)
        if found and not frame.silent:
            self._calls.append(_Call(found, frame.function, frame.context, bool(frame.tapes)))

    def saw_taped(self, info: FunctionInfo) -> None:
        """A function that XLA compiles calls this one under a gradient tape."""
        self._taped.add(info)

    def saw_jitted(
        self, model: Value, layers: Iterable[tuple[Site, Recurrent]], frame: Frame
    ) -> None:
        """`model.compile(..., jit_compile=True)`: `fit` trains all that is in the model."""
        why = ("Model.compile(jit_compile=True)",)
        if not frame.silent:
            self._keep(layers, Context(COMPILED, False, True, why))
        if model.kind is INSTANCE and isinstance(model.ref, ClassInfo):
            methods = (self._analysis.classes.method(model.ref, name) for name in _STEP)
            self._steps.update(method for method in methods if method is not None)

    def judge(self) -> None:
        """Keep a fact for each that a gradient goes through, in a program of XLA's."""
        if not self._calls:
            return
        reached = self._analysis.drivers.reached
        taped, stepped = reached(self._taped), reached(self._steps)
        for call in self._calls:
            is_trained = call.context.jit and (call.taped or call.function in taped)
            if is_trained or call.function in stepped:
                self._keep(call.layers, call.context)

    def _keep(self, layers: Iterable[tuple[Site, Recurrent]], context: Context) -> None:
        for site, detail in layers:
            frame = Frame(self._analysis, site.module, site.function, context)
            self._analysis.keep(frame, site.node, RECURRENT, NOTHING_KNOWN, detail)


def marked(plain: str, is_keras_2: bool, arguments: Arguments) -> tuple[tuple[str, Value], ...]:
    """What the value of a layer remembers where it is one of these, or holds one for both directions."""
    if not is_keras_2 or arguments.open_ended:
        return ()
    if plain == _BOTH_WAYS:
        inner = arguments.keywords.get("layer", next(iter(arguments.positional), NOTHING_KNOWN))
        found = recurrent_in(inner)
        return _mark(found._replace(both_ways=True)) if found is not None else ()
    if plain not in _LAYERS:
        return ()
    given = {**dict(zip(_FIRST, arguments.positional)), **arguments.keywords}
    if any(given.get(name, usual) != usual for name, usual in _FOR_CUDNN.items()):
        return ()
    return _mark(Recurrent(plain.rpartition(".")[2]))


def recurrent_in(layer: Value) -> Recurrent | None:
    """What the value of a layer says of it."""
    if layer.kind is not INSTANCE or type(layer.ref) is not Made:
        return None
    held = dict(layer.ref.arguments).get(_RECURRENT)
    return held.ref if held is not None else None


def _mark(detail: Recurrent) -> tuple[tuple[str, Value], ...]:
    return ((_RECURRENT, Value(UNKNOWN, ref=detail)),)
