"""XLA406: seeds that XLA ignores."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import IGNORED_SEED


class IgnoredSeed(Rule):
    """A seed written into a stateful random operation that XLA compiles."""

    code = "XLA406"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, IGNORED_SEED):
            self.report(
                _seed_of(node) or node,
                fact,
                "ignored",
                confidence="certain" if fact.context.region == "compiled" else "possible",
                api=self.quote(node.func),
            )


def _seed_of(node: cst.Call) -> cst.Arg | None:
    return next((a for a in node.args if a.keyword is not None and a.keyword.value == "seed"), None)
