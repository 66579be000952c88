"""The loops around the node that a visitor is at."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Passage, Rule


class RuleInLoops(Rule):
    """A rule that asks whether the innermost loop around a node is a `while True`."""

    def __init__(self, passage: Passage) -> None:
        super().__init__(passage)
        self._loops: list[cst.While | None] = []

    def visit_While(self, node: cst.While) -> None:
        self._loops.append(node if _is_true(node.test) else None)

    def leave_While(self, original_node: cst.While) -> None:
        self._loops.pop()

    def visit_For(self, node: cst.For) -> None:
        self._loops.append(None)

    def leave_For(self, original_node: cst.For) -> None:
        self._loops.pop()

    def left_by(self, node: cst.If) -> cst.While | None:
        """The `while True` that this `if` ends, or None."""
        loop = self._loops[-1] if self._loops else None
        return loop if loop is not None and _leaves(node.body) else None


def _is_true(test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.Name):
        return test.value == "True"
    return isinstance(test, cst.Integer) and test.value == "1"


def _leaves(body: cst.BaseSuite) -> bool:
    return any(
        isinstance(part, (cst.Break, cst.Return))
        for statement in body.body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
    )
