"""XLA408: checks that vanish, and results that differ from eager execution."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of
from xlalint.semantics.facts import (
    ASSUMED,
    CHECK_WITHOUT_DATA,
    DEBUG_HOOK,
    DIFFERS,
    MOVED_SLICE,
    UNCAUGHT_CHECK,
    VANISHING_CHECK,
)
from xlalint.semantics.hazards.differences import HIDDEN_NAN
from xlalint.semantics.hazards.moved_slices import Moved
from xlalint.semantics.values import ARRIVING

_VARIANTS = {HIDDEN_NAN: "hidden-nan"}


class DiffersFromEager(Rule):
    """`tf.debugging` checks in compiled code, and calls whose results are other ones there."""

    code = "XLA408"
    _written: cst.BaseExpression | None = None

    def visit_Call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value.startswith("assign"):
            self._written = node.func.value  # XLA203 says that XLA does not write there at all
        for fact in self.facts(node, VANISHING_CHECK):
            # Libraries check their arguments everywhere, for whoever calls them eagerly: only --pedantic asks about those.
            confidence = "possible" if fact.context.region == ASSUMED else "certain"
            self.report(node, fact, "vanishes", confidence=confidence, api=self.quote(node.func))
        for fact in self.facts(node, CHECK_WITHOUT_DATA):
            self.report(node, fact, "no-data", api=self.quote(node.func))
        for fact in self.facts(node, DIFFERS):
            # Measured with XLA on CPU; what a GPU or a TPU does was not.
            suffix = "" if self.passage.aim.target == "cpu" else "-unmeasured"
            variant = _VARIANTS[fact.detail] + suffix
            self.report(node, fact, variant, confidence="certain", api=self.quote(node.func))
        for fact in self.facts(node, DEBUG_HOOK):
            compiler = compiler_of(fact.detail, self.passage.aim)
            if compiler is not None:
                variant = "debug-hook" if compiler == "jit" else "debug-hook-tpu"
                self.report(node, fact, variant, confidence="certain", api=self.quote(node.func))

        self._judge_slice(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        if node is not self._written:
            self._judge_slice(node)

    def _judge_slice(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, MOVED_SLICE):
            # CPUs and GPUs read arguments when they compile.
            if self.passage.aim.is_tpu or fact.value.dependence != ARRIVING:
                moved: Moved = fact.detail
                variant = "refused-steps" if moved.is_refused else "moved-slice"
                self.report(node, fact, variant, slice=self.quote(node), part=moved.part)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._judge_handler(node)

    def visit_Name(self, node: cst.Name) -> None:
        self._judge_handler(node)

    def _judge_handler(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, UNCAUGHT_CHECK):
            self.report(
                node,
                fact,
                "uncaught",
                confidence="certain",
                error=self.quote(node),
                function=str(fact.detail),
            )
