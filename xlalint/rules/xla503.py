"""XLA503: a TPU that is not initialised, or in the wrong order."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.driving import name_node
from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import TPU_SETUP

# A TPU VM's own chips need no connection.
_ON_A_NODE = frozenset({"unconnected", "connected-late"})


class TpuSetup(RemarkRule):
    """`TPUStrategy(resolver)` before `initialize_tpu_system`, or without it; a node that is not connected to."""

    code = "XLA503"
    kind = TPU_SETUP
    of_tpus = frozenset({"missing", "early", "unconnected", "connected-late"})

    def visit_Call(self, node: cst.Call) -> None:
        target = self.passage.aim.target
        facts = self.facts(node, TPU_SETUP)
        if target == "tpu-node" or not any(f.detail.variant in _ON_A_NODE for f in facts):
            self.remark(node, name_node(node))
