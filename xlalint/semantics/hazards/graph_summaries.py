"""Summaries of TensorFlow 1: in a graph that a session runs, nobody reads them, and what nobody reads is not compiled.

Measured with `tf.compat.v1.summary.*` and TensorFlow 2.21: inside a tf.function with `jit_compile=True` they fail; in a graph, under
`tf.xla.experimental.compile`, the same lines compile. `tf.Print` fails in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from xlalint.semantics.frames import Frame

# What only programs of TensorFlow 1 do: a tf.function keeps its variables elsewhere, and is fed by its arguments. Scopes of variables
# stand in libraries that are called from both.
_GRAPH_CODE = re.compile(
    r"\.contrib\.|\b(?:get_variable|placeholder|placeholder_with_default|disable_v2_behavior|"
    r"disable_eager_execution|TPUEstimatorSpec|EstimatorSpec)\("
)


def are_left_out(emitted: Iterable[str], frame: Frame) -> bool:
    """Whether a call that emits these operations writes summaries in a graph of TensorFlow 1."""
    if not all("Summary" in operation for operation in emitted):
        return False
    first = frame.context.why[0] if frame.context.why else ""
    return first == "Estimator" or _GRAPH_CODE.search(frame.module.text) is not None
