"""XLA603: losses in custom loops that are not each replica's share of the global mean."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import REDUCTION


class LossReduction(RemarkRule):
    """A mean over the replica's own examples, a share divided by the replicas again, a loss that Keras 2 refuses to reduce."""

    code = "XLA603"
    kind = REDUCTION

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self.remark(node, node)
