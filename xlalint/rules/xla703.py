"""XLA703: input that is made one element after the other, for a TPU that waits for it."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import SERIAL_INPUT


class SerialInput(RemarkRule):
    """`dataset.map(augment)` with random numbers, and `interleave`, without `num_parallel_calls`."""

    code = "XLA703"
    kind = SERIAL_INPUT
    of_tpus = frozenset({"random", "python", "interleaved"})
