"""XLA106: arms that cannot become one conditional."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.control_flow.differences import Difference
from xlalint.semantics.facts import ARMS


class ArmsThatDiffer(Rule):
    """An `if`, ternary, `tf.cond` and the like whose arms leave different names, structures, dtypes or ranks."""

    code = "XLA106"

    def visit_If(self, node: cst.If) -> None:
        self._judge(node.test, node.test)

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._judge(node.test, node.test)

    def visit_Call(self, node: cst.Call) -> None:
        if node.args:
            self._judge(node, node.args[0].value)

    def visit_Raise(self, node: cst.Raise) -> None:
        self._judge(node, node)

    def _judge(self, at: cst.CSTNode, test: cst.CSTNode) -> None:
        for fact in self.facts(at, ARMS):
            found: Difference = fact.detail
            what = f"`{found.name}`" if found.name is not None else "the result"
            self.report(
                at,
                fact,
                found.variant,
                test=self.quote(test),
                what=what,
                first=found.first,
                second=found.second,
            )
