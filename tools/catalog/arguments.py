"""Values for parameters, by the parameter's name: what to try when no recipe says how an API is called.

Arrays become inputs that XLA cannot look into; Python values stay constants.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]], np.float32)
VECTOR = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
IMAGE = (np.arange(48, dtype=np.float32) / 48).reshape(1, 4, 4, 3)

_MOST_TRIES = 200
_REQUIRED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


Array = np.ndarray[Any, Any]
Call = dict[str, Any]


def f32(*values: Any) -> Array:
    """The values as a float32 array, nested lists being its rows."""
    made: Array = np.array(values, np.float32)
    return made


def i32(*values: Any) -> Array:
    """The values as an int32 array."""
    made: Array = np.array(values, np.int32)
    return made


def ones(*shape: int) -> Array:
    """Float32 ones."""
    return np.ones(shape, np.float32)


COMPLEX = VECTOR.astype(np.complex64)
LABELS = i32(0, 1, 2)
SEGMENTS = i32(0, 0, 1, 1)
MASK = np.array([True, False, True, True])


def ragged() -> tf.RaggedTensor:
    """Two rows, of one and of two values."""
    return tf.ragged.constant([[1.0], [2.0, 3.0]])


def sparse() -> tf.SparseTensor:
    """Two values in a 2 x 2 matrix."""
    return tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])


class Arguments:
    """Tables of candidate values. Made once per process: sparse and ragged values need TensorFlow."""

    def __init__(self) -> None:
        self.profiles = _profiles()
        self.named = _named()

    def candidates(self, parameters: Sequence[inspect.Parameter]) -> Iterator[dict[str, Any]]:
        """Ways to call something with these parameters, most ordinary first."""
        required = [
            each.name
            for each in parameters
            if each.default is each.empty and each.kind in _REQUIRED
        ]
        variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        free = [name for name in required if name not in self.named]
        profiles = self.profiles if free or variadic else self.profiles[:1]
        tries = itertools.chain.from_iterable(
            self._fill(required, profile, variadic) for profile in profiles
        )
        return itertools.islice(tries, _MOST_TRIES)

    def _fill(self, required: list[str], profile: Any, variadic: bool) -> Iterator[dict[str, Any]]:
        options = [self.named.get(name, [profile]) for name in required]
        for combination in itertools.islice(itertools.product(*options), 24):
            arguments = dict(zip(required, combination, strict=True))
            if variadic and not required:
                arguments["*"] = [profile]
            yield arguments


def _profiles() -> tuple[Any, ...]:
    return (
        MATRIX,
        VECTOR,
        IMAGE,
        i32(0, 1, 2, 3),
        MATRIX.astype(np.complex64),
        np.array([True, False, True, True]),
        i32([0, 1], [2, 3]),
        f32(0.5)[0:1].reshape(()),
        np.array(2, np.int32),
        IMAGE[0],
        ones(1, 4, 4, 4, 3),
        (IMAGE * 255).astype(np.uint8),
        ones(2, 4, 3),
        [VECTOR, VECTOR],
        [MATRIX, MATRIX],
        sparse(),
        ragged(),
        np.array([b"a", b"b"]),
        np.array(b"a"),
        2,
        0.5,
        "a",
    )


def _named() -> dict[str, list[Any]]:
    """Parameter name to the values worth trying, in order."""
    return {
        "alpha": [1.0, [2]],
        "axes": [1, [0]],
        "axis": [0],
        "axis1": [0],
        "axis2": [1],
        "bins": [[0.1, 0.5]],
        "name": ["a"],
        "kth": [1],
        "output_size": [2],
        "rep": [2],
        "batch_dims": [0],
        "begin": [[0], [0, 0]],
        "beta": [1.0],
        "biases": [np.zeros(10, np.float32)],
        "bits": [8],
        "block_shape": [[2, 2], 2],
        "block_size": [2],
        "body": [lambda x: (x * (x + 1.0),)],
        "bounding_boxes": [f32([[0.0, 0.0, 1.0, 1.0]])],
        "box_indices": [i32(0)],
        "boxes": [f32([0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.6, 0.6]), f32([[0.0, 0.0, 0.5, 0.5]])],
        "branch_fns": [[lambda: tf.constant(1.0), lambda: tf.constant(2.0)]],
        "branch_index": [np.array(1, np.int32)],
        "central_fraction": [0.5],
        "chol": [np.eye(3, dtype=np.float32)],
        "clip_norm": [1.0],
        "clip_value_max": [1.0],
        "clip_value_min": [0.0],
        "cond": [lambda x: tf.reduce_sum(x) < 1.0],
        "condition": [np.array([True, False, True, True]), np.array(True)],
        "contrast_factor": [0.5],
        "counts": [10.0],
        "crop_size": [[2, 2]],
        "crops": [[[0, 0], [0, 0]]],
        "data_format": ["NHWC"],
        "default_value": [0.0],
        "delta": [0.1],
        "dense_shape": [[4], [4, 4]],
        "depth": [4],
        "depth_radius": [1],
        "depthwise_filter": [ones(2, 2, 3, 1)],
        "diagonals": [f32([0.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 1.0, 0.0])],
        "diff": [1],
        "dilations": [[1, 1, 1, 1], 1],
        "dim": [2],
        "dimension": [1],
        "dims": [[2]],
        "dtype": [tf.float32],
        "end": [[2], [2, 2]],
        "equation": ["ij,jk->ik", "i,i->"],
        "expanded_num_dims": [1],
        "f": [lambda *given: given[0] * 1.0],
        "factor": [0.5],
        "false_fn": [lambda: tf.constant(2.0)],
        "fft_length": [[4]],
        "filter": [ones(2, 2, 3, 1), ones(2, 2, 3, 3)],
        "filter_shape": [[2, 2, 3, 1]],
        "filter_sizes": [[2, 2, 3, 3], [2, 2, 3, 1]],
        "filters": [ones(2, 2, 3, 3), ones(2, 2, 3), ones(2, 3, 3), ones(2, 2, 2, 3, 3)],
        "fn": [lambda *given: given[0] * 1.0],
        "frame_length": [2],
        "frame_step": [1],
        "func": [lambda x: x],
        "gain": [1.0],
        "gamma": [1.0],
        "height": [4],
        "height_factor": [0.1],
        "ids": [i32(0, 1)],
        "image_size": [[4, 4, 3]],
        "index": [1],
        "indices": [i32(0, 1), i32([0], [1]), [i32(0, 1), i32(2, 3)]],
        "inp": [[VECTOR]],
        "input_sizes": [[1, 4, 4, 3]],
        "jpeg_quality": [50],
        "k": [2],
        "key": [[1, 2]],
        "kernel": [ones(2, 2, 3, 3), ones(2, 3, 3), ones(2, 2, 2, 3, 3), ones(2, 2, 3, 1)],
        "kernel_size": [2],
        "ksize": [[1, 2, 2, 1], 2, [1, 2, 2, 2, 1]],
        "lam": [1.0],
        "len": [1],
        "lengths": [i32(1, 2)],
        "limit": [5],
        "log_input": [f32(1.0)],
        "log_poisson_rate": [f32(1.0)],
        "logit_length": [i32(4)],
        "label_length": [i32(1)],
        "loop_vars": [(f32(0.1),)],
        "lower": [0.2],
        "mask": [np.array([True, False, True, True]), np.array([True, False, True])],
        "max": [6.0],
        "max_delta": [0.2],
        "max_index": [10],
        "max_jpeg_quality": [60],
        "max_output_size": [2],
        "max_output_size_per_class": [2],
        "max_total_size": [2],
        "max_val": [1.0],
        "maxval": [5],
        "maxlen": [4],
        "mean": [0.0],
        "message": ["m"],
        "min": [0.0],
        "min_jpeg_quality": [50],
        "minval": [0],
        "multiples": [[1, 2], [2]],
        "n": [4, 2],
        "ndims": [1],
        "num": [4],
        "num_bits": [8],
        "num_bins": [4],
        "num_buckets": [4],
        "num_classes": [10, 3],
        "num_cols": [2],
        "num_lower": [1],
        "num_mel_bins": [4],
        "num_or_size_splits": [1, 3, 2],
        "num_partitions": [2],
        "num_results": [4],
        "num_rows": [3],
        "num_samples": [3],
        "num_sampled": [2],
        "num_segments": [2],
        "num_spectrogram_bins": [9],
        "num_true": [1],
        "num_upper": [0],
        "numerator_": [1.0],
        "offset": [0.0, [0]],
        "offset_height": [0],
        "offset_width": [0],
        "offsets": [[[0.0, 0.0]]],
        "operator": [_linear_operator()],
        "order": [2],
        "ordinal": [0],
        "out_backprop": [ones(1, 4, 4, 3), ones(1, 2, 2, 3)],
        "out_type": [tf.int32],
        "output_dtype": [tf.float32],
        "output_shape": [[1, 8, 8, 3], [2]],
        "overlaps": [f32([1.0, 0.1], [0.1, 1.0])],
        "pad_width": [[[1, 1], [1, 1]], [[1, 1]], 1],
        "padding": ["SAME", "same"],
        "paddings": [[[1, 1], [1, 1]], [[1, 1]], [[0, 0], [0, 0], [0, 0], [0, 0]]],
        "params": [f32([1.0, 2.0], [3.0, 4.0]), f32(1.0, 2.0)],
        "partitions": [i32(0, 1, 0, 1), i32(0, 1, 0)],
        "pattern": ["a"],
        "perm": [[1, 0], i32(1, 0)],
        "permutation": [i32(1, 0)],
        "pointwise_filter": [ones(1, 1, 3, 3)],
        "pool_size": [2],
        "pooling_ratio": [[1.0, 1.44, 1.44, 1.0]],
        "pooling_type": ["MAX"],
        "pos": [0],
        "pos_weight": [1.0],
        "pred": [np.array(True)],
        "pred_fn_pairs": [[(np.array(True), lambda: tf.constant(1.0))]],
        "prob": [0.5],
        "probs": [0.5],
        "rank": [2],
        "rate": [0.5, 2],
        "rates": [[1, 1, 1, 1]],
        "record_defaults": [[[0.0]]],
        "repeats": [2],
        "rewrite": ["b"],
        "row_splits": [[0, 1, 2]],
        "sample_rate": [8000],
        "sampled_candidates": [np.array([1], np.int64)],
        "saturation_factor": [0.5],
        "scale": [1.0],
        "scores": [f32(0.9, 0.8), f32([0.9, 0.8])],
        "seed": [[1, 2], 1],
        "segment_ids": [i32(0, 0, 1, 1), i32(0, 0, 1)],
        "seq_axis": [1],
        "seq_lengths": [i32(1, 1, 1)],
        "sequence_length": [i32(4)],
        "sequence_stride": [2],
        "shape": [[3, 3], [4], [2, 2], [1, 4, 4, 3], [9]],
        "newshape": [[9], [4]],
        "shape_x": [[2, 1]],
        "shape_y": [[1, 2]],
        "shift": [1],
        "size": [[8, 8], 4, [2, 2], [2], [2, 2, 3]],
        "sizes": [[1, 2, 2, 1]],
        "source": [0],
        "destination": [1],
        "sp_a": [sparse()],
        "sp_b": [sparse()],
        "sp_ids": [tf.sparse.from_dense([[1, 0], [0, 1]])],
        "sp_input": [sparse()],
        "sp_tensor": [sparse()],
        "sp_weights": [None],
        "sparse_indices": [i32([0], [1])],
        "sparse_values": [f32(1.0, 2.0)],
        "split": [[1]],
        "start": [0],
        "start_indices": [[0, 0], [0]],
        "state_list": [[f32(1.0, 2.0), f32(3.0)]],
        "stop": [4.0],
        "strides": [1, [1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1]],
        "target_height": [2, 8],
        "target_width": [2, 8],
        "template": ["{}"],
        "to_check": [np.array(1.0, np.float32)],
        "top_paths": [1],
        "true_classes": [np.array([[1]], np.int64)],
        "true_fn": [lambda: tf.constant(1.0)],
        "t_list": [[VECTOR]],
        "Tout": [tf.float32],
        "type": [tf.int32],
        "unique": [True],
        "updates": [f32(5.0, 6.0)],
        "upper": [0.5],
        "value_range": [[0.0, 1.0]],
        "variance": [1.0],
        "variance_epsilon": [1e-3],
        "weights": [ones(3, 3), ones(4), ones(10, 3)],
        "width": [4],
        "window_length": [4],
        "window_shape": [[2, 2]],
        "xs": [[MATRIX, MATRIX]],
    }


def _linear_operator() -> Any:
    return tf.linalg.LinearOperatorFullMatrix(
        tf.constant([[2.0, 0.0], [0.0, 3.0]]), is_self_adjoint=True, is_positive_definite=True
    )
