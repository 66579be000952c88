"""XLA604: `fit` with a dataset that never ends."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import ENDLESS


class EndlessDataset(RemarkRule):
    """`model.fit(dataset.repeat())` without `steps_per_epoch`."""

    code = "XLA604"
    kind = ENDLESS
