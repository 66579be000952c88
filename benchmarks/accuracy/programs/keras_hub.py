"""Calls of keras-hub 0.32.0 (Keras 3): models with tiny configurations, layers, metrics and helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras_hub
import numpy as np
import tensorflow as tf
from keras_hub.src.utils import tensor_utils
from program import Call, Programs

from programs.made import floats, integers, layer, plain

programs = Programs("keras_hub")
_unconverted = tf.autograph.experimental.do_not_convert

WORDS = integers(28, 2, 8)
ONES = np.ones([2, 8], "int32")
TOKENS = {"token_ids": WORDS, "padding_mask": ONES}


def backbone(name: str, make: Callable[[], Any], inputs: Any) -> None:
    """A program that calls a model, gradient included."""

    def build() -> Call:
        made = make()
        return Call(lambda values: made(values), [inputs], True)

    programs(name)(build)


SIZES = {
    "vocabulary_size": 30,
    "num_layers": 1,
    "num_heads": 2,
    "hidden_dim": 8,
    "intermediate_dim": 16,
    "max_sequence_length": 16,
}
m = keras_hub.models
backbone("BertBackbone", lambda: m.BertBackbone(**SIZES), dict(segment_ids=ONES * 0, **TOKENS))
backbone("RobertaBackbone", lambda: m.RobertaBackbone(**SIZES), TOKENS)
backbone("DistilBertBackbone", lambda: m.DistilBertBackbone(**SIZES), TOKENS)
backbone("GPT2Backbone", lambda: m.GPT2Backbone(**SIZES), TOKENS)
backbone("OPTBackbone", lambda: m.OPTBackbone(**SIZES), TOKENS)
backbone("DebertaV3Backbone", lambda: m.DebertaV3Backbone(bucket_size=4, **SIZES), TOKENS)
backbone(
    "AlbertBackbone",
    lambda: m.AlbertBackbone(embedding_dim=8, **SIZES),
    dict(segment_ids=ONES * 0, **TOKENS),
)
backbone(
    "FNetBackbone",
    lambda: m.FNetBackbone(
        vocabulary_size=30, num_layers=1, hidden_dim=8, intermediate_dim=16, max_sequence_length=16
    ),
    {"token_ids": WORDS, "segment_ids": ONES * 0},
)
backbone(
    "BartBackbone",
    lambda: m.BartBackbone(**SIZES),
    {
        "encoder_token_ids": WORDS,
        "encoder_padding_mask": ONES,
        "decoder_token_ids": WORDS,
        "decoder_padding_mask": ONES,
    },
)
backbone(
    "T5Backbone",
    lambda: m.T5Backbone(
        vocabulary_size=30, num_layers=1, num_heads=2, hidden_dim=8, intermediate_dim=16
    ),
    {
        "encoder_token_ids": WORDS,
        "encoder_padding_mask": ONES,
        "decoder_token_ids": WORDS,
        "decoder_padding_mask": ONES,
    },
)
LLAMA = {
    "vocabulary_size": 30,
    "num_layers": 1,
    "num_query_heads": 2,
    "num_key_value_heads": 1,
    "hidden_dim": 8,
    "intermediate_dim": 16,
}
backbone("LlamaBackbone", lambda: m.LlamaBackbone(**LLAMA), TOKENS)
backbone("MistralBackbone", lambda: m.MistralBackbone(sliding_window=4, **LLAMA), TOKENS)
backbone("GemmaBackbone", lambda: m.GemmaBackbone(head_dim=4, **LLAMA), TOKENS)
backbone("XLMRobertaBackbone", lambda: m.XLMRobertaBackbone(**SIZES), TOKENS)
backbone(
    "ElectraBackbone",
    lambda: m.ElectraBackbone(
        vocab_size=30,
        num_layers=1,
        num_heads=2,
        hidden_dim=8,
        intermediate_dim=16,
        embedding_dim=8,
        max_sequence_length=16,
    ),
    dict(segment_ids=ONES * 0, **TOKENS),
)
backbone(
    "ViTBackbone",
    lambda: m.ViTBackbone(
        image_shape=(16, 16, 3), patch_size=4, num_layers=1, num_heads=2, hidden_dim=8, mlp_dim=16
    ),
    floats(2, 16, 16, 3),
)
layer(
    programs,
    "layers.TransformerEncoder",
    lambda: keras_hub.layers.TransformerEncoder(16, 2),
    floats(2, 6, 8),
)
layer(
    programs,
    "layers.TransformerDecoder",
    lambda: keras_hub.layers.TransformerDecoder(16, 2),
    floats(2, 6, 8),
)
layer(
    programs,
    "layers.RotaryEmbedding",
    lambda: keras_hub.layers.RotaryEmbedding(),
    floats(2, 6, 2, 8),
)
layer(
    programs,
    "layers.SinePositionEncoding",
    lambda: keras_hub.layers.SinePositionEncoding(),
    floats(2, 6, 8),
)
layer(
    programs,
    "layers.PositionEmbedding",
    lambda: keras_hub.layers.PositionEmbedding(6),
    floats(2, 6, 8),
)
layer(programs, "layers.FNetEncoder", lambda: keras_hub.layers.FNetEncoder(16), floats(2, 6, 8))
layer(programs, "layers.AlibiBias", lambda: keras_hub.layers.AlibiBias(), floats(2, 2, 6, 6))
layer(
    programs,
    "layers.TokenAndPositionEmbedding",
    lambda: keras_hub.layers.TokenAndPositionEmbedding(30, 8, 8),
    WORDS,
)


def metric(name: str, make: Callable[[], Any], *inputs: Any) -> None:
    """A program that updates a metric and reads its result."""

    def build() -> Call:
        made = make()
        made.update_state(*[tf.constant(value) for value in inputs])

        def update(*arguments: Any) -> Any:
            made.update_state(*arguments)
            return made.result()

        return Call(_unconverted(update), inputs)

    programs(name)(build)


metric(
    "metrics.Perplexity",
    lambda: keras_hub.metrics.Perplexity(from_logits=True),
    WORDS,
    floats(2, 8, 30),
)
metric("metrics.EditDistance", lambda: keras_hub.metrics.EditDistance(), WORDS, WORDS)
metric(
    "metrics.EditDistance unnormalized",
    lambda: keras_hub.metrics.EditDistance(normalize=False),
    WORDS,
    WORDS,
)
metric(
    "metrics.Bleu", lambda: keras_hub.metrics.Bleu(), np.array([["a b c d"]]), np.array(["a b c"])
)


def result(name: str, make: Callable[[], Any]) -> None:
    """A program that reads a metric's result, as an evaluation step does."""

    def build() -> Call:
        made = make()
        # Keras 3 calls a metric from code that AutoGraph does not convert.
        return Call(
            _unconverted(lambda x: tf.nest.map_structure(lambda t: t + x, made.result())),
            [np.float32(0)],
        )

    programs(name)(build)


result("metrics.EditDistance.result", lambda: keras_hub.metrics.EditDistance())
result(
    "metrics.EditDistance.result unnormalized",
    lambda: keras_hub.metrics.EditDistance(normalize=False),
)
plain(
    programs, "tensor_utils.convert_to_numpy", lambda x: tensor_utils.convert_to_numpy(x), floats(4)
)
plain(programs, "tensor_utils.tensor_to_list", lambda x: tensor_utils.tensor_to_list(x), floats(4))


@programs("metrics.Bleu.result")
def _() -> Call:
    made = keras_hub.metrics.Bleu()
    made.update_state([["a b c d"]], ["a b c"])
    return Call(_unconverted(lambda x: made.result() + x), [np.float32(0)])


@programs("metrics.Bleu._tokenizer")
def _() -> Call:
    made = keras_hub.metrics.Bleu()
    return Call(lambda x: made._tokenizer(x).flat_values, [np.array(["a b. c"])])


@programs("qwen3_5.Qwen3_5VisionEncoder._fast_pos_embed_interpolate")
def _() -> Call:
    return Call(
        _unconverted(lambda grid: _vision()._fast_pos_embed_interpolate(grid)),
        [np.array([[1, 4, 4]], "int32")],
    )


@programs("qwen3_5.Qwen3_5VisionEncoder._rot_pos_emb")
def _() -> Call:
    return Call(
        _unconverted(lambda grid: _vision()._rot_pos_emb(grid)), [np.array([[1, 4, 4]], "int32")]
    )


def _vision() -> Any:
    from keras_hub.src.models.qwen3_5 import qwen3_5_vision_encoder

    with tf.init_scope():
        made = qwen3_5_vision_encoder.Qwen3_5VisionEncoder(
            depth=1, hidden_size=8, num_heads=2, intermediate_size=16, num_position_embeddings=16
        )
        made.build(None) if not made.built else None
    return made


@programs("gemma4.Gemma4AspectRatioResizing")
def _() -> Call:
    from keras_hub.src.models.gemma4 import gemma4_image_converter

    made = gemma4_image_converter.Gemma4AspectRatioResizing(
        patch_size=2, max_soft_tokens=4, pooling_kernel_size=2
    )
    return Call(lambda x: made(x), [floats(1, 12, 12, 3)])
