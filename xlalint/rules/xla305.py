"""XLA305: a tf.function made anew for every step."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of
from xlalint.semantics.facts import REMADE_FUNCTION


class RemadeFunction(Rule):
    """`tf.function(...)` in a loop, or `@tf.function` in a function that is called for every step."""

    code = "XLA305"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._judge(node)

    def _judge(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, REMADE_FUNCTION):
            if compiler_of(fact.detail, self.passage.aim) is not None:
                self.report(
                    node, fact, "remade", confidence="certain",
                    function=fact.detail.consumer, when=fact.detail.words,
                )  # fmt: skip
