"""XLA102: Python `while` on a tensor."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.loops import RuleInLoops
from xlalint.semantics.facts import CONDITION, LOOP_EXIT, LOOP_GRADIENT, STARTED_IN_PYTHON, Fact
from xlalint.semantics.hazards.iteration import WHILE


class DataDependentWhile(RuleInLoops):
    """A `while` whose test is a tensor, or that only a tensor condition leaves."""

    code = "XLA102"

    def visit_While(self, node: cst.While) -> None:
        super().visit_While(node)
        for fact in self.facts(node.test, CONDITION):
            if fact.detail not in ("while", STARTED_IN_PYTHON):
                continue
            if not fact.context.converted:
                self._say(node.test, node.test, fact, "unconverted", "while")
            elif fact.detail == STARTED_IN_PYTHON:
                self._say(node.test, node.test, fact, "started-in-python", "while")
            elif fact.value.dtype not in (None, "bool"):
                self._say(node.test, node.test, fact, "not-boolean", "while")
            elif not (_sets_a_bound(node.body) or self.facts(node.test, LOOP_GRADIENT)):
                self._say(node.test, node.test, fact, "converted", "while")

    def visit_If(self, node: cst.If) -> None:
        head = self.loop_head()
        for fact in self.facts(node.test, LOOP_EXIT):
            if head is not None and fact.detail.loop == WHILE:
                words = f"while {self.quote(head)}"
                self._say(head, node.test, fact, "broken-loop", words)

    def _say(
        self, at: cst.CSTNode, test: cst.CSTNode, fact: Fact, variant: str, construct: str
    ) -> None:
        confidence = "possible" if fact.value.guess else None
        self.report(
            at,
            fact,
            variant,
            confidence=confidence,
            construct=construct,
            test=self.quote(test),
            dtype=fact.value.dtype or "bool",
        )


def _sets_a_bound(body: cst.BaseSuite) -> bool:
    """`tf.autograph.experimental.set_loop_options(maximum_iterations=n)` gives the loop the bound its gradient needs."""
    for statement in body.body[:2]:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for part in statement.body:
            if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
                name = part.value.func
                called = name.attr.value if isinstance(name, cst.Attribute) else ""
                keywords = {a.keyword.value for a in part.value.args if a.keyword is not None}
                if called == "set_loop_options" and "maximum_iterations" in keywords:
                    return True
    return False
