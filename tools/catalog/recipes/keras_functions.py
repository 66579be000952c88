"""Calls of keras.ops, keras.backend, keras.random and of losses and metrics that are functions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    LABELS,
    MASK,
    MATRIX,
    SEGMENTS,
    VECTOR,
    Call,
    f32,
    i32,
    ones,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {
        "keras.backend.zeros": [{"shape": (3,)}],
        "keras.backend.ones": [{"shape": (3,)}],
        "keras.backend.eye": [{"size": 3}],
        "keras.backend.variable": [{"value": 1.0}],
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
        "keras.backend.in_top_k": [{"predictions": MATRIX, "targets": LABELS, "k": 2}],
        "keras.backend.sparse_categorical_crossentropy": [{"target": LABELS, "output": MATRIX}],
        "keras.backend.one_hot": [{"indices": LABELS, "num_classes": 3}],
        "keras.backend.resize_images": [
            {"x": IMAGE, "height_factor": 2, "width_factor": 2, "data_format": "channels_last"}
        ],
        # Two of each: with one, the static shape of what its loop carries clashes with itself.
        "keras.backend.ctc_batch_cost": [
            {
                "y_true": i32([0, 1], [1, 0]),
                "y_pred": ones(2, 4, 3),
                "input_length": i32([4], [4]),
                "label_length": i32([2], [2]),
            }
        ],
        "keras.backend.ctc_decode": [{"y_pred": ones(1, 4, 3), "input_length": i32(4)}],
        "keras.backend.ctc_label_dense_to_sparse": [
            {"labels": i32([1, 2], [2, 1]), "label_lengths": i32(2, 2)}
        ],
        "keras.losses.sparse_categorical_crossentropy": [{"y_true": LABELS, "y_pred": MATRIX}],
        "keras.metrics.sparse_categorical_accuracy": [{"y_true": LABELS, "y_pred": MATRIX}],
        "keras.metrics.sparse_top_k_categorical_accuracy": [
            {"y_true": LABELS, "y_pred": MATRIX, "k": 2}
        ],
        "keras.losses.ctc": [{"y_true": i32([1]), "y_pred": ones(1, 4, 3)}],
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
        "keras.ops.fold": [
            {"x": ones(1, 12, 4), "output_size": (4, 4), "kernel_size": 2, "stride": 2}
        ],
        "keras.ops.image.ssim": [
            {"image1": ones(1, 16, 16, 1), "image2": ones(1, 16, 16, 1), "max_val": 1.0}
        ],
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
        "keras.ops.tile": [{"x": MATRIX, "repeats": [1, 2]}],
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
        "keras.ops.one_hot": [{"x": LABELS, "num_classes": 3}],
        "keras.ops.multi_hot": [{"inputs": LABELS, "num_classes": 3}],
        "keras.ops.ndim": [{"x": MATRIX}],
        "keras.ops.repeat": [{"x": VECTOR, "repeats": 2}],
        "keras.ops.scatter": [{"indices": i32([0], [1]), "values": f32(5, 6), "shape": [4]}],
        "keras.ops.scatter_update": [
            {"inputs": f32(1, 2, 3), "indices": i32([0], [1]), "updates": f32(5, 6)}
        ],
        "keras.ops.segment_sum": [{"data": VECTOR, "segment_ids": SEGMENTS}],
        "keras.ops.segment_max": [{"data": VECTOR, "segment_ids": SEGMENTS}],
        "keras.ops.slice": [{"inputs": MATRIX, "start_indices": [0, 0], "shape": [2, 2]}],
        "keras.ops.slice_update": [
            {"inputs": MATRIX, "start_indices": [0, 0], "updates": f32([1, 2], [3, 4])}
        ],
        "keras.ops.split": [{"x": VECTOR, "indices_or_sections": 2}],
        "keras.ops.array_split": [{"x": VECTOR, "indices_or_sections": 2}],
        "keras.ops.take_along_axis": [{"x": MATRIX, "indices": i32([0], [1], [0]), "axis": 1}],
        "keras.ops.unstack": [{"x": MATRIX}],
        "keras.ops.where": [{"condition": MASK}],
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
        "keras.ops.sparse_categorical_crossentropy": [{"target": LABELS, "output": MATRIX}],
        "keras.ops.in_top_k": [{"targets": LABELS, "predictions": MATRIX, "k": 2}],
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
