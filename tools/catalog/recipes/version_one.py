"""Calls of tf.compat.v1 where it differs from tf in more than names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    LABELS,
    MASK,
    MATRIX,
    VECTOR,
    Call,
    f32,
    i32,
    ones,
    sparse,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {**_version_one(), **_older_layers()}


def _version_one() -> Mapping[str, list[Call]]:
    image = {"images": IMAGE, "size": [8, 8]}
    return {
        "tf.compat.v1.setdiff1d": [{"x": i32(1, 2, 3), "y": i32(2, 5)}],
        "tf.compat.v1.where": [{"condition": MASK}],
        "tf.compat.v1.where_v2": [{"condition": MASK}],
        "tf.compat.v1.boolean_mask": [{"tensor": VECTOR, "mask": MASK}],
        "tf.compat.v1.nn.ctc_loss": [
            {
                "labels": tf.sparse.from_dense([[1]]),
                "inputs": ones(4, 1, 3),
                "sequence_length": i32(4),
            }
        ],
        "tf.compat.v1.nn.ctc_loss_v2": [
            {
                "labels": i32([1]),
                "logits": ones(4, 1, 3),
                "label_length": i32(1),
                "logit_length": i32(4),
                "blank_index": 0,
            }
        ],
        "tf.compat.v1.summary.audio": [
            {"name": "a", "tensor": ones(1, 8, 1), "sample_rate": 8000.0}
        ],
        "tf.compat.v1.summary.histogram": [{"name": "a", "values": VECTOR}],
        "tf.compat.v1.summary.scalar": [{"name": "a", "tensor": np.array(1.0, np.float32)}],
        "tf.compat.v1.summary.tensor_summary": [{"name": "a", "tensor": VECTOR}],
        "tf.compat.v1.summary.text": [{"name": "a", "tensor": np.array(b"text")}],
        **{
            f"tf.compat.v1.image.resize_{method}": [dict(image)]
            for method in ("area", "bicubic", "bilinear", "nearest_neighbor", "images")
        },
        "tf.compat.v1.image.resize_image_with_pad": [
            {"image": IMAGE, "target_height": 8, "target_width": 8}
        ],
        "tf.compat.v1.image.crop_and_resize": [
            {
                "image": IMAGE,
                "boxes": f32([0.0, 0.0, 0.5, 0.5]),
                "box_ind": i32(0),
                "crop_size": [2, 2],
            }
        ],
        "tf.compat.v1.image.extract_glimpse": [
            {"input": IMAGE, "size": [2, 2], "offsets": f32([0.0, 0.0])}
        ],
        "tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits": [
            {"labels": LABELS, "logits": MATRIX}
        ],
        "tf.compat.v1.nn.softmax_cross_entropy_with_logits": [{"labels": MATRIX, "logits": MATRIX}],
        "tf.compat.v1.nn.softmax_cross_entropy_with_logits_v2": [
            {"labels": MATRIX, "logits": MATRIX}
        ],
        "tf.compat.v1.nn.sigmoid_cross_entropy_with_logits": [{"labels": MATRIX, "logits": MATRIX}],
        "tf.compat.v1.nn.dropout": [{"x": MATRIX, "rate": 0.5}],
        "tf.compat.v1.py_func": [{"func": lambda x: x, "inp": [VECTOR], "Tout": tf.float32}],
        "tf.compat.v1.Print": [{"input_": VECTOR, "data": [VECTOR]}],
        "tf.compat.v1.sparse_to_dense": [
            {
                "sparse_indices": i32([0], [1]),
                "output_shape": [4],
                "sparse_values": f32(1.0, 2.0),
            }
        ],
        "tf.compat.v1.expand_dims": [{"input": MATRIX, "axis": 0}],
        "tf.compat.v1.gather": [{"params": MATRIX, "indices": i32(0, 1)}],
        "tf.compat.v1.gather_nd": [{"params": MATRIX, "indices": i32([0, 1], [1, 1])}],
        "tf.compat.v1.multinomial": [{"logits": MATRIX, "num_samples": 3}],
        "tf.compat.v1.confusion_matrix": [{"labels": LABELS, "predictions": LABELS}],
        "tf.compat.v1.tuple": [{"tensors": [VECTOR, VECTOR]}],
        "tf.compat.v1.reverse_sequence": [
            {"input": MATRIX, "seq_lengths": i32(1, 2, 3), "seq_axis": 1, "batch_axis": 0}
        ],
        "tf.compat.v1.cond": [
            {
                "pred": np.array(True),
                "true_fn": lambda: tf.constant(1.0),
                "false_fn": lambda: tf.constant(2.0),
            }
        ],
        "tf.compat.v1.while_loop": [
            {
                "cond": lambda x: tf.reduce_sum(x) < 1.0,
                "body": lambda x: (x * (x + 1.0),),
                "loop_vars": (VECTOR,),
            }
        ],
        "tf.compat.v1.nn.embedding_lookup_sparse": [
            {
                "params": MATRIX,
                "sp_ids": tf.sparse.from_dense(np.array([[1, 0], [0, 1]], np.int64)),
                "sp_weights": None,
            }
        ],
    }


def _older_layers() -> Mapping[str, list[Call]]:
    volume = ones(1, 4, 4, 4, 3)
    return {
        "tf.compat.v1.nn.conv2d_backprop_filter": [
            {
                "input": IMAGE,
                "filter_sizes": [2, 2, 3, 3],
                "out_backprop": IMAGE,
                "strides": [1] * 4,
                "padding": "SAME",
            }
        ],
        "tf.compat.v1.nn.conv2d_backprop_input": [
            {
                "input_sizes": [1, 4, 4, 3],
                "filter": ones(2, 2, 3, 3),
                "out_backprop": IMAGE,
                "strides": [1] * 4,
                "padding": "SAME",
            }
        ],
        "tf.compat.v1.nn.conv2d": [
            {"input": IMAGE, "filter": ones(2, 2, 3, 3), "strides": 1, "padding": "SAME"}
        ],
        "tf.compat.v1.nn.conv1d": [
            {"value": ones(1, 4, 3), "filters": ones(2, 3, 3), "stride": 1, "padding": "SAME"}
        ],
        "tf.compat.v1.nn.conv3d": [
            {"input": volume, "filter": ones(2, 2, 2, 3, 3), "strides": [1] * 5, "padding": "SAME"}
        ],
        "tf.compat.v1.nn.convolution": [
            {"input": IMAGE, "filter": ones(2, 2, 3, 3), "padding": "SAME"}
        ],
        "tf.compat.v1.nn.conv2d_transpose": [
            {
                "value": IMAGE,
                "filter": ones(2, 2, 3, 3),
                "output_shape": [1, 8, 8, 3],
                "strides": [1, 2, 2, 1],
            }
        ],
        "tf.compat.v1.nn.conv3d_transpose": [
            {
                "value": volume,
                "filter": ones(2, 2, 2, 3, 3),
                "output_shape": [1, 8, 8, 8, 3],
                "strides": [1, 2, 2, 2, 1],
            }
        ],
        "tf.compat.v1.nn.depthwise_conv2d_native": [
            {"input": IMAGE, "filter": ones(2, 2, 3, 1), "strides": [1] * 4, "padding": "SAME"}
        ],
        "tf.compat.v1.nn.fused_batch_norm": [
            {"x": IMAGE, "scale": f32(1, 1, 1), "offset": f32(0, 0, 0)}
        ],
        "tf.compat.v1.nn.relu_layer": [{"x": MATRIX, "weights": MATRIX, "biases": f32(1, 2, 3)}],
        "tf.compat.v1.nn.xw_plus_b": [{"x": MATRIX, "weights": MATRIX, "biases": f32(1, 2, 3)}],
        "tf.compat.v1.nn.max_pool": [{"value": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.compat.v1.nn.avg_pool": [{"value": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.compat.v1.nn.depth_to_space": [{"input": ones(1, 4, 4, 8), "block_size": 2}],
        "tf.compat.v1.depth_to_space": [{"input": ones(1, 4, 4, 8), "block_size": 2}],
        "tf.compat.v1.count_nonzero": [{"input_tensor": MATRIX}],
        "tf.compat.v1.math.in_top_k": [{"predictions": MATRIX, "targets": LABELS, "k": 2}],
        "tf.compat.v1.losses.sparse_softmax_cross_entropy": [{"labels": LABELS, "logits": MATRIX}],
        "tf.compat.v1.losses.cosine_distance": [
            {"labels": MATRIX, "predictions": MATRIX, "axis": 1}
        ],
        "tf.compat.v1.space_to_batch": [
            {"input": IMAGE, "paddings": [[0, 0], [0, 0]], "block_size": 2}
        ],
        "tf.compat.v1.batch_to_space": [
            {"input": ones(4, 2, 2, 3), "crops": [[0, 0], [0, 0]], "block_size": 2}
        ],
        "tf.compat.v1.verify_tensor_all_finite": [{"t": VECTOR, "msg": "m"}],
        **{
            f"tf.compat.v1.{name}": [
                {
                    "images": IMAGE,
                    "ksizes": [1, 2, 2, 1],
                    "strides": [1, 1, 1, 1],
                    "rates": [1, 1, 1, 1],
                    "padding": "SAME",
                }
            ]
            for name in ("extract_image_patches", "image.extract_image_patches")
        },
        **{
            f"tf.compat.v1.sparse_segment_{kind}": [
                {"data": MATRIX, "indices": i32(0, 1), "segment_ids": i32(0, 1)}
            ]
            for kind in ("sum", "mean", "sqrt_n")
        },
        "tf.compat.v1.sparse_concat": [{"axis": 0, "sp_inputs": [sparse(), sparse()]}],
        "tf.compat.v1.sparse_split": [
            {"keyword_required": None, "sp_input": sparse(), "num_split": 2, "axis": 0},
            {"sp_input": sparse(), "num_split": 2, "axis": 0},
        ],
        "tf.compat.v1.string_to_number": [{"string_tensor": np.array([b"1"])}],
        "tf.compat.v1.string_to_hash_bucket": [
            {"string_tensor": np.array([b"1"]), "num_buckets": 4}
        ],
        "tf.compat.v1.string_split": [{"source": np.array([b"a b"])}],
    }
