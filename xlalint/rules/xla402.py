"""XLA402: calls back to Python, and printing, from compiled code."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import ASSUMED, CALL, CallDetail

_CALLBACK_OPS = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})
_PRINTING_OPS = frozenset({"PrintV2", "Print"})


def is_callback(detail: CallDetail) -> bool:
    return not _CALLBACK_OPS.isdisjoint(detail.verdict.missing)


def is_printing(detail: CallDetail) -> bool:
    """Printing and summaries: operations run for what they write, whose results nothing waits for."""
    return not _PRINTING_OPS.isdisjoint(detail.ops) or any("Summary" in op for op in detail.ops)


class HostCallback(Rule):
    """`tf.py_function`, `tf.numpy_function`, `tf.print`, `tf.summary.*`."""

    code = "XLA402"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if is_callback(detail):
                self.report(node, fact, "callback", confidence="certain", api=self.quote(node.func))
            elif is_printing(detail):
                # Without jit_compile, a TPU may move what only writes to the host; and in a library function that nobody
                # calls, a summary without a writer writes nothing: only --pedantic asks about those.
                variant = "printing" if fact.context.jit else "printing-offloaded"
                is_assumed = fact.context.region == ASSUMED and not fact.context.jit
                confidence = "possible" if is_assumed else "certain"
                api = self.quote(node.func)
                self.report(node, fact, variant, confidence=confidence, api=api)
