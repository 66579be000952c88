"""XLA506: packages and versions that cannot work together."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import PACKAGES


class VersionsApart(RemarkRule):
    """`import tensorflow_addons` with TensorFlow 2.16, a layer of Keras 2 in a model of Keras 3, TF_USE_LEGACY_KERAS set too late."""

    code = "XLA506"
    kind = PACKAGES

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self.remark(node, node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self.remark(node, node)

    def visit_Name(self, node: cst.Name) -> None:
        self.remark(node, node)
