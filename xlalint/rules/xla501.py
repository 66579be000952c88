"""XLA501: `jit_compile=True` left on in a project that goes to TPU."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.facts import JIT_ON


class JitCompileOnTpu(Rule):
    """`tf.function(jit_compile=True)` and `model.compile(jit_compile=True)` where a TPU is named."""

    code = "XLA501"

    def visit_Call(self, node: cst.Call) -> None:
        if not (self.passage.aim.is_tpu and self.passage.aim.goes_to_tpu):
            return
        for fact in self.facts(node, JIT_ON):
            where = next(
                (
                    a
                    for a in node.args
                    if a.keyword is not None and a.keyword.value.endswith("_compile")
                ),
                node,
            )
            self.report(where, fact, "left-on", where=str(fact.detail))
