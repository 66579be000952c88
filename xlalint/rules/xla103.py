"""XLA103: loops whose gradient XLA cannot compile."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import LOOP_GRADIENT
from xlalint.semantics.gradients.loop_gradients import IN_JACOBIAN, UNBOUNDED, LoopGradient
from xlalint.semantics.gradients.reasons import TRACED_BEFORE

_ALWAYS_SURE = {IN_JACOBIAN: "jacobian", TRACED_BEFORE: "traced-before"}


class LoopWithoutGradient(Rule):
    """A loop without a bound, in an arm of a conditional, under a Jacobian or traced before XLA compiles it, through which a gradient is taken."""

    code = "XLA103"

    def visit_While(self, node: cst.While) -> None:
        self._judge(node.test, node.test, "while {}")

    def visit_For(self, node: cst.For) -> None:
        self._judge(node.iter, node.iter, "for ... in {}")

    def visit_If(self, node: cst.If) -> None:
        self._judge(node.test, node.test)

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)

    def _judge(self, at: cst.BaseExpression, shown: cst.BaseExpression, said: str = "{}") -> None:
        for fact in self.facts(at, LOOP_GRADIENT):
            detail: LoopGradient = fact.detail
            sureness = "taken" if detail.is_sure else "likely"
            variant = sureness if detail.reason == UNBOUNDED else f"conditional-{sureness}"
            variant = _ALWAYS_SURE.get(detail.reason, variant)
            confidence = "certain" if detail.is_sure else "likely"
            loop = detail.loop or said.format(self.quote(shown))
            self.report(at, fact, variant, confidence=confidence, loop=loop)
