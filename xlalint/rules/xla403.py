"""XLA403: strings and lookup tables on the device."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.layers import named_in, turns_jit_off
from xlalint.rules.xla401 import listed
from xlalint.semantics.facts import CALL, TEXT, CallDetail
from xlalint.semantics.hazards import families, text


class TextOnDevice(Rule):
    """A call that works on strings, or looks something up in a table; text that arrives, is chosen or is returned."""

    code = "XLA403"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node, named_in(node))
        self._tell(node, node.func)

    def visit_Name(self, node: cst.Name) -> None:
        """A layer in the list of a model, or an API that is passed on."""
        self._judge(node, node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """An API that is passed on: `tf.map_fn(tf.strings.length, x)`."""
        self._judge(node, node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """`WORDS[tf.argmax(scores)]`, or an API that is kept in a table."""
        self._judge(node, node)
        self._tell(node, node)

    def visit_Return(self, node: cst.Return) -> None:
        if node.value is None:
            return
        for fact in self.facts(node.value, TEXT):
            if fact.detail == text.RETURNED:
                self.report(
                    node.value, fact, fact.detail, confidence="certain", api=self.quote(node.value)
                )

    def _tell(self, node: cst.BaseExpression, quoted: cst.BaseExpression) -> None:
        """Report text that arrives at a call, or that one chooses or collects."""
        for fact in self.facts(node, TEXT):
            if fact.detail != text.RETURNED:
                self.report(node, fact, fact.detail, confidence="certain", api=self.quote(quoted))

    def _judge(self, node: cst.BaseExpression, named: cst.BaseExpression) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            if detail.family != families.TEXT or turns_jit_off(fact, detail, self.passage.aim):
                continue
            variant = "conditional" if detail.verdict.possible else "missing"
            self.report(
                node, fact, variant,
                confidence="certain",
                api=self.quote(named), ops=listed(detail.verdict.missing) or "strings",
            )  # fmt: skip
