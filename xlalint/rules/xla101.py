"""XLA101: Python branches on a tensor."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import (
    ARMS,
    COMPREHENSION_FILTER,
    CONDITION,
    ITERATION,
    LOOP_EXIT,
    LOOP_GRADIENT,
    MEMBERSHIP,
    SYMBOLIC_TEST,
    Fact,
)
from xlalint.semantics.values import ARRIVING, BOUNDED, COMPUTED, FACTORED, REGROUPED

_LATE = frozenset({BOUNDED, ARRIVING, COMPUTED, FACTORED, REGROUPED})


class DataDependentBranch(Rule):
    """An `if`, ternary, `and`, `or`, `not`, `assert`, `in` or comprehension filter that asks a tensor for its truth."""

    code = "XLA101"

    def visit_If(self, node: cst.If) -> None:
        first = node.body.body[0]
        raised = first.body[0] if isinstance(first, cst.SimpleStatementLine) else first
        # What XLA106 says of a `raise` in the arm says more.
        if not (isinstance(raised, cst.Raise) and self.facts(raised, ARMS)):
            self._judge(node.test, "if")

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._judge(node.test, "ternary")

    def visit_While(self, node: cst.While) -> None:
        self._judge_symbolic(node.test, "while")

    def visit_Assert(self, node: cst.Assert) -> None:
        self._judge_symbolic(node.test, "assert")
        for fact in self.facts(node.test, CONDITION):
            if fact.detail == "assert":
                self._say(node.test, fact, "assertion")

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        self._judge(node, "and", "or")

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.Not):
            self._judge(node, "not")

    def visit_Match(self, node: cst.Match) -> None:
        for fact in self.facts(node.subject, CONDITION):
            if fact.detail == "match":
                self._say(node.subject, fact, "match")

    def visit_CompIf(self, node: cst.CompIf) -> None:
        for fact in self.facts(node.test, COMPREHENSION_FILTER):
            self._say(node.test, fact, "comprehension")

    def visit_Comparison(self, node: cst.Comparison) -> None:
        for fact in self.facts(node, MEMBERSHIP):
            self._say(node, fact, "membership")

    def _judge(self, test: cst.BaseExpression, *constructs: str) -> None:
        # What XLA106 says of arms that differ, and XLA102 and XLA104 of loops that are left, says more.
        is_judged = bool(self.facts(test, ARMS, ITERATION, LOOP_EXIT, LOOP_GRADIENT))
        self._judge_symbolic(test, *constructs)
        for fact in self.facts(test, CONDITION):
            if fact.detail not in constructs:
                continue
            if not fact.context.converted:
                self._say(test, fact, "unconverted")
            elif fact.value.dtype not in (None, "bool"):
                self._say(test, fact, "not-boolean")
            elif is_judged:
                continue
            elif fact.value.dependence in _LATE and fact.detail in ("if", "ternary"):
                self._say(test, fact, "converted")

    def _judge_symbolic(self, test: cst.BaseExpression, *constructs: str) -> None:
        for fact in self.facts(test, SYMBOLIC_TEST):
            if fact.detail in constructs:
                self._say(test, fact, "symbolic")

    def _say(self, test: cst.BaseExpression, fact: Fact, variant: str) -> None:
        # A parameter that is only inferred to be a tensor may be a flag.
        confidence = "possible" if fact.value.guess else None
        construct = fact.detail if isinstance(fact.detail, str) else "if"
        construct = "... if ... else ..." if construct == "ternary" else construct
        self.report(
            test,
            fact,
            variant,
            confidence=confidence,
            construct=construct,
            test=self.quote(test),
            dtype=fact.value.dtype or "bool",
        )
