"""XLA203: sizes taken from data where XLA needs a compile-time constant."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import CALL, CallDetail, Fact
from xlalint.semantics.values import ARRIVING, COMPUTED, Value, leaves


class SizeFromData(Rule):
    """An argument that XLA needs when it compiles, fed from what is known only when the program runs."""

    code = "XLA203"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            for parameter, value in detail.arguments:
                if parameter in detail.verdict.constant_args:
                    self._judge(node, fact, parameter, value)

    def _judge(self, node: cst.Call, fact: Fact, parameter: str, value: Value) -> None:
        data = [leaf for leaf in leaves(value) if leaf.is_tensor and leaf.dependence >= ARRIVING]
        if not data:
            return
        dependence = max(leaf.dependence for leaf in data)
        if dependence >= COMPUTED:
            variant = "computed"
        else:
            variant = "argument" if self.passage.aim.is_tpu else "argument-cpu"
        sure = any(leaf.sure for leaf in data if leaf.dependence == dependence)
        self.report(
            node, fact, variant,
            confidence="certain" if sure else "likely",
            api=self.quote(node.func), argument=parameter, value=self._source_of(node, parameter, fact.detail),
        )  # fmt: skip

    def _source_of(self, node: cst.Call, parameter: str, detail: CallDetail) -> str:
        """What the author wrote for a parameter, by keyword or by position."""
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == parameter:
                return self.quote(argument.value)
        names = [name for name, _ in detail.arguments]
        position = names.index(parameter)
        positional = [a for a in node.args if a.keyword is None and not a.star]
        return self.quote(positional[position].value) if position < len(positional) else parameter
