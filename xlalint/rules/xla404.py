"""XLA404: element types that XLA or a TPU refuses, or that a TPU emulates."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import DTYPE
from xlalint.semantics.hazards.misfits import (
    MIXED,
    NARROWED,
    NARROWED_RESULT,
    NO_KERNEL,
    SHUFFLED,
    Misfit,
)

# What goes wrong whatever the target; the rest is about TPUs.
_EVERYWHERE = frozenset({MIXED, NARROWED, NO_KERNEL})


class DtypeOnDevice(Rule):
    """Products of int64, float64 where a TPU has none of it or pays for it, complex128, kernels missing for a dtype."""

    code = "XLA404"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node, node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, node)

    def visit_Return(self, node: cst.Return) -> None:
        if node.value is None:
            return
        for fact in self.facts(node.value, DTYPE):
            if fact.detail.how == NARROWED_RESULT:
                use = self.quote(node.value)
                # Measured with XLA on CPU; what a GPU or a TPU does was not.
                suffix = "" if self.passage.aim.target == "cpu" else "-unmeasured"
                variant = NARROWED_RESULT + suffix
                self.report(node.value, fact, variant, use=use, dtype=fact.detail.dtype)

    def _judge(self, node: cst.CSTNode, named: cst.CSTNode) -> None:
        for fact in self.facts(node, DTYPE):
            misfit: Misfit = fact.detail
            if misfit.how == NARROWED_RESULT:
                continue
            variant = self._variant(misfit.how)
            if variant is None:
                continue
            self.report(
                node, fact, variant,
                confidence="certain",
                use=self.quote(named), dtype=misfit.dtype,
            )  # fmt: skip

    def _variant(self, how: str) -> str | None:
        """The variant of the page that is said of the target; None where nothing is."""
        aim = self.passage.aim
        if how != SHUFFLED:
            return how if how in _EVERYWHERE or aim.is_tpu else None
        if aim.is_tpu:
            return None  # its compiler takes it
        return how if aim.target == "cpu" else f"{how}-unmeasured"
