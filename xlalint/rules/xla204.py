"""XLA204: uses of a data-sized tensor that XLA gets wrong or refuses."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import ASSUMED, DATA_SIZED_USE, GRADIENT
from xlalint.semantics.gradients.misplaced import FILLED_BY_SHAPE, JOINED, KEPT, UNEQUAL_ARMS

# How each use was seen to go wrong (facts: surprises, semantics); the words are in the page.
_VARIANTS = {
    "negative-index": "wrong-numbers",
    "negative-slice": "wrong-numbers",
    "full-size-partner": "wrong-numbers",
    "roll": "wrong-numbers",
    "scan": "wrong-numbers",
    "shuffle": "wrong-numbers",
    "unique": "wrong-numbers",
    "diagonal": "wrong-numbers",
    "ones": "wrong-numbers",
    "resize": "wrong-numbers",
    "fft": "rejected",
    "stride": "rejected",
    "squeeze": "rejected",
    "split": "rejected",
    "unstack": "rejected",
    "reshape": "rejected",
    "parted": "parted",
    "ensure_shape": "rejected",
    "broadcast_to": "rejected",
    "stack": "rejected",
    "rejoined": "rejected",
    "parts": "wrong-numbers",
    "measured-wrong": "wrong-numbers",
    "measured-rejected": "rejected",
    "jacobian": "rejected",
    "miscounted": "miscounted",
    "masked-twice": "masked-twice",
    "counted-size": "counted-size",
    "gradient-wrong": "gradient-wrong",
    "separate-counts": "separate-counts",
    "rows-beside": "rows-beside",
    "unknown-size": "unknown-size",
    "open-size": "open-size",
    "promised-size": "promised-size",
    "wide-bound": "wide-bound",
    "wide-place": "wide-bound",
}
_OF_ARMS = {UNEQUAL_ARMS: "trained-arms", FILLED_BY_SHAPE: "trained-filling"}


class DataSizedMisuse(Rule):
    """`x[mask][-1]`, `tf.roll(x[mask], ...)`, `tf.squeeze(tf.where(c))` and their like."""

    code = "XLA204"

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._judge(node)
        self._judge_step(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node)
        self._judge_step(node)
        self._judge_arms(node)

    def visit_If(self, node: cst.If) -> None:
        self._judge_arms(node.test)

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._judge_arms(node.test)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._judge(node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node)

    def _judge(self, node: cst.BaseExpression | cst.AugAssign) -> None:
        for fact in self.facts(node, DATA_SIZED_USE):
            if fact.detail == "wide-place" and not self.passage.aim.is_tpu:
                continue  # on CPU and GPU, XLA finds places by reading arguments, of which they may be made
            producer = (fact.value.producer or "a mask").strip("`")
            variant = _VARIANTS[fact.detail]
            if variant == "gradient-wrong" and self._is_trained_through(node):
                use = self.quote(node)
                self.report(node, fact, "gradient-taken", use=use, producer=producer)
                continue
            # Whether anybody takes the gradient of code that nobody is known to compile, or of whole numbers, is not known.
            is_open = fact.context.region == ASSUMED or fact.value.dtype is None
            is_of_gradient = variant == "gradient-wrong"
            self.report(
                node,
                fact,
                variant,
                confidence="possible" if is_of_gradient and is_open else None,
                use=self.quote(node),
                producer=producer,
            )

    def _judge_step(self, node: cst.Call | cst.Subscript) -> None:
        for fact in self.facts(node, GRADIENT):
            if fact.detail.reason == KEPT and fact.detail.is_sure:
                self.report(node, fact, "kept-in-step", use=self.quote(node))

    def _judge_arms(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, GRADIENT):
            variant = _OF_ARMS.get(fact.detail.reason)
            if variant is not None:
                self.report(node, fact, variant, use=self.quote(node))

    def _is_trained_through(self, node: cst.CSTNode) -> bool:
        """Whether a gradient is taken of a part that gets numbers of others."""
        details = [fact.detail for fact in self.facts(node, GRADIENT)]
        return any(each.reason == JOINED and each.is_sure for each in details)
