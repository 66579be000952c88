"""XLA202: operations that return as many elements as the data say."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import CALL, CallDetail
from xlalint.semantics.hazards.hazards import MASK_APIS

# As large as the labels once more: `tf.nn.ctc_loss` takes it on a TPU. What else is done with it is for XLA204 to judge.
_MADE_FOR_TPUS = frozenset({"tf.nn.ctc_unique_labels"})


class DataSizedOutput(Rule):
    """`tf.where(cond)`, `tf.unique(x)`, `tf.dynamic_partition(...)` and what else the catalogue measured as data-sized."""

    code = "XLA202"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if (
                detail.makes_data_sized
                and not detail.verdict.missing
                and detail.api not in MASK_APIS | _MADE_FOR_TPUS
            ):
                api = self.quote(node.func)
                variant = "made-before" if detail.counts_made_before else "producer"
                self.report(node, fact, variant, confidence=detail.confidence, api=api)
