"""Calls of vector_quantize_tf 0.0.9: quantizers, their codebooks and choice of codes.

Labelled with a KMeans of scikit-learn that takes the first points as centers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from program import Call, Programs
from vector_quantize_tf import GumbelSoftmaxLayer, ResidualVQ, VectorQuantizer

from programs.made import floats, integers

programs = Programs("vector_quantize_tf")
SEQUENCE = floats(2, 5, 6)


def _quantized(
    name: str, call: Callable[..., Any], data: Any, gradient: bool = False, **options: Any
) -> None:
    @programs(f"VectorQuantizer {name}")
    def _quantize() -> Call:
        made = VectorQuantizer(6, 4, 8, 0.99, **options)
        made(tf.constant(SEQUENCE))
        return Call(lambda x: call(made, x), [data], gradient)


def _expired(made: VectorQuantizer, samples: Any) -> Any:
    """The size of the new codebook: all codes were dead, and which samples they become is drawn."""
    made.ema_cluster_size.assign(tf.zeros([8]))
    made.expire_codes(samples)
    return tf.shape(made.embeddings + 0)


def _differentiable(made: VectorQuantizer, x: Any) -> Any:
    results = made(x, training=True)
    return results["quantized"], results["loss"]


_quantized("inference", lambda made, x: made(x), SEQUENCE)
_quantized("training", lambda made, x: made(x, training=True), SEQUENCE)
_quantized("gradient", _differentiable, SEQUENCE, True)
_quantized("kmeans", lambda made, x: made(x)["loss"], SEQUENCE, kmeans_init=True)
_quantized("expire_codes", _expired, floats(2, 5, 4))
_quantized("decode", lambda made, codes: made.decode(codes), integers(8, 2, 5))
_quantized("get_code_indices", lambda made, x: made.get_code_indices(x), floats(10, 4))


@programs("GumbelSoftmaxLayer")
def _softmax() -> Call:
    return Call(GumbelSoftmaxLayer(), [floats(6, 8)])


@programs("GumbelSoftmaxLayer training")
def _noisy() -> Call:
    made = GumbelSoftmaxLayer()
    return Call(lambda x: tf.shape(made(x, training=True)[1]), [floats(6, 8)])


def _residual(name: str, call: Callable[..., Any], data: Any, gradient: bool = False) -> None:
    @programs(f"ResidualVQ {name}")
    def _quantize() -> Call:
        made = ResidualVQ(6, 8, 4, 2, 0.99, 2.0, 0.0, use_ema=False)
        made(tf.constant(SEQUENCE))
        return Call(lambda x: call(made, x), [data], gradient)


_residual("inference", lambda made, x: made(x), SEQUENCE)
_residual("training", lambda made, x: made(x, training=True)[0], SEQUENCE, True)
_residual("decode", lambda made, codes: made.decode(tf.unstack(codes))[0], integers(8, 2, 2, 5))
