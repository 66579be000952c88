"""XLA301: a last batch that is smaller than the others."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of, name_node
from xlalint.semantics.facts import PARTIAL_BATCH
from xlalint.semantics.training.pipelines import COUNTED


class PartialBatch(Rule):
    """`dataset.batch(n)` without `drop_remainder=True` that feeds a compiled step."""

    code = "XLA301"

    def visit_Call(self, node: cst.Call) -> None:
        called = name_node(node)
        for fact in self.facts(node, PARTIAL_BATCH):
            compiler = compiler_of(fact.detail, self.passage.aim)
            if compiler is not None:
                self.report(
                    called,
                    fact,
                    compiler,
                    confidence="certain" if fact.detail.words == COUNTED else "likely",
                    call=self.quote(called),
                    consumer=fact.detail.consumer,
                )
