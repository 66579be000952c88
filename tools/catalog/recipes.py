"""How particular APIs are called, where the names of their parameters do not say enough.

Arrays are inputs, Python values are constants; several calls for one API are tried in order. Names are canonical.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import IMAGE, MATRIX, VECTOR, f32, i32, ones, ragged, sparse

Call = dict[str, Any]

_COMPLEX = VECTOR.astype(np.complex64)
_LABELS = i32(0, 1, 2)
_SEGMENTS = i32(0, 0, 1, 1)
_BOXES = f32([0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.6, 0.6])
_SCORES = f32(0.9, 0.8)
_MASK = np.array([True, False, True, True])


def recipes() -> Mapping[str, list[Call]]:
    """API name to the calls to try. Made once per process: some values need TensorFlow."""
    return {
        **_core(),
        **_math(),
        **_linalg(),
        **_nn(),
        **_nn_more(),
        **_checks(),
        **_image(),
        **_random(),
        **_strings_and_io(),
        **_sparse_and_ragged(),
        **_python_values(),
        **_version_one(),
        **_keras_functions(),
    }


def _core() -> Mapping[str, list[Call]]:
    return {
        "tf.Assert": [{"condition": np.array(True), "data": [VECTOR]}],
        "tf.boolean_mask": [{"tensor": VECTOR, "mask": _MASK}],
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
        "tf.where": [{"condition": _MASK}],
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


def _math() -> Mapping[str, list[Call]]:
    segment = {"data": VECTOR, "segment_ids": _SEGMENTS}
    return {
        **{
            f"tf.math.segment_{kind}": [dict(segment)]
            for kind in ("sum", "mean", "prod", "max", "min")
        },
        **{
            f"tf.math.unsorted_segment_{kind}": [{**segment, "num_segments": 2}]
            for kind in ("sum", "mean", "prod", "max", "min", "sqrt_n")
        },
        **{
            f"tf.sparse.segment_{kind}": [
                {"data": MATRIX, "indices": i32(0, 1), "segment_ids": i32(0, 1)}
            ]
            for kind in ("sum", "mean", "sqrt_n")
        },
        "tf.math.accumulate_n": [{"inputs": [VECTOR, VECTOR]}],
        "tf.math.add_n": [{"inputs": [VECTOR, VECTOR]}],
        "tf.math.approx_max_k": [{"operand": MATRIX, "k": 2}],
        "tf.math.approx_min_k": [{"operand": MATRIX, "k": 2}],
        "tf.math.betainc": [{"a": VECTOR, "b": VECTOR, "x": VECTOR}],
        "tf.math.bincount": [{"arr": i32(0, 1, 2, 1)}],
        "tf.math.confusion_matrix": [{"labels": _LABELS, "predictions": _LABELS}],
        "tf.math.divide_no_nan": [{"x": VECTOR, "y": VECTOR}],
        "tf.math.fft": [{"input": _COMPLEX}],
        "tf.math.floormod": [{"x": VECTOR, "y": VECTOR}],
        "tf.math.in_top_k": [{"targets": _LABELS, "predictions": MATRIX, "k": 2}],
        "tf.math.invert_permutation": [{"x": i32(1, 0, 2)}],
        "tf.math.nextafter": [{"x1": VECTOR, "x2": VECTOR}],
        "tf.math.reduce_all": [{"input_tensor": MATRIX > 1}],
        "tf.math.reduce_any": [{"input_tensor": MATRIX > 1}],
        "tf.math.scalar_mul": [{"scalar": 2.0, "x": VECTOR}],
        "tf.math.sobol_sample": [{"dim": 2, "num_results": 4}],
        "tf.math.top_k": [{"input": MATRIX, "k": 2}],
        "tf.math.zero_fraction": [{"value": MATRIX}],
        "tf.math.zeta": [{"x": VECTOR + 2, "q": VECTOR}],
        "tf.math.polygamma": [{"a": VECTOR, "x": VECTOR}],
        "tf.math.polyval": [{"coeffs": [1.0, 2.0], "x": VECTOR}],
        "tf.unique": [{"x": VECTOR}],
        "tf.unique_with_counts": [{"x": VECTOR}],
        "tf.raw_ops.UniqueV2": [{"x": VECTOR, "axis": [0]}],
        "tf.raw_ops.Where": [{"condition": _MASK}],
        "tf.bitcast": [{"input": MATRIX, "type": tf.int32}],
    }


def _linalg() -> Mapping[str, list[Call]]:
    return {
        "tf.linalg.band_part": [{"input": MATRIX, "num_lower": 1, "num_upper": 0}],
        "tf.linalg.banded_triangular_solve": [{"bands": ones(2, 3), "rhs": ones(3, 1)}],
        "tf.linalg.cholesky_solve": [{"chol": np.eye(3, dtype=np.float32), "rhs": MATRIX}],
        "tf.linalg.cross": [{"a": f32(1, 2, 3), "b": f32(3, 2, 1)}],
        "tf.linalg.diag": [{"diagonal": VECTOR}],
        "tf.linalg.einsum": [{"equation": "ij,jk->ik", "*": [MATRIX, MATRIX]}],
        "tf.einsum": [{"*": ["ij,jk->ik", MATRIX, MATRIX]}],
        "tf.linalg.eigh_tridiagonal": [{"alpha": f32(1, 2, 3), "beta": f32(0.1, 0.2)}],
        "tf.linalg.lu_matrix_inverse": [
            {"lower_upper": np.eye(3, dtype=np.float32), "perm": i32(0, 1, 2)}
        ],
        "tf.linalg.lu_reconstruct": [
            {"lower_upper": np.eye(3, dtype=np.float32), "perm": i32(0, 1, 2)}
        ],
        "tf.linalg.lu_solve": [
            {"lower_upper": np.eye(3, dtype=np.float32), "perm": i32(0, 1, 2), "rhs": MATRIX}
        ],
        "tf.linalg.lstsq": [{"matrix": MATRIX, "rhs": MATRIX}],
        "tf.linalg.matmul": [{"a": MATRIX, "b": MATRIX}],
        "tf.linalg.matrix_transpose": [{"a": MATRIX}],
        "tf.linalg.matvec": [{"a": MATRIX, "b": f32(1, 2, 3)}],
        "tf.linalg.set_diag": [{"input": MATRIX, "diagonal": f32(1, 2, 3)}],
        "tf.linalg.solve": [{"matrix": MATRIX, "rhs": MATRIX}],
        "tf.linalg.tensor_diag_part": [{"input": MATRIX}],
        "tf.linalg.tensordot": [{"a": MATRIX, "b": MATRIX, "axes": 1}],
        "tf.linalg.triangular_solve": [{"matrix": MATRIX, "rhs": MATRIX}],
        "tf.linalg.tridiagonal_matmul": [
            {"diagonals": ones(3, 3), "rhs": MATRIX, "diagonals_format": "compact"}
        ],
        "tf.linalg.tridiagonal_solve": [{"diagonals": MATRIX, "rhs": f32(1, 2, 3)}],
        "tf.linalg.experimental.conjugate_gradient": [
            {
                "operator": tf.linalg.LinearOperatorFullMatrix(
                    tf.constant([[2.0, 0.0], [0.0, 3.0]]),
                    is_self_adjoint=True,
                    is_positive_definite=True,
                ),
                "rhs": f32(1, 2),
            }
        ],
        **{
            f"tf.signal.{name}": [{"input": _COMPLEX.reshape(2, 2)}] for name in ("fft2d", "ifft2d")
        },
        **{f"tf.signal.{name}": [{"input": _COMPLEX}] for name in ("fft", "ifft", "irfft")},
        **{
            f"tf.signal.{name}": [{"input": np.ones((2, 2, 2), np.complex64)}]
            for name in ("fft3d", "ifft3d", "irfft3d")
        },
        "tf.signal.irfft2d": [{"input": np.ones((2, 2), np.complex64)}],
        "tf.signal.rfft3d": [{"input_tensor": ones(2, 2, 2)}, {"input": ones(2, 2, 2)}],
        "tf.signal.fftnd": [
            {"input_tensor": _COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.ifftnd": [
            {"input_tensor": _COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.irfftnd": [
            {"input_tensor": _COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.rfftnd": [
            {"input_tensor": VECTOR.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.frame": [{"signal": VECTOR, "frame_length": 2, "frame_step": 1}],
        "tf.signal.inverse_stft": [
            {"stfts": np.ones((4, 3), np.complex64), "frame_length": 4, "frame_step": 2}
        ],
        "tf.signal.inverse_mdct": [{"mdcts": ones(4, 4)}],
        "tf.signal.mdct": [{"signals": ones(16), "frame_length": 8}],
        "tf.signal.stft": [{"signals": ones(16), "frame_length": 4, "frame_step": 2}],
        "tf.signal.overlap_and_add": [{"signal": ones(4, 4), "frame_step": 2}],
        "tf.signal.mfccs_from_log_mel_spectrograms": [{"log_mel_spectrograms": ones(4, 8)}],
        "tf.signal.linear_to_mel_weight_matrix": [{}],
        "tf.signal.kaiser_window": [{"window_length": 4}],
        "tf.signal.kaiser_bessel_derived_window": [{"window_length": 4}],
    }


def _nn() -> Mapping[str, list[Call]]:
    classes = np.array([[1], [2]], np.int64)
    sampled = {
        "weights": ones(10, 3),
        "biases": ones(10),
        "labels": classes,
        "inputs": ones(2, 3),
        "num_sampled": 4,
        "num_classes": 10,
    }
    sampler = {
        "true_classes": classes,
        "num_true": 1,
        "num_sampled": 4,
        "unique": True,
        "range_max": 10,
    }
    volume = ones(1, 4, 4, 4, 3)
    return {
        "tf.nn.atrous_conv2d": [
            {"value": IMAGE, "filters": ones(2, 2, 3, 3), "rate": 2, "padding": "SAME"}
        ],
        "tf.nn.atrous_conv2d_transpose": [
            {
                "value": IMAGE,
                "filters": ones(2, 2, 3, 3),
                "output_shape": [1, 4, 4, 3],
                "rate": 2,
                "padding": "SAME",
            }
        ],
        "tf.nn.avg_pool1d": [{"input": ones(1, 4, 3), "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.max_pool1d": [{"input": ones(1, 4, 3), "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.avg_pool2d": [{"input": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.max_pool2d": [{"input": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.avg_pool": [{"input": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.max_pool": [{"input": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.avg_pool3d": [{"input": volume, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.max_pool3d": [{"input": volume, "ksize": 2, "strides": 2, "padding": "SAME"}],
        "tf.nn.max_pool_with_argmax": [
            {"input": IMAGE, "ksize": 2, "strides": 2, "padding": "SAME"}
        ],
        "tf.nn.batch_normalization": [
            {
                "x": MATRIX,
                "mean": f32(0, 0, 0),
                "variance": f32(1, 1, 1),
                "offset": f32(0, 0, 0),
                "scale": f32(1, 1, 1),
                "variance_epsilon": 1e-3,
            }
        ],
        "tf.nn.bias_add": [{"value": MATRIX, "bias": f32(1, 2, 3)}],
        "tf.nn.collapse_repeated": [{"labels": i32([1, 1, 2], [1, 2, 2]), "seq_length": i32(3, 3)}],
        "tf.nn.compute_average_loss": [{"per_example_loss": VECTOR, "global_batch_size": 8}],
        "tf.nn.conv1d": [
            {"input": ones(1, 4, 3), "filters": ones(2, 3, 3), "stride": 1, "padding": "SAME"}
        ],
        "tf.nn.conv1d_transpose": [
            {
                "input": ones(1, 4, 3),
                "filters": ones(2, 3, 3),
                "output_shape": [1, 8, 3],
                "strides": 2,
            }
        ],
        "tf.nn.conv2d": [
            {"input": IMAGE, "filters": ones(2, 2, 3, 3), "strides": 1, "padding": "SAME"}
        ],
        "tf.nn.conv2d_transpose": [
            {
                "input": IMAGE,
                "filters": ones(2, 2, 3, 3),
                "output_shape": [1, 8, 8, 3],
                "strides": 2,
            }
        ],
        "tf.nn.conv3d": [
            {
                "input": volume,
                "filters": ones(2, 2, 2, 3, 3),
                "strides": [1] * 5,
                "padding": "SAME",
            }
        ],
        "tf.nn.conv3d_transpose": [
            {
                "input": volume,
                "filters": ones(2, 2, 2, 3, 3),
                "output_shape": [1, 8, 8, 8, 3],
                "strides": 2,
            }
        ],
        "tf.nn.conv_transpose": [
            {
                "input": IMAGE,
                "filters": ones(2, 2, 3, 3),
                "output_shape": [1, 8, 8, 3],
                "strides": 2,
            }
        ],
        "tf.nn.convolution": [{"input": IMAGE, "filters": ones(2, 2, 3, 3)}],
        "tf.nn.crelu": [{"features": MATRIX}],
        "tf.nn.ctc_beam_search_decoder": [
            {"inputs": ones(4, 1, 3), "sequence_length": i32(4), "beam_width": 4, "top_paths": 1}
        ],
        "tf.nn.ctc_greedy_decoder": [{"inputs": ones(4, 1, 3), "sequence_length": i32(4)}],
        "tf.nn.ctc_loss": [
            {
                "labels": i32([1]),
                "logits": ones(4, 1, 3),
                "label_length": i32(1),
                "logit_length": i32(4),
                "blank_index": 0,
            }
        ],
        "tf.nn.ctc_unique_labels": [{"labels": i32([1, 2, 1])}],
        "tf.nn.depthwise_conv2d": [
            {
                "input": IMAGE,
                "filter": ones(2, 2, 3, 1),
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.nn.depthwise_conv2d_backprop_filter": [
            {
                "input": IMAGE,
                "filter_sizes": [2, 2, 3, 1],
                "out_backprop": IMAGE,
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.nn.depthwise_conv2d_backprop_input": [
            {
                "input_sizes": [1, 4, 4, 3],
                "filter": ones(2, 2, 3, 1),
                "out_backprop": IMAGE,
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.nn.dilation2d": [
            {
                "input": IMAGE,
                "filters": ones(2, 2, 3),
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
                "data_format": "NHWC",
                "dilations": [1, 1, 1, 1],
            }
        ],
        "tf.nn.erosion2d": [
            {
                "value": IMAGE,
                "filters": ones(2, 2, 3),
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
                "data_format": "NHWC",
                "dilations": [1, 1, 1, 1],
            }
        ],
        "tf.nn.dropout": [{"x": MATRIX, "rate": 0.5}],
        "tf.nn.embedding_lookup": [{"params": MATRIX, "ids": i32(0, 1)}],
        "tf.nn.embedding_lookup_sparse": [
            {
                "params": MATRIX,
                "sp_ids": tf.sparse.from_dense(np.array([[1, 0], [0, 1]], np.int64)),
                "sp_weights": None,
            }
        ],
        "tf.nn.safe_embedding_lookup_sparse": [
            {
                "embedding_weights": MATRIX,
                "sparse_ids": tf.sparse.from_dense(np.array([[1, 0], [0, 1]], np.int64)),
            }
        ],
        "tf.nn.experimental.general_dropout": [
            {"x": MATRIX, "rate": 0.5, "uniform_sampler": tf.random.uniform}
        ],
        "tf.nn.experimental.stateless_dropout": [{"x": MATRIX, "rate": 0.5, "seed": i32(1, 2)}],
        "tf.nn.fractional_avg_pool": [{"value": IMAGE, "pooling_ratio": [1.0, 1.44, 1.44, 1.0]}],
        "tf.nn.fractional_max_pool": [{"value": IMAGE, "pooling_ratio": [1.0, 1.44, 1.44, 1.0]}],
        "tf.nn.in_top_k": [{"targets": _LABELS, "predictions": MATRIX, "k": 2}],
        "tf.nn.isotonic_regression": [{"inputs": MATRIX}],
        "tf.nn.moments": [{"x": MATRIX, "axes": [0]}],
        "tf.nn.weighted_moments": [{"x": MATRIX, "axes": [0], "frequency_weights": MATRIX}],
        "tf.nn.normalize_moments": [
            {
                "counts": 10.0,
                "mean_ss": f32(1, 2),
                "variance_ss": f32(5, 6),
                "shift": None,
            }
        ],
        "tf.nn.nce_loss": [dict(sampled)],
        "tf.nn.sampled_softmax_loss": [dict(sampled)],
        "tf.nn.pool": [{"input": IMAGE, "window_shape": [2, 2], "pooling_type": "MAX"}],
        "tf.nn.separable_conv2d": [
            {
                "input": IMAGE,
                "depthwise_filter": ones(2, 2, 3, 1),
                "pointwise_filter": ones(1, 1, 3, 3),
                "strides": [1, 1, 1, 1],
                "padding": "SAME",
            }
        ],
        "tf.nn.softmax_cross_entropy_with_logits": [{"labels": MATRIX, "logits": MATRIX}],
        "tf.nn.sparse_softmax_cross_entropy_with_logits": [{"labels": _LABELS, "logits": MATRIX}],
        "tf.nn.sufficient_statistics": [{"x": MATRIX, "axes": [0]}],
        "tf.nn.weighted_cross_entropy_with_logits": [
            {"labels": MATRIX, "logits": MATRIX, "pos_weight": 1.0}
        ],
        "tf.nn.local_response_normalization": [{"input": IMAGE}],
        **{
            f"tf.random.{name}": [dict(sampler)]
            for name in (
                "log_uniform_candidate_sampler",
                "uniform_candidate_sampler",
                "learned_unigram_candidate_sampler",
            )
        },
        "tf.random.fixed_unigram_candidate_sampler": [{**sampler, "unigrams": [1.0] * 10}],
        "tf.random.all_candidate_sampler": [
            {"true_classes": classes, "num_true": 1, "num_sampled": 4, "unique": True}
        ],
        "tf.nn.compute_accidental_hits": [
            {
                "true_classes": classes,
                "sampled_candidates": np.array([1, 2], np.int64),
                "num_true": 1,
            }
        ],
    }


def _nn_more() -> Mapping[str, list[Call]]:
    volume = ones(1, 4, 4, 4, 3)
    quantized = tf.quantization.quantize(VECTOR, 0.0, 1.0, tf.quint8).output
    return {
        "tf.nn.batch_norm_with_global_normalization": [
            {
                "input": IMAGE,
                "mean": f32(0, 0, 0),
                "variance": f32(1, 1, 1),
                "beta": f32(0, 0, 0),
                "gamma": f32(1, 1, 1),
                "variance_epsilon": 1e-3,
                "scale_after_normalization": True,
            }
        ],
        "tf.nn.depth_to_space": [{"input": ones(1, 4, 4, 8), "block_size": 2}],
        "tf.nn.log_poisson_loss": [{"targets": VECTOR, "log_input": VECTOR}],
        "tf.nn.sigmoid_cross_entropy_with_logits": [{"labels": MATRIX, "logits": MATRIX}],
        "tf.extract_volume_patches": [
            {"input": volume, "ksizes": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "SAME"}
        ],
        "tf.quantization.dequantize": [{"input": quantized, "min_range": 0.0, "max_range": 1.0}],
        "tf.quantization.quantize": [
            {"input": VECTOR, "min_range": 0.0, "max_range": 1.0, "T": tf.quint8}
        ],
        "tf.raw_ops.NthElement": [{"input": VECTOR, "n": 1}],
        "tf.raw_ops.AvgPool3D": [
            {"input": volume, "ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "SAME"}
        ],
        "tf.raw_ops.MaxPool3D": [
            {"input": volume, "ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "SAME"}
        ],
        "tf.raw_ops.Conv2D": [
            {"input": IMAGE, "filter": ones(2, 2, 3, 3), "strides": [1] * 4, "padding": "SAME"}
        ],
        "tf.raw_ops.Conv3D": [
            {"input": volume, "filter": ones(2, 2, 2, 3, 3), "strides": [1] * 5, "padding": "SAME"}
        ],
        "tf.raw_ops.DepthwiseConv2dNative": [
            {"input": IMAGE, "filter": ones(2, 2, 3, 1), "strides": [1] * 4, "padding": "SAME"}
        ],
        "tf.raw_ops.ReverseV2": [{"tensor": MATRIX, "axis": [0]}],
        "tf.raw_ops.DynamicStitch": [
            {"indices": [i32(0, 1), i32(2, 3)], "data": [f32(1, 2), f32(3, 4)]}
        ],
        "tf.raw_ops.QuantizeAndDequantizeV3": [
            {
                "input": MATRIX,
                "input_min": np.array(0.0, np.float32),
                "input_max": np.array(1.0, np.float32),
                "num_bits": 8,
            }
        ],
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
        "tf.compat.v1.math.in_top_k": [{"predictions": MATRIX, "targets": _LABELS, "k": 2}],
        "tf.compat.v1.losses.sparse_softmax_cross_entropy": [{"labels": _LABELS, "logits": MATRIX}],
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


def _image() -> Mapping[str, list[Call]]:
    suppression = {"boxes": _BOXES, "scores": _SCORES, "max_output_size": 2}
    return {
        "tf.image.adjust_hue": [{"image": IMAGE, "delta": 0.1}],
        "tf.image.adjust_jpeg_quality": [{"image": IMAGE[0], "jpeg_quality": 50}],
        "tf.image.combined_non_max_suppression": [
            {
                "boxes": _BOXES.reshape(1, 2, 1, 4),
                "scores": _SCORES.reshape(1, 2, 1),
                "max_output_size_per_class": 2,
                "max_total_size": 2,
            }
        ],
        "tf.image.crop_and_resize": [
            {
                "image": IMAGE,
                "boxes": f32([0.0, 0.0, 0.5, 0.5]),
                "box_indices": i32(0),
                "crop_size": [2, 2],
            }
        ],
        "tf.image.crop_to_bounding_box": [
            {
                "image": IMAGE,
                "offset_height": 0,
                "offset_width": 0,
                "target_height": 2,
                "target_width": 2,
            }
        ],
        "tf.image.pad_to_bounding_box": [
            {
                "image": IMAGE,
                "offset_height": 0,
                "offset_width": 0,
                "target_height": 8,
                "target_width": 8,
            }
        ],
        "tf.image.draw_bounding_boxes": [
            {
                "images": IMAGE,
                "boxes": f32([[0.0, 0.0, 1.0, 1.0]]),
                "colors": f32([1.0, 0.0, 0.0]),
            }
        ],
        "tf.image.extract_glimpse": [
            {"input": IMAGE, "size": [2, 2], "offsets": f32([0.0, 0.0])},
        ],
        "tf.image.generate_bounding_box_proposals": [
            {
                "scores": ones(1, 4, 4, 1),
                "bbox_deltas": ones(1, 4, 4, 4),
                "image_info": ones(1, 5),
                "anchors": ones(1, 4),
            }
        ],
        "tf.image.non_max_suppression": [dict(suppression)],
        "tf.image.non_max_suppression_padded": [dict(suppression)],
        "tf.image.non_max_suppression_with_scores": [dict(suppression)],
        "tf.image.non_max_suppression_overlaps": [
            {
                "overlaps": f32([1.0, 0.1], [0.1, 1.0]),
                "scores": _SCORES,
                "max_output_size": 2,
            }
        ],
        "tf.image.resize": [{"images": IMAGE, "size": [8, 8]}],
        "tf.image.resize_with_pad": [{"image": IMAGE, "target_height": 8, "target_width": 8}],
        "tf.image.resize_with_crop_or_pad": [
            {"image": IMAGE, "target_height": 8, "target_width": 8}
        ],
        "tf.image.rot90": [{"image": IMAGE}],
        "tf.image.sample_distorted_bounding_box": [
            {"image_size": [4, 4, 3], "bounding_boxes": f32([[0.0, 0.0, 1.0, 1.0]])}
        ],
        "tf.image.stateless_sample_distorted_bounding_box": [
            {
                "image_size": [4, 4, 3],
                "bounding_boxes": f32([[0.0, 0.0, 1.0, 1.0]]),
                "seed": i32(1, 2),
            }
        ],
        "tf.image.random_crop": [{"value": MATRIX, "size": [2, 2]}],
        "tf.image.stateless_random_crop": [{"value": MATRIX, "size": [2, 2], "seed": i32(1, 2)}],
        "tf.image.random_hue": [{"image": IMAGE, "max_delta": 0.2}],
        "tf.image.random_contrast": [{"image": IMAGE, "lower": 0.2, "upper": 0.5}],
        "tf.image.random_saturation": [{"image": IMAGE, "lower": 0.2, "upper": 0.5}],
        "tf.image.random_jpeg_quality": [
            {"image": IMAGE[0], "min_jpeg_quality": 50, "max_jpeg_quality": 60}
        ],
        "tf.image.ssim": [{"img1": ones(1, 16, 16, 1), "img2": ones(1, 16, 16, 1), "max_val": 1.0}],
        "tf.image.ssim_multiscale": [
            {"img1": ones(1, 192, 192, 1), "img2": ones(1, 192, 192, 1), "max_val": 1.0}
        ],
        "tf.image.psnr": [{"a": IMAGE, "b": IMAGE, "max_val": 1.0}],
        "tf.image.grayscale_to_rgb": [{"images": ones(1, 4, 4, 1)}],
        "tf.image.encode_jpeg": [{"image": (IMAGE[0] * 255).astype(np.uint8)}],
        "tf.image.encode_png": [{"image": (IMAGE[0] * 255).astype(np.uint8)}],
        "tf.raw_ops.ImageProjectiveTransformV3": [
            {
                "images": IMAGE,
                "transforms": f32([1, 0, 0, 0, 1, 0, 0, 0]),
                "output_shape": [4, 4],
                "fill_value": 0.0,
                "interpolation": "NEAREST",
            }
        ],
    }


def _random() -> Mapping[str, list[Call]]:
    seed = i32(1, 2)
    stateless: dict[str, Call] = {
        "binomial": {"shape": [4], "counts": f32(10.0), "probs": f32(0.5)},
        "categorical": {"logits": MATRIX, "num_samples": 3},
        "gamma": {"shape": [4], "alpha": f32(1.0)},
        "normal": {"shape": [4]},
        "parameterized_truncated_normal": {"shape": [4]},
        "poisson": {"shape": [4], "lam": f32(1.0)},
        "truncated_normal": {"shape": [4]},
        "uniform": {"shape": [4]},
    }
    return {
        **{f"tf.random.stateless_{k}": [{**call, "seed": seed}] for k, call in stateless.items()},
        "tf.random.categorical": [{"logits": MATRIX, "num_samples": 3}],
        "tf.random.gamma": [{"shape": [4], "alpha": f32(1.0)}, {"shape": [4], "alpha": 1.0}],
        "tf.random.normal": [{"shape": [4]}],
        "tf.random.poisson": [{"shape": [4], "lam": f32(1.0)}],
        "tf.random.shuffle": [{"value": MATRIX}],
        "tf.random.experimental.stateless_shuffle": [{"value": VECTOR, "seed": seed}],
        "tf.random.experimental.stateless_fold_in": [{"seed": seed, "data": np.array(3, np.int32)}],
        "tf.random.experimental.stateless_split": [{"seed": seed, "num": 2}],
        "tf.random.fold_in": [{"seed": seed, "data": np.array(3, np.int32)}],
        "tf.random.split": [{"seed": seed, "num": 2}],
        "tf.random_index_shuffle": [
            {
                "index": np.array(1, np.uint32),
                "seed": np.array([1, 2, 3], np.uint32),
                "max_index": np.array(10, np.uint32),
            }
        ],
        "tf.random.experimental.index_shuffle": [
            {"index": np.array(1, np.int32), "seed": i32(1, 2, 3), "max_index": 10}
        ],
        "tf.random.truncated_normal": [{"shape": [4]}],
        "tf.random.uniform": [{"shape": [4]}],
    }


def _strings_and_io() -> Mapping[str, list[Call]]:
    folder = tempfile.mkdtemp(prefix="catalog-")
    text = np.array([b"a b", b"c"])
    number = np.array([b"1", b"2"])
    pixels = (IMAGE[0] * 255).astype(np.uint8)
    picture = np.array(tf.io.encode_png(pixels).numpy())
    photograph = np.array(tf.io.encode_jpeg(pixels).numpy())
    return {
        "tf.io.read_file": [{"filename": np.array(__file__.encode())}],
        "tf.io.write_file": [
            {"filename": np.array(f"{folder}/written".encode()), "contents": np.array(b"a")}
        ],
        "tf.io.matching_files": [{"pattern": np.array(b"/nowhere/*")}],
        "tf.io.decode_raw": [{"input_bytes": np.array([b"abcd"]), "out_type": tf.uint8}],
        "tf.io.decode_csv": [{"records": np.array([b"1.0"]), "record_defaults": [[0.0]]}],
        "tf.io.decode_image": [{"contents": picture}],
        "tf.io.decode_png": [{"contents": picture}],
        "tf.io.decode_jpeg": [{"contents": photograph}],
        "tf.io.decode_and_crop_jpeg": [{"contents": photograph, "crop_window": [0, 0, 2, 2]}],
        "tf.io.extract_jpeg_shape": [{"contents": photograph}],
        "tf.io.parse_sequence_example": [
            {
                "serialized": np.array([b""]),
                "sequence_features": {"a": tf.io.FixedLenSequenceFeature([], tf.float32)},
            }
        ],
        "tf.io.parse_single_sequence_example": [
            {
                "serialized": np.array(b""),
                "sequence_features": {
                    "a": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)
                },
            }
        ],
        "tf.io.decode_base64": [{"input": np.array(b"YQ")}],
        "tf.io.parse_example": [
            {
                "serialized": np.array([b""]),
                "features": {"a": tf.io.FixedLenFeature([], tf.float32, 0.0)},
            }
        ],
        "tf.io.parse_single_example": [
            {
                "serialized": np.array(b""),
                "features": {"a": tf.io.FixedLenFeature([], tf.float32, 0.0)},
            }
        ],
        "tf.io.serialize_tensor": [{"tensor": VECTOR}],
        "tf.io.parse_tensor": [
            {"serialized": np.array(tf.io.serialize_tensor(VECTOR).numpy()), "out_type": tf.float32}
        ],
        "tf.strings.as_string": [{"input": VECTOR}],
        "tf.strings.bytes_split": [{"input": text}],
        "tf.strings.format": [{"template": "{}", "inputs": VECTOR}],
        "tf.strings.join": [{"inputs": [text, text]}],
        "tf.strings.ngrams": [{"data": text, "ngram_width": 2}],
        "tf.strings.reduce_join": [{"inputs": text}],
        "tf.strings.regex_full_match": [{"input": text, "pattern": "a"}],
        "tf.strings.regex_replace": [{"input": text, "pattern": "a", "rewrite": "b"}],
        "tf.strings.split": [{"input": text}],
        "tf.strings.substr": [{"input": text, "pos": 0, "len": 1}],
        "tf.strings.to_hash_bucket": [{"input": text, "num_buckets": 4}],
        "tf.strings.to_hash_bucket_fast": [{"input": text, "num_buckets": 4}],
        "tf.strings.to_hash_bucket_strong": [{"input": text, "num_buckets": 4, "key": [1, 2]}],
        "tf.strings.to_number": [{"input": number}],
        "tf.strings.unsorted_segment_join": [
            {"inputs": text, "segment_ids": i32(0, 1), "num_segments": 2}
        ],
        "tf.strings.unicode_encode": [
            {"input": i32(97, 98), "output_encoding": "UTF-8"},
        ],
        "tf.strings.unicode_decode": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_decode_with_offsets": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_split": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_split_with_offsets": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_transcode": [
            {"input": text, "input_encoding": "UTF-8", "output_encoding": "UTF-8"}
        ],
        "tf.audio.encode_wav": [{"audio": ones(4, 1), "sample_rate": 8000}],
        "tf.audio.decode_wav": [
            {"contents": np.array(tf.audio.encode_wav(ones(4, 1), 8000).numpy())}
        ],
        "tf.timestamp": [{}],
    }


def _sparse_and_ragged() -> Mapping[str, list[Call]]:
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
        "tf.ragged.boolean_mask": [{"data": VECTOR, "mask": _MASK}],
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
        "tf.RaggedTensor.from_value_rowids": [{"values": VECTOR, "value_rowids": _SEGMENTS}],
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
        "tf.lookup.StaticHashTable.lookup": [{"self": _table(), "keys": np.array([1, 2], np.int64)}],
        "tf.lookup.StaticHashTable.size": [{"self": _table()}],
    }  # fmt: skip


def _table() -> Any:
    keys = tf.constant([1, 2], tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys), -1)


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


def _version_one() -> Mapping[str, list[Call]]:
    image = {"images": IMAGE, "size": [8, 8]}
    return {
        "tf.compat.v1.where": [{"condition": _MASK}],
        "tf.compat.v1.where_v2": [{"condition": _MASK}],
        "tf.compat.v1.boolean_mask": [{"tensor": VECTOR, "mask": _MASK}],
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
            {"labels": _LABELS, "logits": MATRIX}
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
        "tf.compat.v1.confusion_matrix": [{"labels": _LABELS, "predictions": _LABELS}],
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


def _keras_functions() -> Mapping[str, list[Call]]:
    return {
        "keras.backend.bias_add": [{"x": IMAGE, "bias": f32(1, 2, 3)}],
        "keras.backend.conv1d": [{"x": ones(1, 4, 3), "kernel": ones(2, 3, 3)}],
        "keras.backend.conv2d": [{"x": IMAGE, "kernel": ones(2, 2, 3, 3)}],
        "keras.backend.conv2d_transpose": [
            {"x": IMAGE, "kernel": ones(2, 2, 3, 3), "output_shape": (1, 4, 4, 3)}
        ],
        "keras.backend.conv3d": [{"x": ones(1, 4, 4, 4, 3), "kernel": ones(2, 2, 2, 3, 3)}],
        "keras.backend.depthwise_conv2d": [{"x": IMAGE, "depthwise_kernel": ones(2, 2, 3, 1)}],
        "keras.backend.separable_conv2d": [
            {
                "x": IMAGE,
                "depthwise_kernel": ones(2, 2, 3, 1),
                "pointwise_kernel": ones(1, 1, 3, 3),
            }
        ],
        "keras.backend.permute_dimensions": [{"x": MATRIX, "pattern": [1, 0]}],
        "keras.backend.pool2d": [{"x": IMAGE, "pool_size": (2, 2)}],
        "keras.backend.pool3d": [{"x": ones(1, 4, 4, 4, 3), "pool_size": (2, 2, 2)}],
        "keras.backend.repeat_elements": [{"x": MATRIX, "rep": 2, "axis": 0}],
        "keras.backend.resize_volumes": [
            {
                "x": ones(1, 2, 2, 2, 3),
                "depth_factor": 2,
                "height_factor": 2,
                "width_factor": 2,
                "data_format": "channels_last",
            }
        ],
        "keras.backend.rnn": [
            {
                "step_function": lambda x, states: (x, states),
                "inputs": ones(2, 4, 3),
                "initial_states": [ones(2, 3)],
            }
        ],
        "keras.backend.batch_flatten": [{"x": IMAGE}],
        "keras.backend.dot": [{"x": MATRIX, "y": MATRIX}],
        "keras.backend.batch_dot": [{"x": ones(2, 3, 4), "y": ones(2, 4, 3)}],
        "keras.backend.gather": [{"reference": MATRIX, "indices": i32(0, 1)}],
        "keras.backend.concatenate": [{"tensors": [MATRIX, MATRIX]}],
        "keras.backend.stack": [{"x": [VECTOR, VECTOR]}],
        "keras.backend.map_fn": [{"fn": lambda x: x * 2.0, "elems": VECTOR}],
        "keras.backend.switch": [
            {
                "condition": np.array(True),
                "then_expression": VECTOR,
                "else_expression": VECTOR,
            }
        ],
        "keras.backend.ndim": [{"x": MATRIX}],
        "keras.backend.int_shape": [{"x": MATRIX}],
        "keras.backend.in_top_k": [{"predictions": MATRIX, "targets": _LABELS, "k": 2}],
        "keras.backend.sparse_categorical_crossentropy": [{"target": _LABELS, "output": MATRIX}],
        "keras.backend.one_hot": [{"indices": _LABELS, "num_classes": 3}],
        "keras.backend.resize_images": [
            {"x": IMAGE, "height_factor": 2, "width_factor": 2, "data_format": "channels_last"}
        ],
        "keras.backend.ctc_batch_cost": [
            {
                "y_true": i32([1]),
                "y_pred": ones(1, 4, 3),
                "input_length": i32([4]),
                "label_length": i32([1]),
            }
        ],
        "keras.backend.ctc_decode": [{"y_pred": ones(1, 4, 3), "input_length": i32(4)}],
        "keras.backend.ctc_label_dense_to_sparse": [
            {"labels": i32([1]), "label_lengths": i32(1)}
        ],
        "keras.losses.sparse_categorical_crossentropy": [{"y_true": _LABELS, "y_pred": MATRIX}],
        "keras.metrics.sparse_categorical_accuracy": [{"y_true": _LABELS, "y_pred": MATRIX}],
        "keras.metrics.sparse_top_k_categorical_accuracy": [
            {"y_true": _LABELS, "y_pred": MATRIX, "k": 2}
        ],
        "keras.losses.ctc": [{"y_true": i32([1]), "y_pred": ones(1, 4, 3)}],
        "keras.activations.get": [{"identifier": "relu"}],
        "keras.losses.get": [{"identifier": "mse"}],
        "keras.metrics.get": [{"identifier": "mse"}],
        "keras.ops.adaptive_average_pool": [{"inputs": IMAGE, "output_size": 2}],
        "keras.ops.adaptive_max_pool": [{"inputs": IMAGE, "output_size": 2}],
        "keras.ops.bartlett": [{"x": 4}],
        "keras.ops.blackman": [{"x": 4}],
        "keras.ops.hamming": [{"x": 4}],
        "keras.ops.hanning": [{"x": 4}],
        "keras.ops.kaiser": [{"x": 4, "beta": 1.0}],
        "keras.ops.corrcoef": [{"x": MATRIX}],
        "keras.ops.depth_to_space": [{"x": ones(1, 4, 4, 8), "block_size": 2}],
        "keras.ops.space_to_depth": [{"x": IMAGE, "block_size": 2}],
        "keras.ops.dsplit": [{"x": ones(2, 2, 4), "indices_or_sections": 2}],
        "keras.ops.hsplit": [{"x": ones(2, 4), "indices_or_sections": 2}],
        "keras.ops.vsplit": [{"x": ones(4, 2), "indices_or_sections": 2}],
        "keras.ops.digitize": [{"x": VECTOR, "bins": [0.1, 0.3]}],
        "keras.ops.searchsorted": [{"sorted_sequence": VECTOR, "values": f32(0.15)}],
        "keras.ops.image.scale_and_translate": [
            {
                "images": IMAGE,
                "output_shape": (1, 8, 8, 3),
                "scale": f32(2, 2),
                "translation": f32(0, 0),
                "spatial_dims": (1, 2),
                "method": "linear",
            }
        ],
        "keras.ops.isin": [{"x1": i32(1, 2, 3), "x2": i32(2, 5)}],
        "keras.ops.kron": [{"x1": MATRIX, "x2": MATRIX}],
        "keras.ops.nanpercentile": [{"x": MATRIX, "q": 50.0}],
        "keras.ops.nanquantile": [{"x": MATRIX, "q": 0.5}],
        "keras.ops.percentile": [{"x": MATRIX, "q": 50.0}],
        "keras.ops.quantile": [{"x": MATRIX, "q": 0.5}],
        "keras.ops.rearrange": [{"tensor": MATRIX, "pattern": "a b -> b a"}],
        "keras.ops.swapaxes": [{"x": MATRIX, "axis1": 0, "axis2": 1}],
        "keras.ops.histogram": [{"x": VECTOR, "bins": 4}],
        "keras.ops.arange": [{"start": 0, "stop": 5, "step": 1}],
        "keras.ops.linspace": [{"start": 0.0, "stop": 1.0, "num": 4}],
        "keras.ops.logspace": [{"start": 0.0, "stop": 1.0, "num": 4}],
        "keras.ops.bincount": [{"x": i32(0, 1, 2, 1)}],
        "keras.ops.concatenate": [{"xs": [MATRIX, MATRIX], "axis": 0}],
        "keras.ops.cond": [
            {
                "pred": np.array(True),
                "true_fn": lambda: tf.constant(1.0),
                "false_fn": lambda: tf.constant(2.0),
            }
        ],
        "keras.ops.einsum": [{"*": ["ij,jk->ik", MATRIX, MATRIX]}],
        "keras.ops.fori_loop": [
            {"lower": 0, "upper": 3, "body_fun": lambda i, x: x * (x + 1.0), "init_val": VECTOR}
        ],
        "keras.ops.while_loop": [
            {
                "cond": lambda x: tf.reduce_sum(x) < 1.0,
                "body": lambda x: (x * (x + 1.0),),
                "loop_vars": (VECTOR,),
            }
        ],
        "keras.ops.map": [{"f": lambda x: x * 2.0, "xs": VECTOR}],
        "keras.ops.scan": [{"f": lambda a, x: (a + x, a), "init": f32(0.0), "xs": VECTOR}],
        "keras.ops.associative_scan": [{"f": lambda a, b: a + b, "elems": VECTOR}],
        "keras.ops.vectorized_map": [{"function": lambda x: x * 2.0, "elements": VECTOR}],
        "keras.ops.switch": [
            {"index": np.array(1, np.int32), "branches": [lambda: 1.0, lambda: 2.0], "*": []}
        ],
        "keras.ops.meshgrid": [{"*": [VECTOR, VECTOR]}],
        "keras.ops.nonzero": [{"x": MATRIX}],
        "keras.ops.one_hot": [{"x": _LABELS, "num_classes": 3}],
        "keras.ops.multi_hot": [{"inputs": _LABELS, "num_classes": 3}],
        "keras.ops.ndim": [{"x": MATRIX}],
        "keras.ops.repeat": [{"x": VECTOR, "repeats": 2}],
        "keras.ops.scatter": [{"indices": i32([0], [1]), "values": f32(5, 6), "shape": [4]}],
        "keras.ops.scatter_update": [
            {"inputs": f32(1, 2, 3), "indices": i32([0], [1]), "updates": f32(5, 6)}
        ],
        "keras.ops.segment_sum": [{"data": VECTOR, "segment_ids": _SEGMENTS}],
        "keras.ops.segment_max": [{"data": VECTOR, "segment_ids": _SEGMENTS}],
        "keras.ops.slice": [{"inputs": MATRIX, "start_indices": [0, 0], "shape": [2, 2]}],
        "keras.ops.slice_update": [
            {"inputs": MATRIX, "start_indices": [0, 0], "updates": f32([1, 2], [3, 4])}
        ],
        "keras.ops.split": [{"x": VECTOR, "indices_or_sections": 2}],
        "keras.ops.array_split": [{"x": VECTOR, "indices_or_sections": 2}],
        "keras.ops.take_along_axis": [{"x": MATRIX, "indices": i32([0], [1], [0]), "axis": 1}],
        "keras.ops.unstack": [{"x": MATRIX}],
        "keras.ops.where": [{"condition": _MASK}],
        "keras.ops.shape": [{"x": MATRIX}],
        "keras.ops.is_tensor": [{"x": MATRIX}],
        "keras.ops.convert_to_tensor": [{"x": MATRIX}],
        "keras.ops.convert_to_numpy": [{"x": MATRIX}],
        "keras.ops.conv": [{"inputs": IMAGE, "kernel": ones(2, 2, 3, 3)}],
        "keras.ops.conv_transpose": [
            {"inputs": IMAGE, "kernel": ones(2, 2, 3, 3), "strides": 2}
        ],
        "keras.ops.depthwise_conv": [{"inputs": IMAGE, "kernel": ones(2, 2, 3, 1)}],
        "keras.ops.separable_conv": [
            {
                "inputs": IMAGE,
                "depthwise_kernel": ones(2, 2, 3, 1),
                "pointwise_kernel": ones(1, 1, 3, 3),
            }
        ],
        "keras.ops.max_pool": [{"inputs": IMAGE, "pool_size": 2}],
        "keras.ops.average_pool": [{"inputs": IMAGE, "pool_size": 2}],
        "keras.ops.sparse_categorical_crossentropy": [{"target": _LABELS, "output": MATRIX}],
        "keras.ops.in_top_k": [{"targets": _LABELS, "predictions": MATRIX, "k": 2}],
        "keras.ops.top_k": [{"x": MATRIX, "k": 2}],
        "keras.ops.ctc_loss": [
            {
                "target": i32([1]),
                "output": ones(1, 4, 3),
                "target_length": i32(1),
                "output_length": i32(4),
            }
        ],
        "keras.ops.ctc_decode": [{"inputs": ones(1, 4, 3), "sequence_lengths": i32(4)}],
        "keras.ops.dot_product_attention": [
            {"query": ones(1, 4, 2, 3), "key": ones(1, 4, 2, 3), "value": ones(1, 4, 2, 3)}
        ],
        "keras.ops.batch_normalization": [
            {"x": MATRIX, "mean": f32(0, 0, 0), "variance": f32(1, 1, 1), "axis": -1}
        ],
        "keras.ops.moments": [{"x": MATRIX, "axes": [0]}],
        "keras.ops.fft": [{"x": (VECTOR, VECTOR)}],
        "keras.ops.fft2": [{"x": (MATRIX, MATRIX)}],
        "keras.ops.ifft2": [{"x": (MATRIX, MATRIX)}],
        "keras.ops.irfft": [{"x": (VECTOR, VECTOR)}],
        "keras.ops.stft": [{"x": ones(16), "sequence_length": 4, "sequence_stride": 2, "fft_length": 4}],
        "keras.ops.istft": [
            {
                "x": (ones(4, 3), ones(4, 3)),
                "sequence_length": 4,
                "sequence_stride": 2,
                "fft_length": 4,
            }
        ],
        "keras.ops.extract_sequences": [{"x": ones(16), "sequence_length": 4, "sequence_stride": 2}],
        "keras.ops.lu_factor": [{"x": MATRIX}],
        "keras.ops.solve_triangular": [{"a": MATRIX, "b": MATRIX}],
        "keras.ops.tensordot": [{"x1": MATRIX, "x2": MATRIX, "axes": 1}],
        "keras.ops.matmul": [{"x1": MATRIX, "x2": MATRIX}],
        "keras.ops.cross": [{"x1": f32(1, 2, 3), "x2": f32(3, 2, 1)}],
        "keras.ops.image.resize": [{"images": IMAGE, "size": (8, 8)}],
        "keras.ops.image.affine_transform": [
            {"images": IMAGE, "transform": f32([1, 0, 0, 0, 1, 0, 0, 0])}
        ],
        "keras.ops.image.map_coordinates": [{"inputs": VECTOR, "coordinates": f32([0.0, 1.0]), "order": 1}],
        "keras.ops.image.pad_images": [
            {"images": IMAGE, "top_padding": 1, "left_padding": 1, "target_height": 8, "target_width": 8}
        ],
        "keras.ops.image.crop_images": [
            {"images": IMAGE, "top_cropping": 1, "left_cropping": 1, "target_height": 2, "target_width": 2}
        ],
        "keras.ops.image.extract_patches": [{"images": IMAGE, "size": (2, 2)}],
        "keras.ops.image.gaussian_blur": [{"images": IMAGE}],
        "keras.ops.image.perspective_transform": [
            {
                "images": IMAGE,
                "start_points": f32([[0, 0], [0, 4], [4, 0], [4, 4]]),
                "end_points": f32([[0, 0], [0, 4], [4, 0], [4, 4]]),
            }
        ],
        "keras.ops.image.elastic_transform": [{"images": IMAGE}],
        "keras.random.shuffle": [{"x": MATRIX}],
        "keras.random.categorical": [{"logits": MATRIX, "num_samples": 3}],
        "keras.random.gamma": [{"shape": [4], "alpha": 1.0}],
        "keras.random.beta": [{"shape": [4], "alpha": 1.0, "beta": 1.0}],
        "keras.random.binomial": [{"shape": [4], "counts": 10.0, "probabilities": 0.5}],
        "keras.random.dropout": [{"inputs": MATRIX, "rate": 0.5}],
        "keras.random.randint": [{"shape": [4], "minval": 0, "maxval": 5}],
    }  # fmt: skip
