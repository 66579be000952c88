"""XLA205: tensors and TensorArrays that grow as the program runs."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import GROWING_ARRAY, LOOP_STATE, LoopChange


class GrowingInLoop(Rule):
    """`TensorArray(size=0, dynamic_size=True)` that is written to, and `out = tf.concat([out, y], 0)` in a loop."""

    code = "XLA205"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, GROWING_ARRAY):
            self.report(node, fact, fact.detail, array=self.quote(node))
        self._judge(node)

    def visit_For(self, node: cst.For) -> None:
        self._judge(node.iter)

    def visit_While(self, node: cst.While) -> None:
        self._judge(node.test)

    def _judge(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, LOOP_STATE):
            change: LoopChange = fact.detail
            if change.what == "grows":
                self.report(
                    node,
                    fact,
                    "concat",
                    variable=change.name,
                    code=change.code,
                    line=str(change.line),
                )
