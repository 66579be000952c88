"""XLA402: calls back to Python, and printing, from compiled code."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import ASSUMED, CALL, CallDetail, Fact
from xlalint.semantics.hazards import families

_ALWAYS_FAIL = {
    families.CALLBACK: "callback",
    families.FILES: "files",
    families.PIPELINE: "pipeline",
}


class HostCallback(Rule):
    """`tf.py_function`, `tf.numpy_function`, `tf.print`, `tf.summary.*`, files, queues and datasets."""

    code = "XLA402"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, node.func)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """An API that is passed on: `tf.nest.map_structure(tf.print, state)`."""
        self._judge(node, node)

    def visit_Name(self, node: cst.Name) -> None:
        self._judge(node, node)

    def _judge(self, node: cst.BaseExpression, named: cst.BaseExpression) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.family in _ALWAYS_FAIL:
                variant = _ALWAYS_FAIL[detail.family]
                self.report(node, fact, variant, confidence="certain", api=self.quote(named))
            elif detail.family == families.PRINTING:
                # In a step that TPUStrategy or Keras compiles, a TPU may move what only writes to the host. A library's
                # function or layer is compiled by whoever calls it; in such a function a summary without a writer writes
                # nothing: only --pedantic asks about those.
                needs_writer = detail.api.startswith("tf.summary.")
                is_assumed = fact.context.region == ASSUMED
                variant = "printing-offloaded"
                if fact.context.jit:
                    variant = "printing"
                elif is_assumed or (not needs_writer and self._is_layer_for_others(fact)):
                    variant = "printing-library"
                is_unsure = variant == "printing-library" and needs_writer
                confidence = "possible" if is_unsure else "certain"
                api = self.quote(named)
                self.report(node, fact, variant, confidence=confidence, api=api)

    def _is_layer_for_others(self, fact: Fact) -> bool:
        """Whether the call is in a layer or model that Keras traces, in a project that trains none."""
        first = fact.context.why[0] if fact.context.why else ""
        is_traced = first.startswith(("Keras traces", "Keras 3 traces"))
        return is_traced and not self.passage.aim.trains
