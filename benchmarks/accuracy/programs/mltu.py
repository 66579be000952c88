"""Calls of mltu 1.2.5 (Keras 2): metrics and the loss of text recognition, layers and models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from mltu.tensorflow import layers, losses, metrics, model_utils
from mltu.tensorflow.transformer import attention, utils
from mltu.tensorflow.transformer import layers as blocks
from program import Call, Programs

from programs.made import floats, layer, plain

programs = Programs("mltu")
LETTERS = "abcde "
TRUE = np.asarray([[0, 1, 2, 5, 3], [4, 3, 6, 6, 6]], "int32")
OTHER = np.asarray([[0, 1, 1, 5, 2], [4, 3, 2, 6, 6]], "int32")
PREDICTED = floats(2, 8, len(LETTERS) + 1)
TOKENS = np.asarray([[2, 5, 3, 4, 0], [1, 7, 0, 0, 0]], "int64")
LOGITS = floats(2, 5, 9)
SEQUENCE, CONTEXT = floats(2, 5, 8), floats(2, 6, 8)


def _metric(name: str, make: Callable[[], Any], true: Any, predicted: Any) -> None:
    """A program that updates a metric made before, and asks for its result."""

    def build() -> Call:
        metric = make()

        def function(true: Any, predicted: Any) -> Any:
            metric.update_state(true, predicted)
            return metric.result()

        return Call(function, [true, predicted])

    programs(name)(build)


_metric("CERMetric", lambda: metrics.CERMetric(LETTERS), TRUE, PREDICTED)
_metric("WERMetric", lambda: metrics.WERMetric(LETTERS), TRUE, PREDICTED)
_metric("MaskedAccuracy", utils.MaskedAccuracy, TOKENS, LOGITS)
_metric("CERMetric of tokens", lambda: utils.CERMetric(3), TOKENS, LOGITS)
plain(
    programs,
    "get_cer",
    lambda a, b: metrics.CERMetric.get_cer(a, b, tf.constant(list(LETTERS))),
    TRUE.astype("int64"),
    OTHER,
)
plain(
    programs,
    "get_wer",
    lambda a, b: metrics.WERMetric.get_wer(a, b, tf.constant(list(LETTERS))),
    TRUE.astype("int64"),
    OTHER,
)
plain(
    programs,
    "CTCloss",
    lambda true, given: losses.CTCloss()(true, given),
    TRUE,
    PREDICTED,
    gradient=True,
)
plain(
    programs,
    "MaskedLoss",
    lambda true, given: utils.MaskedLoss()(true, given),
    TOKENS,
    LOGITS,
    gradient=True,
)
layer(programs, "SelfAttention", lambda: layers.SelfAttention(2), floats(1, 4, 4, 8))
layer(
    programs, "PositionalEmbedding", lambda: blocks.PositionalEmbedding(10, 8), TOKENS.astype("i4")
)
layer(programs, "FeedForward", lambda: blocks.FeedForward(8, 16), SEQUENCE)
layer(programs, "EncoderLayer", lambda: blocks.EncoderLayer(8, 2, 16), SEQUENCE)
layer(
    programs,
    "Encoder",
    lambda: blocks.Encoder(1, 8, 2, 16, 10),
    TOKENS.astype("i4"),
)


def _two(name: str, make: Callable[[], Any], first: Any) -> None:
    """A program that calls a layer with a sequence and what it attends to."""

    def build() -> Call:
        made = make()
        made(tf.constant(first), context=tf.constant(CONTEXT))
        return Call(lambda x, context: made(x, context=context), [first, CONTEXT], True)

    programs(name)(build)


_two("DecoderLayer", lambda: blocks.DecoderLayer(8, 2, 16), SEQUENCE)
_two("Decoder", lambda: blocks.Decoder(1, 8, 2, 16, 10), TOKENS.astype("i4"))
_two("CrossAttention", lambda: attention.CrossAttention(num_heads=2, key_dim=4), SEQUENCE)
for _kind in ("GlobalSelfAttention", "CausalSelfAttention"):
    layer(
        programs,
        _kind,
        lambda _kind=_kind: getattr(attention, _kind)(num_heads=2, key_dim=4),
        SEQUENCE,
    )
for _kind in ("relu", "leaky_relu"):
    plain(
        programs,
        f"activation {_kind}",
        lambda x, _kind=_kind: model_utils.activation_layer(x, _kind),
        SEQUENCE,
    )


def _model() -> Any:
    inputs = tf.keras.Input((5,))
    outputs = tf.keras.layers.Dense(3)(inputs)
    model = model_utils.CustomModel(inputs, outputs)
    model.compile("sgd", tf.keras.losses.MeanSquaredError(), metrics=["mae"])
    return model


def _step(name: str) -> None:
    @programs(f"CustomModel {name}")
    def build() -> Call:
        model = _model()
        step = getattr(model, name)
        step((tf.constant(floats(2, 5)), tf.constant(floats(2, 3))))
        return Call(lambda x, y: step((x, y)), [floats(2, 5), floats(2, 3)])


_step("train_step")
_step("test_step")
