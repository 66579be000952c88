"""What the rules about replicas share: the analysis says which variant and which words, they say where."""

from __future__ import annotations

from typing import ClassVar

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import name_node


class RemarkRule(Rule):
    """Reports the remarks of one kind of fact at the calls that they are about."""

    kind: ClassVar[str]
    # The variants that hold on a TPU only.
    of_tpus: ClassVar[frozenset[str]] = frozenset()

    def visit_Call(self, node: cst.Call) -> None:
        self.remark(node, name_node(node))

    def remark(self, node: cst.CSTNode, shown: cst.CSTNode) -> None:
        """Report what is remarked on `node`, at `shown`."""
        aim = self.passage.aim
        for fact in self.facts(node, self.kind):
            if fact.detail.variant in self.of_tpus and not (aim.is_tpu and aim.goes_to_tpu):
                continue
            words = dict(fact.detail.words)
            self.report(shown, fact, fact.detail.variant, confidence="certain", **words)
