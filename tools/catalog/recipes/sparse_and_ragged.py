"""Calls of tf.sparse, tf.ragged, tf.RaggedTensor, tf.sets and tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    MASK,
    MATRIX,
    SEGMENTS,
    VECTOR,
    Call,
    f32,
    i32,
    ragged,
    sparse,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    matrix = tf.sparse.from_dense(MATRIX)
    sets = i32([1, 2], [3, 4])
    return {
        **{
            f"tf.sets.{name}": [{"a": sets, "b": sets}]
            for name in ("difference", "intersection", "union")
        },
        "tf.sets.size": [{"a": tf.sparse.from_dense([[1, 2], [3, 0]])}],
        "tf.sparse.add": [{"a": sparse(), "b": sparse()}],
        "tf.sparse.bincount": [{"values": i32(0, 1, 1)}],
        "tf.sparse.concat": [{"axis": 0, "sp_inputs": [sparse(), sparse()]}],
        "tf.sparse.cross": [{"inputs": [np.array([[b"a"], [b"b"]]), np.array([[b"c"], [b"d"]])]}],
        "tf.sparse.cross_hashed": [
            {
                "inputs": [np.array([[b"a"], [b"b"]]), np.array([[b"c"], [b"d"]])],
                "num_buckets": 10,
            }
        ],
        "tf.sparse.expand_dims": [{"sp_input": sparse()}],
        "tf.sparse.eye": [{"num_rows": 3}],
        "tf.sparse.fill_empty_rows": [{"sp_input": sparse(), "default_value": 0.0}],
        "tf.sparse.mask": [
            {
                "a": tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1])),
                "mask_indices": i32(0),
            }
        ],
        "tf.sparse.retain": [{"sp_input": sparse(), "to_retain": np.array([True, False])}],
        "tf.sparse.reshape": [{"sp_input": sparse(), "shape": [4]}],
        "tf.sparse.slice": [{"sp_input": sparse(), "start": [0, 0], "size": [1, 1]}],
        "tf.sparse.sparse_dense_matmul": [{"sp_a": matrix, "b": MATRIX}],
        "tf.sparse.split": [{"sp_input": sparse(), "num_split": 2, "axis": 0}],
        "tf.sparse.to_indicator": [
            {"sp_input": tf.sparse.from_dense(np.array([[1, 0]], np.int64)), "vocab_size": 4}
        ],
        "tf.sparse.transpose": [{"sp_input": sparse()}],
        "tf.sparse.map_values": [{"op": tf.abs, "*": [sparse()]}, {"*": [tf.abs, sparse()]}],
        "tf.ragged.boolean_mask": [{"data": VECTOR, "mask": MASK}],
        "tf.ragged.constant": [{"pylist": [[1.0], [2.0, 3.0]]}],
        "tf.ragged.cross": [{"inputs": [ragged(), ragged()]}],
        "tf.ragged.cross_hashed": [{"inputs": [tf.ragged.constant([["a"], ["b"]])] * 2}],
        "tf.ragged.map_flat_values": [{"*": [tf.abs, ragged()]}],
        "tf.ragged.range": [{"starts": i32(1, 2, 3)}],
        "tf.ragged.row_splits_to_segment_ids": [{"splits": i32(0, 2, 3)}],
        "tf.ragged.segment_ids_to_row_splits": [{"segment_ids": i32(0, 0, 1)}],
        "tf.ragged.stack": [{"values": [ragged(), ragged()]}],
        "tf.ragged.stack_dynamic_partitions": [
            {"data": VECTOR, "partitions": i32(0, 1, 0, 1), "num_partitions": 2}
        ],
        "tf.RaggedTensor.from_nested_row_lengths": [
            {"flat_values": VECTOR, "nested_row_lengths": [i32(1, 3)]}
        ],
        "tf.RaggedTensor.from_nested_row_splits": [
            {"flat_values": VECTOR, "nested_row_splits": [i32(0, 1, 4)]}
        ],
        "tf.ragged_fill_empty_rows": [
            {
                "value_rowids": np.array([0, 2], np.int64),
                "values": f32(1, 2),
                "nrows": np.array(3, np.int64),
                "default_value": np.array(0.0, np.float32),
            }
        ],
        "tf.RaggedTensor.from_row_splits": [
            {"values": VECTOR, "row_splits": i32(0, 2, 4)},
        ],
        "tf.RaggedTensor.from_row_lengths": [{"values": VECTOR, "row_lengths": i32(1, 3)}],
        "tf.RaggedTensor.from_row_limits": [{"values": VECTOR, "row_limits": i32(1, 4)}],
        "tf.RaggedTensor.from_row_starts": [{"values": VECTOR, "row_starts": i32(0, 1)}],
        "tf.RaggedTensor.from_value_rowids": [{"values": VECTOR, "value_rowids": SEGMENTS}],
        "tf.RaggedTensor.from_uniform_row_length": [{"values": VECTOR, "uniform_row_length": 2}],
        "tf.RaggedTensor.from_tensor": [{"tensor": MATRIX}],
        **{
            f"tf.RaggedTensor.{name}": [{"self": ragged()}]
            for name in (
                "bounding_shape", "nrows", "row_lengths", "row_limits", "row_starts", "to_sparse",
                "to_tensor", "value_rowids",
            )
        },
        "tf.RaggedTensor.merge_dims": [{"self": ragged(), "outer_axis": 0, "inner_axis": 1}],
        "tf.RaggedTensor.with_values": [{"self": ragged(), "new_values": f32(4, 5, 6)}],
    }  # fmt: skip
