"""Training steps that many models inherit: what one hands to `call` for a few of them, `call` is given for the others too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.facts import Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class _Handed(NamedTuple):
    arguments: Arguments
    tapes: int
    node: ast.AST


class InheritedSteps:
    """Keeps what steps hand to the `call` of their own model, and runs `call` with it for heirs that a step shows nothing else of.

    Running the step itself for each of hundreds of models would find the same again, but for what labels do in `call`.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._handed: dict[FunctionInfo, dict[object, _Handed]] = {}
        self._heirs: list[tuple[FunctionInfo, Value, Context]] = []

    def add(self, step: FunctionInfo, model: Value, context: Context) -> None:
        """Take note of a model that inherits a step; `context` is that in which Keras traces the step for it."""
        self._heirs.append((step, model, context))

    def saw_call(self, model: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """A model is called, in compiled code."""
        step = frame.function
        if step is None or step.name != "train_step" or frame.self_value != model:
            return
        keywords = tuple(sorted(arguments.keywords.items()))
        key = (arguments.positional, keywords, arguments.open_ended, frame.tapes)
        handed = self._handed.setdefault(step, {})
        handed.setdefault(key, _Handed(arguments, frame.tapes, node))

    def run(self) -> None:
        """Call the models that were noted with all that was handed to others."""
        heirs, self._heirs = self._heirs, []
        for step, model, context in heirs:
            for handed in list(self._handed.get(step, {}).values()):
                frame = self._analysis.functions.frame_of(step, context, model, 0)
                frame.tapes = handed.tapes
                self._analysis.objects.call_instance(model, handed.arguments, handed.node, frame)
