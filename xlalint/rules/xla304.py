"""XLA304: dimensions left open, of which XLA compiles each size for itself."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of
from xlalint.semantics.facts import NONE_DIMENSION


class NoneDimension(Rule):
    """`input_signature` with None, `reduce_retracing`, `Input(shape=(None, ...))` under XLA."""

    code = "XLA304"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, NONE_DIMENSION):
            if compiler_of(fact.detail, self.passage.aim) is not None:
                self.report(
                    node, fact, fact.detail.words, confidence="certain", where=self.quote(node)
                )

    def visit_Arg(self, node: cst.Arg) -> None:
        for fact in self.facts(node.value, NONE_DIMENSION):
            if not isinstance(node.value, cst.Call) and compiler_of(fact.detail, self.passage.aim):
                self.report(node.value, fact, fact.detail.words, confidence="certain", where="")
