"""XLA803: forms that a TPU runs slowly, or compiles slowly."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import COST
from xlalint.semantics.hazards import costs


class SlowForm(Rule):
    """Reductions of what a mask keeps, lookups and scatters of single numbers, loops unrolled many times."""

    code = "XLA803"

    def visit_Call(self, node: cst.Call) -> None:
        if not self.passage.aim.is_tpu:
            return
        for fact in self.facts(node, COST):
            cost: costs.Cost = fact.detail
            if cost.how != costs.TABLE:
                self.report(
                    node, fact, cost.how,
                    confidence="certain",
                    use=self.quote(node.func), **dict(cost.words),
                )  # fmt: skip
