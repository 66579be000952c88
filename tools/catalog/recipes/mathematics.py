"""Calls of tf.math, tf.linalg and tf.signal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    COMPLEX,
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
    return {**_math(), **_linalg()}


def _math() -> Mapping[str, list[Call]]:
    segment = {"data": VECTOR, "segment_ids": SEGMENTS}
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
        "tf.math.confusion_matrix": [{"labels": LABELS, "predictions": LABELS}],
        "tf.math.divide_no_nan": [{"x": VECTOR, "y": VECTOR}],
        "tf.math.fft": [{"input": COMPLEX}],
        "tf.math.floormod": [{"x": VECTOR, "y": VECTOR}],
        "tf.math.in_top_k": [{"targets": LABELS, "predictions": MATRIX, "k": 2}],
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
        "tf.raw_ops.Where": [{"condition": MASK}],
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
        **{f"tf.signal.{name}": [{"input": COMPLEX.reshape(2, 2)}] for name in ("fft2d", "ifft2d")},
        **{f"tf.signal.{name}": [{"input": COMPLEX}] for name in ("fft", "ifft", "irfft")},
        **{
            f"tf.signal.{name}": [{"input": np.ones((2, 2, 2), np.complex64)}]
            for name in ("fft3d", "ifft3d", "irfft3d")
        },
        "tf.signal.irfft2d": [{"input": np.ones((2, 2), np.complex64)}],
        "tf.signal.rfft3d": [{"input_tensor": ones(2, 2, 2)}, {"input": ones(2, 2, 2)}],
        "tf.signal.fftnd": [
            {"input_tensor": COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.ifftnd": [
            {"input_tensor": COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
        ],
        "tf.signal.irfftnd": [
            {"input_tensor": COMPLEX.reshape(2, 2), "fft_length": [2, 2], "axes": [0, 1]}
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
