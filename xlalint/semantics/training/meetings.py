"""Where replicas meet in a part of the graph that may not be reached by all of them at once.

Applying gradients, and reductions among replicas, make every replica wait for the others (`merge_call`). MirroredStrategy refuses
that in the arms of a conditional, in loops of the graph and in nested tf.functions; TPUStrategy does not (rules/XLA605.md).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.facts import MERGE_IN_ARM, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.training.reductions import is_step
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

METHODS = frozenset({"apply_gradients", "minimize", "all_reduce", "merge_call"})
_LETS_REPLICAS_MEET = re.compile(r"MirroredStrategy|MirroredExtended")


class Meetings:
    """Finds where a step makes replicas meet, and says what is around it."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._is_mirrored: bool | None = None

    def saw(self, method: str, node: ast.AST, frame: Frame) -> None:
        """`optimizer.apply_gradients(...)` and the like."""
        if frame.silent or not frame.context.is_compiled or not _runs_on_replicas(frame):
            return
        around = self._around(frame)
        if around is not None:
            words = (("method", method), ("around", around))
            variant = "refused" if self._mirrors() else "waits"
            remark = Remark(variant, words)
            self._analysis.note(frame, node, MERGE_IN_ARM, NOTHING_KNOWN, remark)

    def _around(self, frame: Frame) -> str | None:
        """What of the graph is around this code: in its own function, or around a call that led here."""
        for construct in reversed(frame.constructs):
            return "a conditional" if isinstance(construct, ast.If) else "a loop"
        if frame.arms:
            return "a conditional"
        running = self._analysis.functions.running
        for position, info in reversed(list(enumerate(running))):
            if info in self._analysis.graph_bodies:
                return "an arm or a body"
            if info in self._analysis.arms.called:
                return "a conditional"
            if position > 0 and self._analysis.traits(info).tf_function:
                return _nested(running[:position])
        return None

    def _mirrors(self) -> bool:
        """Whether the project names a strategy that refuses it."""
        if self._is_mirrored is None:
            modules = self._analysis.modules.project.modules.values()
            self._is_mirrored = any(
                m is not None and m.is_target and _LETS_REPLICAS_MEET.search(m.text) is not None
                for m in modules
            )
        return self._is_mirrored


def _nested(callers: list[FunctionInfo]) -> str | None:
    return "a nested tf.function" if callers else None


def _runs_on_replicas(frame: Frame) -> bool:
    """Whether `strategy.run` runs this, or Keras may: a train step in a module that makes a strategy."""
    if is_step(frame):
        return True
    root = frame.context.root
    is_train_step = root is not None and root.name == "train_step" and root.cls is not None
    return is_train_step and frame.module.mentions("Strategy(")
