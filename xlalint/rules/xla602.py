"""XLA602: a learning rate that was chosen for one device, with the batch of all replicas."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import LEARNING_RATE


class RateOfOneDevice(RemarkRule):
    """`SGD(0.1)` where the batch is `32 * strategy.num_replicas_in_sync`."""

    code = "XLA602"
    kind = LEARNING_RATE
    of_tpus = frozenset({"unscaled"})
