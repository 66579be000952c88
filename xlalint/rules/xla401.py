"""XLA401: operations without an XLA kernel."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.layers import named_in, turns_jit_off
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CALL, CallDetail, Fact
from xlalint.semantics.hazards import (
    custom_gradients,
    families,
    numbers_first,
    scalar_shapes,
    vectorized,
)

# By the catalogue's reason for a failure.
_REFUSED = {
    "constant": "refused",
    "other": "refused",
    "eager-only": "untraceable",
    scalar_shapes.REASON: "scalar-shape",
    numbers_first.REASON: "number-first",
    custom_gradients.REASON: "custom-gradient",
    vectorized.LOOP: "vectorized-loop",
    vectorized.CONDITIONAL: "vectorized-conditional",
}
_OF_LAYERS = frozenset({families.KERNEL, families.TEXT})


class NoXlaKernel(Rule):
    """A call that emits an operation XLA has no kernel for."""

    code = "XLA401"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, named_in(node))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """An API that is passed on: `tf.map_fn(tf.linalg.det, x)`."""
        self._judge(node, node)

    def visit_Name(self, node: cst.Name) -> None:
        self._judge(node, node)

    def _judge(self, node: cst.BaseExpression, named: cst.BaseExpression) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            missing = detail.verdict.missing
            if turns_jit_off(fact, detail, self.passage.aim) and detail.family in _OF_LAYERS:
                ops = listed(missing) or "strings"
                layer = self.quote(named)
                self.report(node, fact, "drops-jit", confidence="certain", api=layer, ops=ops)
                continue
            if detail.verdict.status != "fails":
                continue
            if not missing:
                self._refused(node, named, fact, detail)
                continue
            if detail.family != families.KERNEL:
                continue
            variant = "conditional" if detail.verdict.possible else "missing"
            self.report(
                node, fact, variant,
                confidence="certain",
                api=self.quote(named), ops=listed(missing),
                replacement=detail.replacement or "operations that have a kernel",
            )  # fmt: skip

    def _refused(
        self, node: cst.BaseExpression, named: cst.BaseExpression, fact: Fact, detail: CallDetail
    ) -> None:
        """What fails though nothing lacks a kernel: the compiler has no form for it, or tracing it asks for values."""
        variant = _REFUSED.get(detail.verdict.reason or "")
        is_layer = detail.api.startswith(("keras.layers.", "tf_keras.layers."))
        reads_values = detail.api.endswith(
            (".numpy", ".to_list")
        )  # which XLA105 judges, and only of plain tensors
        passed = [leaf for _, value in detail.arguments for leaf in leaves(value)]
        is_composite = any(leaf.is_composite for leaf in passed)  # which XLA405 judges
        is_sure = not (is_layer or is_composite or reads_values or detail.verdict.possible)
        if detail.verdict.reason == vectorized.CONDITIONAL and not self.passage.aim.is_tpu:
            return  # compiled for each value that an argument has
        if variant is not None and is_sure:
            self.report(
                node, fact, variant, confidence="certain", api=self.quote(named), cause=detail.api
            )


def listed(ops: tuple[str, ...]) -> str:
    """The names of operations for a message: the first three of them."""
    shown = ", ".join(ops[:3])
    return f"{shown} and {len(ops) - 3} more" if len(ops) > 3 else shown
