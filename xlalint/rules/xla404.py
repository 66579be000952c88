"""XLA404: element types that XLA or a TPU refuses, or that a TPU emulates."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import DTYPE
from xlalint.semantics.misfits import MIXED, NO_KERNEL, Misfit


class DtypeOnDevice(Rule):
    """Products of int64, float64 where a TPU has none of it or pays for it, complex128, kernels missing for a dtype."""

    code = "XLA404"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node, node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, node)

    def _judge(self, node: cst.CSTNode, named: cst.CSTNode) -> None:
        for fact in self.facts(node, DTYPE):
            misfit: Misfit = fact.detail
            if misfit.how not in (MIXED, NO_KERNEL) and not self.passage.aim.is_tpu:
                continue
            self.report(
                node, fact, misfit.how,
                confidence="certain",
                use=self.quote(named), dtype=misfit.dtype,
            )  # fmt: skip
