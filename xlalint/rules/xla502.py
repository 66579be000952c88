"""XLA502: steps that run eagerly, in a project that goes to TPU."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import EAGER_STEP


class EagerOnTpu(RemarkRule):
    """`run_eagerly=True`, `tf.config.run_functions_eagerly(True)`, `strategy.run` outside of any tf.function."""

    code = "XLA502"
    kind = EAGER_STEP
    of_tpus = frozenset({"run", "compile", "functions", "pipelines"})
