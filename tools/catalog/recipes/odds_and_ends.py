"""Calls that need arguments of a particular form: boxes, integers of four bits, images of text, NumPy's namesakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import IMAGE, MATRIX, VECTOR, Call, f32, ones

_BOXES = f32([[0.1, 0.1, 0.5, 0.5], [0.2, 0.2, 0.8, 0.9]])
_EIGHT = np.array([[1, 2], [3, -4]], np.int8)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {
        **_of_numpy(),
        **_of_boxes(),
        **_of_quantizers(),
        **_of_keras_2(),
        **_of_version_one(),
        "keras.tree.map_structure": [{"*": [tf.abs, [VECTOR, VECTOR]]}],
        "keras.tree.map_structure_up_to": [{"*": [[0, 0], tf.abs, [VECTOR, VECTOR]]}],
        "keras.utils.to_categorical": [{"x": np.array([0, 1, 2], np.int32), "num_classes": 3}],
        "tf.RaggedTensor.from_sparse": [
            {"st_input": tf.sparse.from_dense([[1.0, 0.0], [2.0, 3.0]])}
        ],
        "tf.ragged.cross": [{"inputs": [tf.ragged.constant([["a"], ["b"]])] * 2}],
        "tf.ragged_fill_empty_rows_grad": [
            {"reverse_index_map": np.array([0, 1], np.int64), "grad_values": f32(1, 2, 3)}
        ],
        "tf.sparse.sampled_addmm": [
            {
                "indices": np.array([[0, 0], [1, 1]], np.int64),
                "values": f32(1, 2),
                "dense_shape": [3, 3],
                "mat1": MATRIX,
                "mat2": MATRIX,
            }
        ],
        "tf.io.deserialize_many_sparse": [
            {
                "serialized_sparse": tf.io.serialize_many_sparse(tf.sparse.from_dense(tf.eye(2))),
                "dtype": tf.float32,
            }
        ],
        "tf.nn.with_space_to_batch": [
            {
                "input": IMAGE,
                "dilation_rate": [2, 2],
                "padding": "SAME",
                "op": _convolved,
                "filter_shape": [2, 2],
            }
        ],
    }


def _convolved(image: Any, rank: Any, padding: str) -> Any:
    return tf.nn.conv2d(image, tf.ones([2, 2, 3, 3]), 1, padding)


def _of_numpy() -> dict[str, list[Call]]:
    named: dict[str, list[Call]] = {
        "around": [{"a": tf.experimental.numpy.asarray(VECTOR)}],
        "round": [{"a": tf.experimental.numpy.asarray(VECTOR)}],
        "dsplit": [{"ary": ones(2, 2, 4), "indices_or_sections": 2}],
        "einsum": [{"*": ["ij,jk->ik", MATRIX, MATRIX]}],
        "hsplit": [{"ary": ones(2, 4), "indices_or_sections": 2}],
        "nonzero": [{"a": MATRIX}],
        "pad": [{"array": MATRIX, "pad_width": [[1, 1], [1, 1]], "mode": "constant"}],
        "split": [{"ary": ones(4, 2), "indices_or_sections": 2}],
        "vsplit": [{"ary": ones(4, 2), "indices_or_sections": 2}],
    }
    return {f"tf.experimental.numpy.{name}": tries for name, tries in named.items()}


def _of_boxes() -> dict[str, list[Call]]:
    sized: Call = {"height": 8, "width": 8}
    named: dict[str, list[Call]] = {
        "affine_transform": [
            {"boxes": _BOXES, "angle": f32(0.1), "translate_x": f32(0.0), "translate_y": f32(0.0),
             "scale": f32(1.0), "shear_x": f32(0.0), "shear_y": f32(0.0), **sized},
        ],
        "clip_to_image_size": [
            {"bounding_boxes": {"boxes": _BOXES, "labels": f32([1, 2])}, **sized},
        ],
        "compute_ciou": [{"boxes1": _BOXES, "boxes2": _BOXES, "bounding_box_format": "xyxy"}],
        "compute_iou": [{"boxes1": _BOXES, "boxes2": _BOXES, "bounding_box_format": "xyxy"}],
        "convert_format": [{"boxes": _BOXES, "source": "xyxy", "target": "xywh"}],
        "decode_deltas_to_boxes": [
            {"anchors": _BOXES[0], "boxes_delta": _BOXES, "anchor_format": "xyxy", "box_format": "xyxy"},
        ],
        "encode_box_to_deltas": [
            {"anchors": _BOXES[0], "boxes": _BOXES, "anchor_format": "xyxy", "box_format": "xyxy"},
        ],
    }  # fmt: skip
    return {f"keras.utils.bounding_boxes.{name}": tries for name, tries in named.items()}


def _of_quantizers() -> dict[str, list[Call]]:
    return {
        "keras.quantizers.pack_int4": [{"arr": _EIGHT}],
        "keras.quantizers.unpack_int4": [{"packed": _EIGHT, "orig_len": 4}],
        "keras.quantizers.abs_max_quantize": [{"inputs": MATRIX, "axis": 0}],
        "keras.quantizers.abs_max_quantize_grouped_with_zero_point": [
            {"inputs": ones(4, 2), "block_size": 2}
        ],
        "keras.quantizers.quantize_and_dequantize": [
            {
                "inputs": MATRIX,
                "scale": f32(0.5),
                "quantized_dtype": "float8_e4m3fn",
                "compute_dtype": "float32",
            }
        ],
    }


def _of_keras_2() -> dict[str, list[Call]]:
    return {
        "keras.backend.local_conv1d": [
            {"inputs": ones(1, 4, 3), "kernel": ones(3, 6, 2), "kernel_size": (2,), "strides": (1,)}
        ],
        "keras.backend.local_conv2d": [
            {
                "inputs": IMAGE,
                "kernel": ones(9, 12, 2),
                "kernel_size": (2, 2),
                "strides": (1, 1),
                "output_shape": (3, 3),
                "data_format": "channels_last",
            }
        ],
        "keras.backend.normalize_batch_in_training": [
            {"x": MATRIX, "gamma": f32(1, 1, 1), "beta": f32(0, 0, 0), "reduction_axes": [0]}
        ],
        "keras.backend.conv2d_transpose": [
            {
                "x": IMAGE,
                "kernel": ones(2, 2, 3, 3),
                "output_shape": (1, 4, 4, 3),
                "padding": "same",
            }
        ],
    }


def _of_version_one() -> dict[str, list[Call]]:
    bounds: Call = {
        "min_input": np.array(0.0, np.float32),
        "max_input": np.array(1.0, np.float32),
    }
    pooled: Call = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    quantized = tf.quantization.quantize(IMAGE, 0.0, 1.0, tf.quint8).output
    return {
        "tf.compat.v1.decode_csv": [{"records": np.array(b"1.0"), "record_defaults": [[0.0]]}],
        "tf.compat.v1.decode_raw": [{"input_bytes": np.array(b"ab"), "out_type": tf.uint8}],
        "tf.compat.v1.nn.conv3d_backprop_filter_v2": [
            {
                "input": ones(1, 4, 4, 4, 3),
                "filter_sizes": [2, 2, 2, 3, 3],
                "out_backprop": ones(1, 4, 4, 4, 3),
                "strides": [1, 1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.compat.v1.nn.dilation2d": [
            {
                "input": IMAGE,
                "filter": ones(2, 2, 3),
                "strides": [1, 1, 1, 1],
                "rates": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.compat.v1.nn.quantized_avg_pool": [{"input": quantized, **bounds, **pooled}],
        "tf.compat.v1.nn.quantized_max_pool": [{"input": quantized, **bounds, **pooled}],
        "tf.compat.v1.nn.quantized_relu_x": [
            {
                "features": quantized,
                "max_value": np.array(1.0, np.float32),
                "min_features": np.array(0.0, np.float32),
                "max_features": np.array(1.0, np.float32),
            }
        ],
        "tf.compat.v1.quantize_v2": [
            {"input": MATRIX, "min_range": 0.0, "max_range": 5.0, "T": tf.quint8}
        ],
        "tf.compat.v1.sparse_merge": [
            {
                "sp_ids": tf.sparse.from_dense(np.array([[1, 0], [0, 1]], np.int64)),
                "sp_values": tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]),
                "vocab_size": 4,
            }
        ],
        **{
            f"tf.compat.v1.{name}": [
                {
                    "serialized": serialized,
                    "features": {"a": tf.io.FixedLenFeature([1], tf.float32, [0.0])},
                }
            ]
            for name, serialized in (
                ("parse_example", np.array([b""])),
                ("parse_single_example", np.array(b"")),
            )
        },
    }
