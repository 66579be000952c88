"""XLA201: boolean masks that make a tensor's size depend on data."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import CALL, MASK_INDEX, CallDetail
from xlalint.semantics.hazards.hazards import MASK_APIS
from xlalint.semantics.values import CAPTURED


class BooleanMask(Rule):
    """`x[mask]` and `tf.boolean_mask(x, mask)`."""

    code = "XLA201"

    def visit_Subscript(self, node: cst.Subscript) -> None:
        for fact in self.facts(node, MASK_INDEX):
            variant = "made-before" if fact.detail.dependence == CAPTURED else "mask"
            self.report(node, fact, variant, mask=self.quote(node))

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.api in MASK_APIS and detail.makes_data_sized:
                mask = self.quote(node)
                variant = "made-before" if detail.counts_made_before else "mask"
                self.report(node, fact, variant, confidence=detail.confidence, mask=mask)
