"""XLA303: Python numbers that change, and objects made anew, passed to a compiled function."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.rules.driving import compiler_of
from xlalint.semantics.facts import PYTHON_ARGUMENT
from xlalint.semantics.training.drivers import OBJECT


class PythonArgument(Rule):
    """`step(batch, epoch)` in a loop over `epoch`: every number is traced and compiled for itself."""

    code = "XLA303"

    def visit_Arg(self, node: cst.Arg) -> None:
        for fact in self.facts(node.value, PYTHON_ARGUMENT):
            if compiler_of(fact.detail, self.passage.aim) is not None:
                self.report(
                    node.value,
                    fact,
                    "object" if fact.detail.words == OBJECT else "number",
                    confidence="certain",
                    value=self.quote(node.value),
                    consumer=fact.detail.consumer,
                )
