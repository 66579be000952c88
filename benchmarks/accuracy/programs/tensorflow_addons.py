"""Calls of TensorFlow Addons 0.23.0 (Keras 2, TensorFlow 2.15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf
import tensorflow_addons as tfa
from program import Call, Programs
from tensorflow_addons.image import color_ops, cutout_ops
from tensorflow_addons.layers import netvlad

from programs import made
from programs.made import floats, histogram, integers

programs = Programs("tensorflow_addons")


def plain(name: str, function: Callable[..., Any], *inputs: Any, gradient: bool = False) -> None:
    made.plain(programs, name, function, *inputs, gradient=gradient)


def layer(name: str, make: Callable[[], Any], *inputs: Any) -> None:
    made.layer(programs, name, make, *inputs)


def _equalize(image: Any) -> Any:
    """The rest of equalize, its histogram computed by an operation that XLA has."""

    with mock.patch.object(color_ops.tf, "histogram_fixed_width", histogram):
        return color_ops.equalize.python_function(image)


IMAGES = floats(2, 8, 8, 3)

plain("image.equalize", lambda x: tfa.image.equalize(x), floats(8, 8, 3))
programs("image.equalize without its histogram")(
    lambda: Call(
        _equalize,
        [(np.minimum(floats(64, 64, 3) * 2, 1) * 15).astype("uint8") * 17],
        not_judged=("XLA401",),
    )
)
plain("image.sharpness", lambda x: tfa.image.sharpness(x, 0.5), IMAGES)
plain("image.cutout", lambda x, o: tfa.image.cutout(x, (4, 4), o), IMAGES, integers(8, 2, 2))
plain("image.random_cutout", lambda x: tfa.image.random_cutout(x, (4, 4)), IMAGES)
plain(
    "image.cutout_ops._generate_masks",
    lambda shapes, pads: tf.map_fn(
        cutout_ops._generate_masks,
        [shapes, pads],
        fn_output_signature=tf.TensorSpec([8, 8], tf.bool),
    ),
    np.array([[4, 4], [4, 4]], "int32"),
    np.array([[[2, 2], [2, 2]], [[2, 2], [1, 3]]], "int32"),
)
plain("image.rotate", lambda x: tfa.image.rotate(x, 0.5), IMAGES)
plain("image.translate", lambda x: tfa.image.translate(x, [1.0, 2.0]), IMAGES)
plain(
    "image.shear_x",
    lambda x: tfa.image.shear_x(x, 0.3, [1.0]),
    (floats(8, 8, 3) * 255).astype("uint8"),
)
plain("image.blend", lambda x, y: tfa.image.blend(x, y, 0.4), IMAGES, IMAGES)
plain("image.mean_filter2d", lambda x: tfa.image.mean_filter2d(x), IMAGES)
plain("image.median_filter2d", lambda x: tfa.image.median_filter2d(x), IMAGES)
plain("image.gaussian_filter2d", lambda x: tfa.image.gaussian_filter2d(x), IMAGES)
plain(
    "image.dense_image_warp",
    lambda x, f: tfa.image.dense_image_warp(x, f),
    IMAGES,
    floats(2, 8, 8, 2),
)
plain(
    "image.interpolate_spline",
    lambda a, b, c: tfa.image.interpolate_spline(a, b, c, 1),
    floats(1, 5, 2),
    floats(1, 5, 1),
    floats(1, 7, 2),
)
plain(
    "image.sparse_image_warp",
    lambda x, a, b: tfa.image.sparse_image_warp(x, a, b),
    IMAGES,
    floats(2, 4, 2),
    floats(2, 4, 2),
)
plain("image.random_hsv_in_yiq", lambda x: tfa.image.random_hsv_in_yiq(x, 0.3), IMAGES)
plain("image.adjust_hsv_in_yiq", lambda x: tfa.image.adjust_hsv_in_yiq(x, 0.3), IMAGES)
plain(
    "image.euclidean_dist_transform",
    lambda x: tfa.image.euclidean_dist_transform(x),
    (floats(8, 8, 1) > 0.5).astype("uint8"),
)
plain(
    "image.angles_to_projective_transforms",
    lambda x: tfa.image.angles_to_projective_transforms(x, 8.0, 8.0),
    floats(2),
)

for _name in (
    "gelu",
    "hardshrink",
    "lisht",
    "mish",
    "rrelu",
    "snake",
    "softshrink",
    "sparsemax",
    "tanhshrink",
):
    plain(f"activations.{_name}", getattr(tfa.activations, _name), floats(4, 6), gradient=True)


@programs("metrics.GeometricMean.update_state weighted")
def _() -> Call:
    metric = tfa.metrics.GeometricMean()

    def update(values: Any, weights: Any) -> Any:
        metric.update_state(values, weights)
        return metric.result()

    return Call(update, [floats(4), floats(4)])


def metric(name: str, make: Callable[[], Any], *inputs: Any) -> None:
    """A program that updates a metric and reads its result."""

    def build() -> Call:
        built = make()
        built.update_state(*[tf.convert_to_tensor(value) for value in inputs])

        def update(*arguments: Any) -> Any:
            built.update_state(*arguments)
            return built.result()

        return Call(update, inputs)

    programs(name)(build)


ONE_HOT = np.eye(3, dtype="float32")[integers(3, 6)]
metric("metrics.GeometricMean", tfa.metrics.GeometricMean, floats(4))
metric("metrics.HarmonicMean", tfa.metrics.HarmonicMean, floats(4))
metric(
    "metrics.MatthewsCorrelationCoefficient",
    lambda: tfa.metrics.MatthewsCorrelationCoefficient(3),
    ONE_HOT,
    floats(6, 3),
)
metric("metrics.RSquare", tfa.metrics.RSquare, floats(6), floats(6))
metric(
    "metrics.RSquare regressors",
    lambda: tfa.metrics.RSquare(num_regressors=2),
    floats(6),
    floats(6),
)
metric(
    "metrics.CohenKappa",
    lambda: tfa.metrics.CohenKappa(3, sparse_labels=True),
    integers(3, 6),
    integers(3, 6),
)
metric("metrics.F1Score", lambda: tfa.metrics.F1Score(3), ONE_HOT, floats(6, 3))
metric(
    "metrics.HammingLoss",
    lambda: tfa.metrics.HammingLoss(mode="multiclass", threshold=0.5),
    ONE_HOT,
    floats(6, 3),
)
metric(
    "metrics.MultiLabelConfusionMatrix",
    lambda: tfa.metrics.MultiLabelConfusionMatrix(3),
    ONE_HOT,
    (floats(6, 3) > 0.5).astype("float32"),
)
metric("metrics.SpearmansRank", tfa.metrics.SpearmansRank, floats(6), floats(6))
metric(
    "metrics.KendallsTau",
    lambda: tfa.metrics.KendallsTauB(0.0, 1.0, 0.0, 1.0, 4, 4),
    floats(6),
    floats(6),
)

LABELS = integers(3, 6)
plain("losses.contrastive", tfa.losses.contrastive_loss, integers(2, 6), floats(6), gradient=True)
plain(
    "losses.sigmoid_focal_crossentropy",
    tfa.losses.sigmoid_focal_crossentropy,
    ONE_HOT,
    floats(6, 3),
    gradient=True,
)
plain("losses.giou", tfa.losses.giou_loss, floats(6, 4), floats(6, 4), gradient=True)
plain("losses.lifted_struct", tfa.losses.lifted_struct_loss, LABELS, floats(6, 4), gradient=True)
plain("losses.npairs", tfa.losses.npairs_loss, LABELS, floats(6, 6), gradient=True)
plain(
    "losses.npairs_multilabel",
    tfa.losses.npairs_multilabel_loss,
    (floats(6, 3) > 0.3).astype("float32"),
    floats(6, 6),
    gradient=True,
)
plain("losses.pinball", tfa.losses.pinball_loss, floats(6), floats(6), gradient=True)
plain(
    "losses.sparsemax",
    lambda x, y: tfa.losses.sparsemax_loss(x, tfa.activations.sparsemax(x), y),
    floats(6, 3),
    ONE_HOT,
    gradient=True,
)
plain(
    "losses.triplet_semihard", tfa.losses.triplet_semihard_loss, LABELS, floats(6, 4), gradient=True
)
plain("losses.triplet_hard", tfa.losses.triplet_hard_loss, LABELS, floats(6, 4), gradient=True)
plain(
    "losses.WeightedKappaLoss",
    tfa.losses.WeightedKappaLoss(3),
    ONE_HOT,
    floats(6, 3),
    gradient=True,
)

layer(
    "layers.AdaptiveAveragePooling2D",
    lambda: tfa.layers.AdaptiveAveragePooling2D(3),
    floats(2, 9, 9, 3),
)
layer("layers.AdaptiveMaxPooling2D", lambda: tfa.layers.AdaptiveMaxPooling2D(3), floats(2, 9, 9, 3))
layer("layers.GELU", lambda: tfa.layers.GELU(), floats(2, 3))
layer(
    "layers.MaxUnpooling2DV2",
    lambda: tfa.layers.MaxUnpooling2DV2((2, 8, 8, 3)),
    floats(2, 4, 4, 3),
    integers(192, 2, 4, 4, 3).astype("int64"),
)
layer("layers.Maxout", lambda: tfa.layers.Maxout(3), floats(2, 6))
layer(
    "layers.MultiHeadAttention",
    lambda: tfa.layers.MultiHeadAttention(4, 2),
    [floats(2, 5, 8), floats(2, 5, 8)],
)
layer(
    "layers.FilterResponseNormalization", lambda: tfa.layers.FilterResponseNormalization(), IMAGES
)
layer("layers.GroupNormalization", lambda: tfa.layers.GroupNormalization(3), IMAGES)
layer("layers.InstanceNormalization", lambda: tfa.layers.InstanceNormalization(), IMAGES)
layer("layers.PoincareNormalize", lambda: tfa.layers.PoincareNormalize(), floats(2, 6))
layer(
    "layers.PolynomialCrossing",
    lambda: tfa.layers.PolynomialCrossing(),
    [floats(2, 6), floats(2, 6)],
)
layer("layers.Snake", lambda: tfa.layers.Snake(), floats(2, 6))
layer("layers.Sparsemax", lambda: tfa.layers.Sparsemax(), floats(2, 6))
layer("layers.SpatialPyramidPooling2D", lambda: tfa.layers.SpatialPyramidPooling2D([1, 2]), IMAGES)
layer("layers.TLU", lambda: tfa.layers.TLU(), floats(2, 6))
layer(
    "layers.WeightNormalization",
    lambda: tfa.layers.WeightNormalization(tf.keras.layers.Dense(4)),
    floats(2, 6),
)
layer(
    "layers.SpectralNormalization",
    lambda: tfa.layers.SpectralNormalization(tf.keras.layers.Dense(4)),
    floats(2, 6),
)
layer("layers.ESN", lambda: tfa.layers.ESN(4, connectivity=0.9), floats(2, 5, 6))
layer("layers.StochasticDepth", lambda: tfa.layers.StochasticDepth(), [IMAGES, IMAGES])
layer("layers.NoisyDense", lambda: tfa.layers.NoisyDense(4), floats(2, 6))
layer("layers.CRF", lambda: tfa.layers.CRF(4), floats(2, 5, 6))
layer("layers.NetVLAD", lambda: netvlad.NetVLAD(4), floats(2, 5, 6))
layer("rnn.NASCell", lambda: tf.keras.layers.RNN(tfa.rnn.NASCell(4)), floats(2, 5, 6))
layer(
    "rnn.LayerNormLSTMCell",
    lambda: tf.keras.layers.RNN(tfa.rnn.LayerNormLSTMCell(4)),
    floats(2, 5, 6),
)
layer(
    "rnn.PeepholeLSTMCell",
    lambda: tf.keras.layers.RNN(tfa.rnn.PeepholeLSTMCell(4)),
    floats(2, 5, 6),
)


@programs("rnn.ESNCell built inside")
def _() -> Call:
    def run(x: Any) -> Any:
        # As in a model whose first call is a compiled step: weights are lifted out, their initializers are compiled.
        global _CELL
        if _CELL is None:
            _CELL = tfa.rnn.ESNCell(4, connectivity=0.9)
        return _CELL(x, [x[:, :4]])[0]

    return Call(run, [floats(2, 6)])


_CELL: Any = None


def step(name: str, make: Callable[[], Any]) -> None:
    """A program that applies an optimizer to a dense gradient."""

    def build() -> Call:
        weights = tf.Variable(floats(4, 3))
        optimizer = make()
        optimizer.apply_gradients([(tf.ones_like(weights), weights)])

        def train(gradient: Any) -> Any:
            optimizer.apply_gradients([(gradient, weights)])
            return weights.read_value()

        return Call(train, [floats(4, 3)])

    programs(name)(build)


def sparse_step(name: str, make: Callable[[], Any]) -> None:
    """A program that applies an optimizer to the gradient of an embedding."""

    def build() -> Call:
        weights = tf.Variable(floats(4, 3))
        optimizer = make()
        optimizer.apply_gradients([(tf.IndexedSlices(floats(2, 3), [0, 2], [4, 3]), weights)])

        def train(gradient: Any, rows: Any) -> Any:
            optimizer.apply_gradients([(tf.IndexedSlices(gradient, rows, [4, 3]), weights)])
            return weights.read_value()

        return Call(train, [floats(2, 3), np.array([0, 2], "int32")])

    programs(name)(build)


step(
    "optimizers.MovingAverage",
    lambda: tfa.optimizers.MovingAverage(tf.keras.optimizers.legacy.SGD(0.1), start_step=2),
)
step("optimizers.LAMB", lambda: tfa.optimizers.LAMB(0.1))
step("optimizers.LazyAdam", lambda: tfa.optimizers.LazyAdam(0.1))
step("optimizers.Lookahead", lambda: tfa.optimizers.Lookahead(tf.keras.optimizers.legacy.SGD(0.1)))
step("optimizers.RectifiedAdam", lambda: tfa.optimizers.RectifiedAdam(0.1))
step("optimizers.Yogi", lambda: tfa.optimizers.Yogi(0.1))
step("optimizers.AdaBelief", lambda: tfa.optimizers.AdaBelief(0.1))
step("optimizers.SWA", lambda: tfa.optimizers.SWA(tf.keras.optimizers.legacy.SGD(0.1), 1, 2))
step("optimizers.NovoGrad", lambda: tfa.optimizers.NovoGrad(0.1))
step("optimizers.ConditionalGradient", lambda: tfa.optimizers.ConditionalGradient(0.1, 1.0))
step("optimizers.COCOB", lambda: tfa.optimizers.COCOB())
step("optimizers.AdamW", lambda: tfa.optimizers.AdamW(0.01, 0.1))
sparse_step("optimizers.NovoGrad sparse", lambda: tfa.optimizers.NovoGrad(0.1))
sparse_step("optimizers.ProximalAdagrad sparse", lambda: tfa.optimizers.ProximalAdagrad(0.1))
sparse_step("optimizers.LazyAdam sparse", lambda: tfa.optimizers.LazyAdam(0.1))

TAGS = integers(4, 2, 5)
LENGTHS = np.array([3, 5], "int32")
plain(
    "text.crf_log_likelihood",
    lambda x, t, n, w: tfa.text.crf_log_likelihood(x, t, n, w),
    floats(2, 5, 4),
    TAGS,
    LENGTHS,
    floats(4, 4),
    gradient=True,
)
plain(
    "text.crf_decode",
    lambda x, w, n: tfa.text.crf_decode(x, w, n),
    floats(2, 5, 4),
    floats(4, 4),
    LENGTHS,
)
plain(
    "text.crf_constrained_decode",
    lambda x, w, n, t: tfa.text.crf_constrained_decode(x, t, w, n),
    floats(2, 5, 4),
    floats(4, 4),
    LENGTHS,
    (floats(2, 5, 4) > -1),
)
plain(
    "seq2seq.sequence_loss",
    lambda x, t, w: tfa.seq2seq.sequence_loss(x, t, w),
    floats(2, 5, 4),
    TAGS,
    floats(2, 5),
    gradient=True,
)
plain("seq2seq.hardmax", tfa.seq2seq.hardmax, floats(2, 5))
plain(
    "seq2seq.monotonic_attention",
    lambda p, a: tfa.seq2seq.monotonic_attention(p, a, "parallel"),
    floats(2, 5),
    floats(2, 5),
)
plain(
    "seq2seq.monotonic_attention recursive",
    lambda p, a: tfa.seq2seq.monotonic_attention(p, a, "recursive"),
    floats(2, 5),
    floats(2, 5),
)


def decode(name: str, make: Callable[[], Any], width: int) -> None:
    """A program that decodes a sequence with a sampler, as a training step does."""

    def build() -> Call:
        cell, projection = tf.keras.layers.LSTMCell(4), tf.keras.layers.Dense(width)
        decoder = tfa.seq2seq.BasicDecoder(
            cell, make(), output_layer=projection, maximum_iterations=5
        )
        state = [tf.zeros([2, 4]), tf.zeros([2, 4])]
        lengths = tf.constant([5, 5])
        decoder(tf.convert_to_tensor(floats(2, 5, 6)), initial_state=state, sequence_length=lengths)

        def run(x: Any) -> Any:
            return decoder(
                x,
                initial_state=[tf.zeros([2, 4]), tf.zeros([2, 4])],
                sequence_length=tf.constant([5, 5]),
            )[0].rnn_output

        return Call(run, [floats(2, 5, 6)])

    programs(name)(build)


decode("seq2seq.TrainingSampler", tfa.seq2seq.TrainingSampler, 6)
decode(
    "seq2seq.ScheduledEmbeddingTrainingSampler",
    lambda: tfa.seq2seq.ScheduledEmbeddingTrainingSampler(
        0.5, embedding_fn=lambda i: tf.one_hot(i, 6)
    ),
    6,
)
decode(
    "seq2seq.ScheduledOutputTrainingSampler",
    lambda: tfa.seq2seq.ScheduledOutputTrainingSampler(0.5, next_inputs_fn=lambda x: x * 2.0),
    6,
)
