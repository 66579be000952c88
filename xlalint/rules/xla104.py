"""XLA104: a Python loop over a tensor."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.loops import RuleInLoops
from xlalint.semantics.facts import ITERATION, LOOP_EXIT, Fact
from xlalint.semantics.hazards.iteration import FOR, GRAPH, Recursion

_VARIANTS = {
    "for": "unconverted",
    "`range`": "range",
    "unpacking": "unpacking",
    "dataset": "dataset",
}


class LoopOverTensor(RuleInLoops):
    """`for` over a tensor where AutoGraph does not reach, and what iterates over tensors without ever being converted."""

    code = "XLA104"

    def visit_For(self, node: cst.For) -> None:
        super().visit_For(node)
        self._judge(node.iter)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._judge(node.iter)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._judge(node.value)

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node)

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.star == "*":
            self._judge(node.value)

    def visit_StarredElement(self, node: cst.StarredElement) -> None:
        self._judge(node.value)

    def visit_If(self, node: cst.If) -> None:
        for fact in self.facts(node.test, ITERATION):
            if isinstance(fact.detail, Recursion):
                words = {"call": fact.detail.call, "test": self.quote(node.test)}
                self._say(node.test, fact, "recursion", **words)
        head = self.loop_head()
        for fact in self.facts(node.test, LOOP_EXIT):
            if head is None or fact.detail.loop not in (FOR, GRAPH):
                continue
            variant = "left-early" if fact.detail.loop == FOR else "returns"
            self._say(head, fact, variant, how=fact.detail.how, test=self.quote(node.test))

    def _judge(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, ITERATION):
            if isinstance(fact.detail, Recursion):
                continue
            self._say(node, fact, _VARIANTS.get(fact.detail, "never-converted"), how=fact.detail)

    def _say(self, at: cst.BaseExpression, fact: Fact, variant: str, **words: str) -> None:
        self.report(at, fact, variant, tensor=self.quote(at), **words)
