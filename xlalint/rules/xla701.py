"""XLA701: files of the program's own machine, read by a TPU node."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import NODE_FILE


class LocalFiles(RemarkRule):
    """`tf.data.TFRecordDataset("data/...")` that a model or a strategy reads."""

    code = "XLA701"
    kind = NODE_FILE
