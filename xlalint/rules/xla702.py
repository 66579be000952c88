"""XLA702: pipelines that run Python, for a TPU node."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import NODE_INPUT


class PythonInPipeline(RemarkRule):
    """`from_generator`, `tf.py_function` in `map`, Keras's Sequence and ImageDataGenerator, `to_tf_dataset`."""

    code = "XLA702"
    kind = NODE_INPUT
