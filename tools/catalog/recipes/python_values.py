"""Calls that look like tensor operations, where what they return is the question; and checks, with arguments that hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    MATRIX,
    VECTOR,
    Call,
    ones,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {**_python_values(), **_checks()}


def _python_values() -> Mapping[str, list[Call]]:
    """Calls that look like tensor operations; what they return is the question."""
    pair = [VECTOR, VECTOR]
    return {
        "tf.as_dtype": [{"type_value": "float32"}],
        "tf.get_static_value": [{"tensor": VECTOR}],
        "tf.is_tensor": [{"x": VECTOR}],
        "tf.is_symbolic_tensor": [{"tensor": VECTOR}],
        "tf.debugging.is_numeric_tensor": [{"tensor": VECTOR}],
        "tf.nest.assert_same_structure": [{"nest1": pair, "nest2": pair}],
        "tf.nest.flatten": [{"structure": pair}],
        "tf.nest.is_nested": [{"structure": pair}],
        "tf.nest.map_structure": [{"*": [tf.abs, pair]}],
        "tf.nest.pack_sequence_as": [{"structure": [1, 2], "flat_sequence": pair}],
        "tf.summary.audio": [{"name": "a", "data": ones(1, 8, 1), "sample_rate": 8000, "step": 0}],
        "tf.summary.histogram": [{"name": "a", "data": VECTOR, "step": 0}],
        "tf.summary.image": [{"name": "a", "data": IMAGE, "step": 0}],
        "tf.summary.text": [{"name": "a", "data": np.array(b"text"), "step": 0}],
        "tf.summary.write": [{"tag": "a", "tensor": VECTOR, "step": 0}],
        "tf.summary.scalar": [{"name": "a", "data": np.array(1.0, np.float32), "step": 0}],
    }


def _checks() -> Mapping[str, list[Call]]:
    """Assertions, with arguments that hold."""
    higher = VECTOR + 1
    pairs: dict[str, Call] = {
        "assert_equal": {"x": VECTOR, "y": VECTOR},
        "assert_greater": {"x": higher, "y": VECTOR},
        "assert_greater_equal": {"x": higher, "y": VECTOR},
        "assert_less": {"x": VECTOR, "y": higher},
        "assert_less_equal": {"x": VECTOR, "y": higher},
        "assert_negative": {"x": -VECTOR},
        "assert_non_negative": {"x": VECTOR},
        "assert_non_positive": {"x": -VECTOR},
        "assert_none_equal": {"x": VECTOR, "y": higher},
        "assert_positive": {"x": VECTOR},
        "assert_rank_in": {"x": MATRIX, "ranks": [1, 2]},
        "assert_type": {"tensor": MATRIX, "tf_type": tf.float32},
        "assert_shapes": {"shapes": [(MATRIX, ("N", "N"))]},
        "assert_near": {"x": VECTOR, "y": VECTOR},
    }
    prefixes = ("tf.debugging.", "tf.compat.v1.", "tf.compat.v1.debugging.")
    return {prefix + name: [call] for name, call in pairs.items() for prefix in prefixes}
