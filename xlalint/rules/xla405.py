"""XLA405: sparse and ragged tensors in compiled code."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.xla401 import listed
from xlalint.semantics.facts import CALL, DENSE_SHAPE, ROW_LENGTHS, SPARSE_INPUT, CallDetail
from xlalint.semantics.hazards import families
from xlalint.semantics.results import feature_columns


class SparseOrRagged(Rule):
    """A call, an operator or a slice of a sparse or ragged tensor that emits an operation XLA has no kernel for."""

    code = "XLA405"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)
        for fact in self.facts(node, DENSE_SHAPE) if self.passage.aim.is_tpu else ():
            self.report(node, fact, "dense-shape", confidence="certain", use=self.quote(node.func))
        for fact in self.facts(node, SPARSE_INPUT) if self.passage.aim.is_tpu else ():
            self.report(node, fact, "input", confidence="certain", use=self.quote(node))
        for fact in self.facts(node, ROW_LENGTHS):
            self.report(node, fact, "row-lengths", use=self.quote(node.func))

    def visit_Name(self, node: cst.Name) -> None:
        """A layer in the list of a model."""
        self._judge(node, node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """An API that is passed on: `tf.nest.map_structure(tf.sparse.reorder, inputs)`."""
        self._judge(node, node)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node, node)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._judge(node, node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._judge(node, node)

    def _judge(self, node: cst.CSTNode, named: cst.CSTNode) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.family != families.COMPOSITE or detail.verdict.status != "fails":
                continue
            if detail.verdict.reason == feature_columns.REASON:
                variant = "unknown-columns" if detail.verdict.possible else "columns"
            else:
                variant = "conditional" if detail.verdict.possible else "missing"
            self.report(
                node, fact, variant,
                confidence="certain",
                use=self.quote(named), ops=listed(detail.verdict.missing),
                replacement=detail.replacement or "dense tensors with padding or a mask",
            )  # fmt: skip
