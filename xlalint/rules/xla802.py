"""XLA802: float32, or float16, where a TPU serves bfloat16."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import PRECISION


class PrecisionOnTpu(Rule):
    """A project under TPUStrategy whose layers compute in float32, or in float16 with loss scaling."""

    code = "XLA802"

    def visit_Call(self, node: cst.Call) -> None:
        if not (self.passage.aim.is_tpu and self.passage.aim.goes_to_tpu):
            return
        for fact in self.facts(node, PRECISION):
            self.report(node, fact, str(fact.detail), confidence="certain", use=self.quote(node))
