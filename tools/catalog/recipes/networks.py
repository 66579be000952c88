"""Calls of tf.nn, its samplers, and the convolutions of tf.raw_ops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    LABELS,
    MATRIX,
    VECTOR,
    Call,
    f32,
    i32,
    ones,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {**_nn(), **_nn_more()}


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
        "tf.nn.in_top_k": [{"targets": LABELS, "predictions": MATRIX, "k": 2}],
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
        "tf.nn.sparse_softmax_cross_entropy_with_logits": [{"labels": LABELS, "logits": MATRIX}],
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
        **{
            f"tf.conv2d_backprop_{part}_v2": [
                {
                    "input": IMAGE,
                    "filter": ones(2, 2, 3, 3),
                    "out_backprop": IMAGE,
                    "strides": [1] * 4,
                    "padding": "SAME",
                }
            ]
            for part in ("filter", "input")
        },
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
    }
