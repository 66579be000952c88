"""XLA407: gradients that XLA cannot compile, of calls that it can."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Aim, Rule
from xlalint.semantics.facts import GRADIENT, Fact
from xlalint.semantics.gradients.differentiation import Differentiated
from xlalint.semantics.gradients.misplaced import (
    CUT,
    FILLED_BY_SHAPE,
    JOINED,
    KEPT,
    SUMMED,
    UNEQUAL_ARMS,
)
from xlalint.semantics.gradients.reasons import (
    COUNT,
    DATA_SIZED,
    EIGENVECTORS,
    EMPTY_ARM,
    IN_ARM,
    IN_STEP,
    KEPT_IN_ELSE,
    LOOP,
    MASKED_ARMS,
    NO_KERNEL,
    PARTITION,
    PARTNER,
    SLICE,
    TRACED_BEFORE,
)

# The one operation that has a kernel for TPUs and none for XLA on CPU and GPU (tensorflow-tpu 2.20 beside TensorFlow 2.21).
_ON_TPU_ALONE = frozenset({"ResizeNearestNeighborGrad"})
_WHY = {
    LOOP: "it runs a loop without a bound",
    DATA_SIZED: "it needs the size of a tensor whose size depends on data",
    PARTITION: "it needs the sizes of the partitions when it compiles",
    EIGENVECTORS: "XLA takes the eigenvalues of complex matrices for real numbers",
    PARTNER: "it compares the size of the other tensor with the largest that the data-sized one may have",
    COUNT: "it needs `k` when it compiles, and the data say it",
}


# XLA204 and XLA206 say what becomes of parts joined, kept and cut.
_OF_SIZES = frozenset({JOINED, CUT, SUMMED, KEPT, UNEQUAL_ARMS, FILLED_BY_SHAPE})
_OF_CONDITIONALS = frozenset({MASKED_ARMS, KEPT_IN_ELSE, TRACED_BEFORE, EMPTY_ARM})
# Told of a conditional, and of something else in its arms.
_OF_ITS_ARMS = _OF_CONDITIONALS - {EMPTY_ARM}


class NoCompilableGradient(Rule):
    """`tf.image.resize(x, size, "nearest")` off TPU, `tf.linalg.expm`, `tf.sort` of what a mask kept."""

    code = "XLA407"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)

    def visit_If(self, node: cst.If) -> None:
        self._judge(node.test, node.test)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node, node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        for fact in self.facts(node, GRADIENT):
            if fact.detail.reason not in _OF_SIZES:
                self._report_slice(node, fact)

    def _judge(
        self, node: cst.BaseExpression | cst.AugAssign, named: cst.BaseExpression | cst.AugAssign
    ) -> None:
        for fact in self.facts(node, GRADIENT):
            detail: Differentiated = fact.detail
            if detail.reason in _OF_SIZES or _compiles_here(detail, self.passage.aim):
                continue
            if detail.reason == SLICE:
                self._report_slice(node, fact)
                continue
            why = _why(detail)
            self.report(
                node,
                fact,
                _variant(detail),
                confidence="certain" if detail.is_sure else "likely",
                api=detail.api if detail.reason in _OF_ITS_ARMS else self.quote(named),
                why=why,
            )

    def _report_slice(self, node: cst.BaseExpression | cst.AugAssign, fact: Fact) -> None:
        is_sure = fact.detail.is_sure
        self.report(
            node,
            fact,
            "slice-taken" if is_sure else "slice-likely",
            confidence="certain" if is_sure else "likely",
            slice=self.quote(node),
        )


def _why(detail: Differentiated) -> str:
    if detail.reason in (IN_STEP, IN_ARM):
        return detail.missing[0]
    return _WHY.get(detail.reason) or f"no XLA kernel: {', '.join(detail.missing)}"


def _variant(detail: Differentiated) -> str:
    if detail.reason == IN_STEP:
        return "in-loop"
    if detail.reason == IN_ARM or detail.reason in _OF_CONDITIONALS:
        return detail.reason
    if detail.is_sure:
        return "taken"
    return "handed-on" if detail.is_handed_on else "likely"


def _compiles_here(detail: Differentiated, aim: Aim) -> bool:
    if detail.reason == NO_KERNEL:
        return aim.is_tpu and _ON_TPU_ALONE.issuperset(detail.missing)
    # XLA on CPU and GPU looks at values that arrive with the call; those that the program computes, it cannot.
    return detail.reason in (COUNT, PARTITION, IN_ARM) and not aim.is_tpu and not detail.is_computed
