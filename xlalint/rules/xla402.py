"""XLA402: calls back to Python, and printing, from compiled code."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics import families
from xlalint.semantics.facts import ASSUMED, CALL, CallDetail

_ALWAYS_FAIL = {
    families.CALLBACK: "callback",
    families.FILES: "files",
    families.PIPELINE: "pipeline",
}


class HostCallback(Rule):
    """`tf.py_function`, `tf.numpy_function`, `tf.print`, `tf.summary.*`, files, queues and datasets."""

    code = "XLA402"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.family in _ALWAYS_FAIL:
                variant = _ALWAYS_FAIL[detail.family]
                self.report(node, fact, variant, confidence="certain", api=self.quote(node.func))
            elif detail.family == families.PRINTING:
                # In a step that TPUStrategy or Keras compiles, a TPU may move what only writes to the host. A library
                # function that nobody calls is compiled by whoever calls it; there a summary without a writer writes
                # nothing: only --pedantic asks about those.
                is_assumed = fact.context.region == ASSUMED and not fact.context.jit
                variant = "printing-offloaded"
                if fact.context.jit or is_assumed:
                    variant = "printing-library" if is_assumed else "printing"
                needs_writer = detail.api.startswith("tf.summary.")
                confidence = "possible" if is_assumed and needs_writer else "certain"
                api = self.quote(node.func)
                self.report(node, fact, variant, confidence=confidence, api=api)
