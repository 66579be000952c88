"""XLA403: strings and lookup tables on the device."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.xla401 import listed
from xlalint.semantics import families
from xlalint.semantics.facts import CALL, CallDetail


class TextOnDevice(Rule):
    """A call that works on strings, or looks something up in a table."""

    code = "XLA403"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.family != families.TEXT:
                continue
            variant = "conditional" if detail.verdict.possible else "missing"
            self.report(
                node, fact, variant,
                confidence="certain",
                api=self.quote(node.func), ops=listed(detail.verdict.missing),
            )  # fmt: skip
