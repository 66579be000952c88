"""XLA302: batches as long as their longest element."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of, name_node
from xlalint.semantics.facts import VARIABLE_LENGTH
from xlalint.semantics.training.pipelines import COLLATED, GROWN, TOKENIZED

_VARIANTS = {COLLATED: "collator", TOKENIZED: "tokenizer"}


class VariableLength(Rule):
    """`padded_batch` without fixed shapes, buckets padded to the longest, collators that pad to the longest."""

    code = "XLA302"

    def visit_Call(self, node: cst.Call) -> None:
        called = name_node(node)
        for fact in self.facts(node, VARIABLE_LENGTH):
            if compiler_of(fact.detail, self.passage.aim) is None:
                continue
            variant = _VARIANTS.get(fact.detail.words, "dataset")
            self.report(
                called,
                fact,
                variant,
                confidence="certain",
                call=self.quote(called),
                how=f" {fact.detail.words}" if variant == "dataset" else "",
                consumer=fact.detail.consumer,
            )

    def visit_Arg(self, node: cst.Arg) -> None:
        for fact in self.facts(node.value, VARIABLE_LENGTH):
            grows = fact.detail.words == GROWN
            if grows and compiler_of(fact.detail, self.passage.aim) is not None:
                self.report(
                    node.value,
                    fact,
                    "growing",
                    confidence="certain",
                    value=self.quote(node.value),
                    consumer=fact.detail.consumer,
                )
