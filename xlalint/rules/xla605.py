"""XLA605: replicas that meet in a conditional, a loop or a nested tf.function."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import MERGE_IN_ARM


class MergeInArm(RemarkRule):
    """`optimizer.apply_gradients` in an arm of `tf.cond`, in a step that `strategy.run` runs."""

    code = "XLA605"
    kind = MERGE_IN_ARM
