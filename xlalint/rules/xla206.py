"""XLA206: loop variables that change shape or dtype, and slices as long as a loop's counter says."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.control_flow.unmade_names import UNMADE
from xlalint.semantics.facts import (
    ARRAY_SIZE,
    ASSUMED,
    GRADIENT,
    LOOP_STATE,
    OUTER_SIZE,
    SLICE,
    UNFOLLOWED,
    LoopChange,
)
from xlalint.semantics.gradients.differentiation import Differentiated
from xlalint.semantics.gradients.misplaced import CUT, SUMMED
from xlalint.semantics.results import followed

_VARIANTS = {
    "resized": "resized",
    "shape": "shape",
    "rank": "rank",
    "dtype": "dtype",
    "structure": "structure",
    "data-sized": "data-sized",
    "rejoined": "rejoined",
    OUTER_SIZE: "outer-size",
    ARRAY_SIZE: "array-size",
    UNMADE: UNMADE,
}


class LoopVariableChanges(Rule):
    """A tf.while_loop, written or converted, whose variables do not stay what they were; `x[:, :i]` in a loop."""

    code = "XLA206"

    def visit_For(self, node: cst.For) -> None:
        self._judge(node.iter)

    def visit_While(self, node: cst.While) -> None:
        self._judge(node.test)

    def visit_Call(self, node: cst.Call) -> None:
        self._slice(node)
        self._judge(node)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._slice(node)

    def _slice(self, node: cst.BaseExpression) -> None:
        is_tpu = self.passage.aim.is_tpu
        if any(followed.is_refused(f.value, is_tpu=is_tpu) for f in self.facts(node, UNFOLLOWED)):
            return  # XLA203 says that it does not compile at all
        for fact in self.facts(node, SLICE):
            if any(self._is_wrong(each.detail) for each in self.facts(node, GRADIENT)):
                self.report(node, fact, "slice-taken", slice=self.quote(node))
                continue
            # Of code that nobody is known to compile, and whose gradient nobody may take, it is said when asked for.
            confidence = "possible" if fact.context.region == ASSUMED else None
            self.report(node, fact, "slice", confidence=confidence, slice=self.quote(node))

    def _is_wrong(self, detail: Differentiated) -> bool:
        """Whether a gradient is taken that was seen to be wrong, or refused, which no TPU's compiler was asked about."""
        is_seen = detail.reason == CUT or (detail.reason == SUMMED and not self.passage.aim.is_tpu)
        return is_seen and detail.is_sure

    def _judge(self, node: cst.CSTNode) -> None:
        for fact in self.facts(node, LOOP_STATE):
            change: LoopChange = fact.detail
            if change.what in _VARIANTS:
                self.report(
                    node,
                    fact,
                    _VARIANTS[change.what],
                    variable=change.name,
                    before=change.before,
                    after=change.after,
                    code=change.code,
                    line=str(change.line),
                )
