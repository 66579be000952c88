"""The loops around the node that a visitor is at."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Passage, Rule


class RuleInLoops(Rule):
    """A rule that asks for the innermost loop around a node."""

    def __init__(self, passage: Passage) -> None:
        super().__init__(passage)
        self._loops: list[cst.While | cst.For] = []

    def visit_While(self, node: cst.While) -> None:
        self._loops.append(node)

    def leave_While(self, original_node: cst.While) -> None:
        self._loops.pop()

    def visit_For(self, node: cst.For) -> None:
        self._loops.append(node)

    def leave_For(self, original_node: cst.For) -> None:
        self._loops.pop()

    def loop_head(self) -> cst.BaseExpression | None:
        """What the innermost loop runs over, or asks; None outside of loops."""
        if not self._loops:
            return None
        loop = self._loops[-1]
        return loop.test if isinstance(loop, cst.While) else loop.iter
