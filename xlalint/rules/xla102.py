"""XLA102: Python `while` on a tensor."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import CONDITION


class DataDependentWhile(Rule):
    """A `while` whose test is a tensor, or that only a tensor condition leaves."""

    code = "XLA102"

    def __init__(self, passage):  # type: ignore[no-untyped-def]
        super().__init__(passage)
        self._endless: list[bool] = []

    def visit_While(self, node: cst.While) -> None:
        self._endless.append(_is_true(node.test))
        for fact in self.facts(node.test, CONDITION):
            if fact.detail == "while":
                variant = "converted" if fact.context.converted else "unconverted"
                confidence = (
                    "possible" if variant == "unconverted" and not fact.value.sure else None
                )
                self.report(
                    node.test,
                    fact,
                    variant,
                    confidence=confidence,
                    construct="while",
                    test=self.quote(node.test),
                )

    def leave_While(self, original_node: cst.While) -> None:
        self._endless.pop()

    def visit_For(self, node: cst.For) -> None:
        self._endless.append(False)

    def leave_For(self, original_node: cst.For) -> None:
        self._endless.pop()

    def visit_If(self, node: cst.If) -> None:
        if not (self._endless and self._endless[-1] and _breaks(node.body)):
            return
        for fact in self.facts(node.test, CONDITION):
            if fact.context.converted and fact.value.sure:
                self.report(
                    node.test,
                    fact,
                    "broken-loop",
                    construct="while True",
                    test=self.quote(node.test),
                )


def _is_true(test: cst.BaseExpression) -> bool:
    return (
        isinstance(test, cst.Name)
        and test.value == "True"
        or isinstance(test, cst.Integer)
        and test.value == "1"
    )


def _breaks(body: cst.BaseSuite) -> bool:
    return any(
        isinstance(part, cst.Break)
        for statement in body.body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
    )
