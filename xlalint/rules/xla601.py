"""XLA601: a batch whose size was chosen for one device, shared out among the replicas of a TPU."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import BATCH_SIZE


class BatchOfOneDevice(RemarkRule):
    """`dataset.batch(100)` under TPUStrategy."""

    code = "XLA601"
    kind = BATCH_SIZE
    of_tpus = frozenset({"uneven", "uneven-on-eight", "small"})
