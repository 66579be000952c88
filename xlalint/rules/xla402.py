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
                # Without jit_compile, a TPU may move what only writes to the host; and in a library function that nobody
                # calls, a summary without a writer writes nothing: only --pedantic asks about those.
                variant = "printing" if fact.context.jit else "printing-offloaded"
                is_assumed = fact.context.region == ASSUMED and not fact.context.jit
                needs_writer = detail.api.startswith("tf.summary.")
                confidence = "possible" if is_assumed and needs_writer else "certain"
                api = self.quote(node.func)
                self.report(node, fact, variant, confidence=confidence, api=api)
