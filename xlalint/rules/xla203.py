"""XLA203: sizes taken from data where XLA needs a compile-time constant."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.apis import needs_exact
from xlalint.semantics.facts import CALL, INDEX, STRIDE, CallDetail, Fact
from xlalint.semantics.values import ARRIVING, BOUNDED, COMPUTED, Value, leaves


class SizeFromData(Rule):
    """An argument that XLA needs when it compiles, fed from what is known only when the program runs."""

    code = "XLA203"

    def visit_Call(self, node: cst.Call) -> None:
        self._index(node)
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            for parameter, value in detail.arguments:
                if parameter in detail.verdict.constant_args:
                    self._judge(node, fact, parameter, value)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._index(node)
        for fact in self.facts(node, STRIDE):
            self.report(
                node,
                fact,
                self._variant(fact.value.dependence),
                api=self.quote(node),
                argument="step",
                value=ast.unparse(fact.detail),
            )

    def _index(self, node: cst.BaseExpression) -> None:
        if self.passage.aim.is_tpu:
            return
        for fact in self.facts(node, INDEX):
            index, value = self.quote(node), ast.unparse(fact.detail)
            self.report(node, fact, "index-cpu", index=index, value=value)

    def _variant(self, dependence: int) -> str:
        if dependence != ARRIVING:
            return "computed"
        return "argument" if self.passage.aim.is_tpu else "argument-cpu"

    def _judge(self, node: cst.Call, fact: Fact, parameter: str, value: Value) -> None:
        least = BOUNDED if needs_exact(fact.detail.api, parameter) else ARRIVING
        data = [leaf for leaf in leaves(value) if leaf.is_tensor and leaf.dependence >= least]
        if not data:
            return
        dependence = max(leaf.dependence for leaf in data)
        variant = self._variant(dependence)
        sure = any(leaf.sure for leaf in data if leaf.dependence == dependence)
        argument = self._written(node, parameter, fact.detail)
        self.report(
            node if argument is None else argument,
            fact,
            variant,
            confidence="certain" if sure and dependence in (ARRIVING, COMPUTED) else "likely",
            api=self.quote(node.func),
            argument=parameter,
            value=parameter if argument is None else self.quote(argument),
        )

    def _written(
        self, node: cst.Call, parameter: str, detail: CallDetail
    ) -> cst.BaseExpression | None:
        """What the author wrote for a parameter, by keyword or by position."""
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == parameter:
                return argument.value
        position = [name for name, _ in detail.arguments].index(parameter)
        positional = [a for a in node.args if a.keyword is None and not a.star]
        return positional[position].value if position < len(positional) else None
