"""Calls of ordinary functions with sparse and ragged arguments, which other operations stand for than with dense ones.

A condition spells such an argument `SparseTensor` or `RaggedTensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tools.catalog.arguments import MATRIX, ragged, sparse

Make = Callable[[], dict[str, Any]]


def condition(changes: Mapping[str, Any]) -> dict[str, Any]:
    """How the catalogue spells a call: by its composite arguments, and by the axis where a number says it."""
    return {
        name: kind for name, value in changes.items() if (kind := _spelled(name, value)) is not None
    }


def _spelled(name: str, value: Any) -> str | int | None:
    leaf = value[0] if isinstance(value, list) and value else value
    if isinstance(leaf, tf.SparseTensor):
        return "SparseTensor"
    if isinstance(leaf, tf.RaggedTensor):
        return "RaggedTensor"
    return value if name == "axis" and isinstance(value, int) else None


def _whole() -> tf.RaggedTensor:
    return tf.ragged.constant([[1, 0], [1]])


def _reduced(name: str) -> tuple[Make, ...]:
    def values() -> Any:
        return tf.cast(ragged(), tf.bool) if name in ("reduce_any", "reduce_all") else ragged()

    return tuple(lambda axis=axis: {"input_tensor": values(), "axis": axis} for axis in (0, 1))


_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all", "variance", "std")

COMPOSITE_CALLS: Mapping[str, tuple[Make, ...]] = {
    **{f"tf.math.reduce_{name}": _reduced(f"reduce_{name}") for name in _REDUCTIONS},
    **{f"tf.reduce_{name}": _reduced(f"reduce_{name}") for name in _REDUCTIONS},
    "tf.concat": (
        lambda: {"values": [ragged(), ragged()], "axis": 0},
        lambda: {"values": [ragged(), ragged()], "axis": 1},
        lambda: {"values": [ragged(), ragged()], "axis": -1},
    ),
    "tf.nn.ctc_loss": (
        lambda: {
            "labels": tf.sparse.from_dense([[1, 2]]),
            "logits": tf.ones([3, 1, 4]),
            "label_length": tf.constant([2]),
            "logit_length": tf.constant([3]),
            "blank_index": 0,
        },
    ),
    "tf.stack": (lambda: {"values": [ragged(), ragged()]},),
    "tf.gather": (
        lambda: {"params": ragged(), "indices": tf.constant([0])},
        lambda: {"params": MATRIX, "indices": _whole()},
    ),
    "tf.nn.embedding_lookup": (lambda: {"params": MATRIX, "ids": _whole()},),
    "tf.nn.softmax": (lambda: {"logits": ragged()},),
    "tf.reverse": (lambda: {"tensor": ragged(), "axis": [1]},),
    "tf.tile": (lambda: {"input": ragged(), "multiples": [1, 2]},),
    "tf.where": (
        lambda: {"condition": ragged() > 1.0, "x": ragged(), "y": ragged()},
        lambda: {"condition": ragged() > 1.0},
    ),
    "tf.map_fn": (
        lambda: {"fn": tf.reduce_sum, "elems": ragged(), "fn_output_signature": tf.float32},
    ),
    "tf.math.bincount": (lambda: {"arr": _whole(), "axis": -1, "minlength": 3},),
    "tf.math.unsorted_segment_sum": (
        lambda: {"data": ragged(), "segment_ids": tf.constant([0, 0]), "num_segments": 1},
    ),
    "tf.math.segment_sum": (lambda: {"data": ragged(), "segment_ids": tf.constant([0, 0])},),
    "tf.squeeze": (lambda: {"input": tf.expand_dims(ragged(), 2), "axis": 2},),
    "tf.expand_dims": (lambda: {"input": ragged(), "axis": 1},),
    "tf.one_hot": (lambda: {"indices": _whole(), "depth": 3},),
    "tf.split": (lambda: {"value": ragged(), "num_or_size_splits": 2},),
    "keras.backend.dot": (lambda: {"x": sparse(), "y": tf.ones([2, 2])},),
    "keras.ops.matmul": (
        lambda: {"x1": sparse(), "x2": tf.ones([2, 2])},
        lambda: {"x1": tf.ones([2, 2]), "x2": sparse()},
    ),
    "keras.ops.sum": (lambda: {"x": sparse()},),
    "keras.ops.mean": (lambda: {"x": sparse()},),
    "keras.ops.max": (lambda: {"x": sparse()},),
    "keras.ops.add": (lambda: {"x1": sparse(), "x2": sparse()},),
    "keras.ops.subtract": (lambda: {"x1": sparse(), "x2": sparse()},),
    "keras.ops.multiply": (
        lambda: {"x1": sparse(), "x2": sparse()},
        lambda: {"x1": sparse(), "x2": tf.ones([2, 2])},
    ),
    "keras.ops.divide": (lambda: {"x1": sparse(), "x2": tf.ones([2, 2])},),
    "keras.ops.transpose": (lambda: {"x": sparse()},),
    "keras.ops.reshape": (lambda: {"x": sparse(), "newshape": [4]},),
    "keras.ops.concatenate": (lambda: {"xs": [sparse(), sparse()]},),
    "keras.ops.take": (lambda: {"x": tf.ones([3, 2]), "indices": tf.cast(sparse(), tf.int32)},),
}
