"""Calls of `tf` itself: shapes, slices, control flow, callbacks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    MASK,
    MATRIX,
    VECTOR,
    Call,
    f32,
    i32,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {
        "tf.Assert": [{"condition": np.array(True), "data": [VECTOR]}],
        "tf.boolean_mask": [{"tensor": VECTOR, "mask": MASK}],
        "tf.broadcast_dynamic_shape": [{"shape_x": i32(2, 1), "shape_y": i32(1, 2)}],
        "tf.broadcast_static_shape": [
            {"shape_x": tf.TensorShape([2, 1]), "shape_y": tf.TensorShape([1, 2])}
        ],
        "tf.broadcast_to": [{"input": VECTOR, "shape": [3, 4]}],
        "tf.case": [
            {
                "pred_fn_pairs": [(np.array(True), lambda: tf.constant(1.0))],
                "default": lambda: tf.constant(2.0),
            }
        ],
        "tf.cast": [{"x": MATRIX, "dtype": tf.int32}],
        "tf.clip_by_global_norm": [{"t_list": [VECTOR], "clip_norm": 1.0}],
        "tf.concat": [{"values": [MATRIX, MATRIX], "axis": 0}],
        "tf.cond": [
            {
                "pred": np.array(True),
                "true_fn": lambda: tf.constant(1.0),
                "false_fn": lambda: tf.constant(2.0),
            }
        ],
        "tf.constant": [{"value": [1.0, 2.0]}],
        "tf.control_dependencies": [{"control_inputs": None}],
        "tf.convert_to_tensor": [{"value": MATRIX}],
        "tf.custom_gradient": [{"f": lambda x: (x, lambda d: d)}],
        "tf.dynamic_partition": [
            {"data": VECTOR, "partitions": i32(0, 1, 0, 1), "num_partitions": 2}
        ],
        "tf.dynamic_stitch": [{"indices": [i32(0, 1), i32(2, 3)], "data": [f32(1, 2), f32(3, 4)]}],
        "tf.edit_distance": [
            {
                "hypothesis": tf.sparse.from_dense([[1, 2], [1, 0]]),
                "truth": tf.sparse.from_dense([[1, 2], [2, 0]]),
            }
        ],
        "tf.ensure_shape": [{"x": MATRIX, "shape": [3, 3]}],
        "tf.expand_dims": [{"input": MATRIX, "axis": 0}],
        "tf.eye": [{"num_rows": 3}],
        "tf.fill": [{"dims": [2, 2], "value": np.array(1.0, np.float32)}],
        "tf.foldl": [
            {"fn": lambda a, x: a + x, "elems": VECTOR, "initializer": np.array(0.0, np.float32)}
        ],
        "tf.foldr": [
            {"fn": lambda a, x: a + x, "elems": VECTOR, "initializer": np.array(0.0, np.float32)}
        ],
        "tf.gather": [{"params": MATRIX, "indices": i32(0, 1)}],
        "tf.gather_nd": [{"params": MATRIX, "indices": i32([0, 1], [1, 1])}],
        "tf.grad_pass_through": [{"f": lambda x: x}],
        "tf.group": [{"*": [VECTOR]}],
        "tf.histogram_fixed_width": [
            {"values": VECTOR, "value_range": f32(0.0, 1.0), "nbins": 4},
            {"values": VECTOR, "value_range": f32(0.0, 1.0)},
        ],
        "tf.histogram_fixed_width_bins": [{"values": VECTOR, "value_range": f32(0.0, 1.0)}],
        "tf.image.extract_patches": [
            {
                "images": IMAGE,
                "sizes": [1, 2, 2, 1],
                "strides": [1, 1, 1, 1],
                "rates": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.linspace": [{"start": 0.0, "stop": 1.0, "num": 4}],
        "tf.map_fn": [{"fn": lambda x: x * 2.0, "elems": VECTOR}],
        "tf.meshgrid": [{"*": [VECTOR, VECTOR]}],
        "tf.norm": [{"tensor": MATRIX}],
        "tf.numpy_function": [
            {"func": lambda x: x, "inp": [VECTOR], "Tout": tf.float32},
        ],
        "tf.one_hot": [{"indices": i32(0, 1), "depth": 4}],
        "tf.ones": [{"shape": [3]}],
        "tf.pad": [{"tensor": MATRIX, "paddings": [[1, 1], [0, 0]]}],
        "tf.parallel_stack": [{"values": [VECTOR, VECTOR]}],
        "tf.print": [{"*": [VECTOR]}],
        "tf.py_function": [{"func": lambda x: x, "inp": [VECTOR], "Tout": tf.float32}],
        "tf.quantization.fake_quant_with_min_max_vars_per_channel": [
            {"inputs": MATRIX, "min": f32(0, 0, 0), "max": f32(1, 1, 1)}
        ],
        "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient": [
            {"gradients": MATRIX, "inputs": MATRIX, "min": f32(0, 0, 0), "max": f32(1, 1, 1)}
        ],
        "tf.quantization.fake_quant_with_min_max_vars_gradient": [
            {
                "gradients": MATRIX,
                "inputs": MATRIX,
                "min": np.array(0.0, np.float32),
                "max": np.array(1.0, np.float32),
            }
        ],
        "tf.range": [{"start": 0, "limit": 5, "delta": 1}],
        "tf.rank": [{"input": MATRIX}],
        "tf.recompute_grad": [{"f": lambda x: x}],
        "tf.repeat": [
            {"input": VECTOR, "repeats": i32(1, 2, 0, 1)},
            {"input": VECTOR, "repeats": 2},
        ],
        "tf.required_space_to_batch_paddings": [
            {"input_shape": i32(4, 4), "block_shape": i32(2, 2)}
        ],
        "tf.reshape": [{"tensor": MATRIX, "shape": [9]}],
        "tf.reverse": [{"tensor": MATRIX, "axis": [0]}],
        "tf.reverse_sequence": [
            {"input": MATRIX, "seq_lengths": i32(1, 2, 3), "seq_axis": 1, "batch_axis": 0}
        ],
        "tf.roll": [{"input": MATRIX, "shift": 1, "axis": 0}],
        "tf.scan": [{"fn": lambda a, x: a + x, "elems": VECTOR}],
        "tf.scatter_nd": [{"indices": i32([0], [1]), "updates": f32(5, 6), "shape": [4]}],
        "tf.searchsorted": [{"sorted_sequence": VECTOR, "values": f32(0.15)}],
        "tf.sequence_mask": [{"lengths": i32(1, 2)}],
        "tf.shape_n": [{"input": [VECTOR, MATRIX]}],
        "tf.slice": [{"input_": MATRIX, "begin": [0, 0], "size": [2, 2]}],
        "tf.space_to_batch": [
            {"input": IMAGE, "block_shape": [2, 2], "paddings": [[0, 0], [0, 0]]}
        ],
        "tf.split": [{"value": VECTOR, "num_or_size_splits": 2}],
        "tf.stack": [{"values": [VECTOR, VECTOR]}],
        "tf.strided_slice": [{"input_": MATRIX, "begin": [0, 0], "end": [2, 2]}],
        "tf.switch_case": [
            {
                "branch_index": np.array(1, np.int32),
                "branch_fns": [lambda: tf.constant(1.0), lambda: tf.constant(2.0)],
            }
        ],
        "tf.tensor_scatter_nd_add": [_scatter()],
        "tf.tensor_scatter_nd_max": [_scatter()],
        "tf.tensor_scatter_nd_min": [_scatter()],
        "tf.tensor_scatter_nd_sub": [_scatter()],
        "tf.tensor_scatter_nd_update": [_scatter()],
        "tf.tile": [{"input": MATRIX, "multiples": [1, 2]}],
        "tf.transpose": [{"a": MATRIX, "perm": [1, 0]}],
        "tf.truncatemod": [{"x": i32(5, 6), "y": i32(2, 4)}],
        "tf.unravel_index": [{"indices": i32(2, 5), "dims": i32(3, 3)}],
        "tf.unstack": [{"value": MATRIX}],
        "tf.vectorized_map": [{"fn": lambda x: x * 2.0, "elems": VECTOR}],
        "tf.where": [{"condition": MASK}],
        "tf.while_loop": [
            {
                "cond": lambda x: tf.reduce_sum(x) < 1.0,
                "body": lambda x: (x * (x + 1.0),),
                "loop_vars": (VECTOR,),
            }
        ],
        "tf.zeros": [{"shape": [3]}],
    }


def _scatter() -> Call:
    return {"tensor": f32(1, 2, 3), "indices": i32([0], [1]), "updates": f32(5, 6)}
