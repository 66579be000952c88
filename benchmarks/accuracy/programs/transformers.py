"""Models of transformers 4.46.3 with tiny configurations (tf_keras): forward pass, loss and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import transformers as hf
from program import Call, Programs

from programs.made import floats, integers

programs = Programs("transformers")

SMALL = {
    "vocab_size": 30,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 32,
}
IMAGE = {
    "image_size": 16,
    "patch_size": 4,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}
WORDS = integers(28, 2, 8) + 2
MASK = np.array([[1] * 8, [1] * 5 + [0] * 3], "int32")
PIXELS = floats(2, 3, 16, 16)


def model(
    name: str, make: Callable[[], Any], gradient: bool = True, output: Any = None, **inputs: Any
) -> None:
    """A program that calls a model in training mode; with labels the result is the loss."""

    def build() -> Call:
        made = make()
        made({key: tf.constant(value) for key, value in inputs.items()}, training=False)

        def run(values: Any) -> Any:
            given = made(values, training=False)
            if output is not None:
                return given[output]
            return given.loss if "labels" in inputs or "start_positions" in inputs else given[0]

        return Call(run, [inputs], gradient)

    programs(name)(build)


ids = {"input_ids": WORDS, "attention_mask": MASK}
LANGUAGE = np.where(MASK > 0, WORDS, -100)
model("TFBertModel", lambda: hf.TFBertModel(hf.BertConfig(**SMALL)), **ids)
model(
    "TFBertForTokenClassification",
    lambda: hf.TFBertForTokenClassification(hf.BertConfig(**SMALL)),
    labels=np.where(MASK > 0, 1, -100),
    **ids,
)
model(
    "TFBertForSequenceClassification",
    lambda: hf.TFBertForSequenceClassification(hf.BertConfig(**SMALL)),
    labels=integers(2, 2),
    **ids,
)
model(
    "TFBertForMaskedLM",
    lambda: hf.TFBertForMaskedLM(hf.BertConfig(**SMALL)),
    labels=LANGUAGE,
    **ids,
)
model(
    "TFBertForNextSentencePrediction",
    lambda: hf.TFBertForNextSentencePrediction(hf.BertConfig(**SMALL)),
    output="loss",
    next_sentence_label=integers(2, 2),
    **ids,
)
model(
    "TFBertForQuestionAnswering",
    lambda: hf.TFBertForQuestionAnswering(hf.BertConfig(**SMALL)),
    start_positions=integers(5, 2),
    end_positions=integers(5, 2),
    **ids,
)
model(
    "TFAlbertForPreTraining",
    lambda: hf.TFAlbertForPreTraining(hf.AlbertConfig(embedding_size=8, **SMALL)),
    labels=LANGUAGE,
    sentence_order_label=integers(2, 2),
    **ids,
)
LEGACY = dict(tf_legacy_loss=True, **SMALL)
NEXT = {"next_sentence_label": integers(2, 2)}
model(
    "TFBertForTokenClassification legacy loss",
    lambda: hf.TFBertForTokenClassification(hf.BertConfig(**LEGACY)),
    gradient=False,
    labels=np.where(MASK > 0, 1, -100),
    **ids,
)
model(
    "TFBertForMaskedLM legacy loss",
    lambda: hf.TFBertForMaskedLM(hf.BertConfig(**LEGACY)),
    labels=LANGUAGE,
    **ids,
)
model(
    "TFBertForNextSentencePrediction legacy loss",
    lambda: hf.TFBertForNextSentencePrediction(hf.BertConfig(**LEGACY)),
    output="loss",
    **NEXT,
    **ids,
)
model(
    "TFAlbertForPreTraining legacy loss",
    lambda: hf.TFAlbertForPreTraining(hf.AlbertConfig(embedding_size=8, **LEGACY)),
    labels=LANGUAGE,
    sentence_order_label=integers(2, 2),
    **ids,
)
model(
    "TFRobertaForMaskedLM",
    lambda: hf.TFRobertaForMaskedLM(hf.RobertaConfig(**SMALL)),
    labels=LANGUAGE,
    **ids,
)
model(
    "TFDistilBertModel",
    lambda: hf.TFDistilBertModel(
        hf.DistilBertConfig(
            vocab_size=30, dim=8, n_layers=2, n_heads=2, hidden_dim=16, max_position_embeddings=32
        )
    ),
    **ids,
)
model(
    "TFElectraModel", lambda: hf.TFElectraModel(hf.ElectraConfig(embedding_size=8, **SMALL)), **ids
)
model(
    "TFDebertaModel",
    lambda: hf.TFDebertaModel(
        hf.DebertaConfig(**SMALL, relative_attention=True, pos_att_type=["c2p", "p2c"])
    ),
    **ids,
)
model(
    "TFDebertaV2Model",
    lambda: hf.TFDebertaV2Model(
        hf.DebertaV2Config(**SMALL, relative_attention=True, pos_att_type=["c2p", "p2c"])
    ),
    **ids,
)
model("TFMPNetModel", lambda: hf.TFMPNetModel(hf.MPNetConfig(**SMALL)), **ids)
model(
    "TFConvBertModel",
    lambda: hf.TFConvBertModel(hf.ConvBertConfig(embedding_size=8, **SMALL)),
    **ids,
)
model(
    "TFFunnelModel",
    lambda: hf.TFFunnelModel(
        hf.FunnelConfig(
            vocab_size=30,
            d_model=8,
            n_head=2,
            d_head=4,
            d_inner=16,
            block_sizes=[1, 1],
            num_decoder_layers=1,
        )
    ),
    **ids,
)
model(
    "TFXLNetModel",
    lambda: hf.TFXLNetModel(
        hf.XLNetConfig(vocab_size=30, d_model=8, n_layer=2, n_head=2, d_inner=16)
    ),
    **ids,
)
model(
    "TFGPT2LMHeadModel",
    lambda: hf.TFGPT2LMHeadModel(
        hf.GPT2Config(vocab_size=30, n_embd=8, n_layer=2, n_head=2, n_positions=32)
    ),
    labels=LANGUAGE,
    **ids,
)
model(
    "TFGPTJModel",
    lambda: hf.TFGPTJModel(
        hf.GPTJConfig(vocab_size=30, n_embd=8, n_layer=2, n_head=2, n_positions=32, rotary_dim=4)
    ),
    **ids,
)
model(
    "TFOPTModel",
    lambda: hf.TFOPTModel(
        hf.OPTConfig(
            vocab_size=30,
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            ffn_dim=16,
            word_embed_proj_dim=8,
        )
    ),
    **ids,
)
model(
    "TFCTRLModel",
    lambda: hf.TFCTRLModel(
        hf.CTRLConfig(vocab_size=30, n_embd=8, n_layer=2, n_head=2, dff=16, n_positions=32)
    ),
    **ids,
)
model(
    "TFT5ForConditionalGeneration",
    lambda: hf.TFT5ForConditionalGeneration(
        hf.T5Config(
            vocab_size=30,
            d_model=8,
            d_kv=4,
            d_ff=16,
            num_layers=2,
            num_heads=2,
            decoder_start_token_id=0,
        )
    ),
    labels=LANGUAGE,
    **ids,
)
model(
    "TFBartForConditionalGeneration",
    lambda: hf.TFBartForConditionalGeneration(
        hf.BartConfig(
            vocab_size=30,
            d_model=8,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=32,
        )
    ),
    labels=np.where(MASK > 0, WORDS, -100),
    **ids,
)
LED = {
    "vocab_size": 30,
    "d_model": 8,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_encoder_position_embeddings": 32,
    "max_decoder_position_embeddings": 32,
    "attention_window": [4],
}
GLOBAL = np.array([[1] + [0] * 7] * 2, "int32")
model(
    "TFLEDModel",
    lambda: hf.TFLEDModel(hf.LEDConfig(**LED)),
    gradient=False,
    decoder_input_ids=WORDS,
    **ids,
)
model(
    "TFLEDModel global",
    lambda: hf.TFLEDModel(hf.LEDConfig(**LED)),
    gradient=False,
    decoder_input_ids=WORDS,
    global_attention_mask=GLOBAL,
    **ids,
)
model(
    "TFLEDForConditionalGeneration",
    lambda: hf.TFLEDForConditionalGeneration(hf.LEDConfig(**LED)),
    gradient=False,
    labels=WORDS,
    **ids,
)
model(
    "TFLongformerModel",
    lambda: hf.TFLongformerModel(hf.LongformerConfig(attention_window=[4, 4], **SMALL)),
    gradient=False,
    **ids,
)
model(
    "TFLongformerModel global",
    lambda: hf.TFLongformerModel(hf.LongformerConfig(attention_window=[4, 4], **SMALL)),
    gradient=False,
    global_attention_mask=GLOBAL,
    **ids,
)
model(
    "TFLayoutLMv3Model",
    lambda: hf.TFLayoutLMv3Model(
        hf.LayoutLMv3Config(
            coordinate_size=1,
            shape_size=2,
            visual_embed=False,
            has_relative_attention_bias=False,
            has_spatial_attention_bias=False,
            **SMALL,
        )
    ),
    gradient=False,
    bbox=integers(30, 2, 8, 4),
    **ids,
)
model(
    "TFLayoutLMv3Model head_mask",
    lambda: hf.TFLayoutLMv3Model(
        hf.LayoutLMv3Config(
            coordinate_size=1,
            shape_size=2,
            visual_embed=False,
            has_relative_attention_bias=False,
            has_spatial_attention_bias=False,
            **SMALL,
        )
    ),
    gradient=False,
    bbox=integers(30, 2, 8, 4),
    head_mask=np.ones([2, 2], "float32"),
    **ids,
)
model("TFViTModel", lambda: hf.TFViTModel(hf.ViTConfig(**IMAGE)), pixel_values=PIXELS)
model("TFDeiTModel", lambda: hf.TFDeiTModel(hf.DeiTConfig(**IMAGE)), pixel_values=PIXELS)
model(
    "TFSwinModel",
    lambda: hf.TFSwinModel(
        hf.SwinConfig(
            image_size=16, patch_size=2, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=2
        )
    ),
    pixel_values=PIXELS,
)
model(
    "TFConvNextModel",
    lambda: hf.TFConvNextModel(hf.ConvNextConfig(hidden_sizes=[8, 8, 8, 8], depths=[1, 1, 1, 1])),
    pixel_values=floats(2, 3, 32, 32),
)
model(
    "TFResNetModel",
    lambda: hf.TFResNetModel(hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1])),
    pixel_values=floats(2, 3, 32, 32),
)
SEGFORMER = {
    "hidden_sizes": [8, 8, 8, 8],
    "num_attention_heads": [1, 1, 2, 2],
    "depths": [1, 1, 1, 1],
    "decoder_hidden_size": 8,
}
model(
    "TFSegformerModel",
    lambda: hf.TFSegformerModel(hf.SegformerConfig(**SEGFORMER)),
    pixel_values=floats(2, 3, 32, 32),
)
model(
    "TFSegformerModel tuple",
    lambda: hf.TFSegformerModel(hf.SegformerConfig(return_dict=False, **SEGFORMER)),
    gradient=False,
    output=0,
    pixel_values=floats(2, 3, 32, 32),
)
model(
    "TFCLIPModel",
    lambda: hf.TFCLIPModel(
        hf.CLIPConfig(text_config=dict(SMALL), vision_config=dict(IMAGE), projection_dim=8)
    ),
    gradient=False,
    pixel_values=PIXELS,
    **ids,
)
GROUP = {
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "depths": [1, 1, 0],
    "num_group_tokens": [4, 2, 0],
    "num_output_groups": [4, 2, 0],
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 4,
}
model(
    "TFGroupViTVisionModel",
    lambda: hf.TFGroupViTVisionModel(hf.GroupViTVisionConfig(**GROUP)),
    gradient=False,
    pixel_values=PIXELS,
)
model(
    "TFViTMAEModel",
    lambda: hf.TFViTMAEModel(
        hf.ViTMAEConfig(
            decoder_hidden_size=8,
            decoder_num_hidden_layers=1,
            decoder_num_attention_heads=2,
            decoder_intermediate_size=16,
            **IMAGE,
        )
    ),
    gradient=False,
    pixel_values=PIXELS,
)
WAVE = {
    "vocab_size": 30,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "conv_dim": [8, 8],
    "conv_stride": [4, 4],
    "conv_kernel": [4, 4],
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "num_feat_extract_layers": 2,
    "mask_time_length": 2,
}
model(
    "TFWav2Vec2Model",
    lambda: hf.TFWav2Vec2Model(hf.Wav2Vec2Config(**WAVE)),
    gradient=False,
    input_values=floats(2, 256),
)
model(
    "TFWav2Vec2ForCTC",
    lambda: hf.TFWav2Vec2ForCTC(hf.Wav2Vec2Config(**WAVE)),
    gradient=False,
    input_values=floats(2, 256),
    labels=integers(28, 2, 4) + 1,
)
model(
    "TFHubertForCTC",
    lambda: hf.TFHubertForCTC(hf.HubertConfig(**WAVE)),
    gradient=False,
    input_values=floats(2, 256),
    labels=integers(28, 2, 4) + 1,
)
model(
    "TFWhisperModel",
    lambda: hf.TFWhisperModel(
        hf.WhisperConfig(
            vocab_size=30,
            d_model=8,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_source_positions=16,
            max_target_positions=16,
            num_mel_bins=8,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    ),
    gradient=False,
    input_features=floats(2, 8, 32),
    decoder_input_ids=WORDS,
)


def masked(name: str, module: str) -> None:
    """SpecAugment, which models run in training."""

    def build() -> Call:
        import importlib

        found = importlib.import_module(module)
        return Call(
            lambda x: tf.cast(found._compute_mask_indices((2, 16), 0.5, 2), tf.float32) + x,
            [floats(2, 16)],
        )

    programs(name)(build)


masked("wav2vec2._compute_mask_indices", "transformers.models.wav2vec2.modeling_tf_wav2vec2")
masked("hubert._compute_mask_indices", "transformers.models.hubert.modeling_tf_hubert")


def interpolated(name: str, module: str, make: Callable[[Any], Any]) -> None:
    """Position embeddings for a picture of another size than the model was made for."""

    def build() -> Call:
        import importlib

        made = make(importlib.import_module(module))
        made.build(None) if not made.built else None
        return Call(lambda x: made.interpolate_pos_encoding(x, 24, 24), [floats(2, 37, 8)])

    programs(name)(build)


interpolated(
    "vit.interpolate_pos_encoding",
    "transformers.models.vit.modeling_tf_vit",
    lambda m: m.TFViTEmbeddings(hf.ViTConfig(**IMAGE)),
)
interpolated(
    "deit.interpolate_pos_encoding",
    "transformers.models.deit.modeling_tf_deit",
    lambda m: m.TFDeiTEmbeddings(hf.DeiTConfig(**IMAGE)),
)
interpolated(
    "vit_mae.interpolate_pos_encoding",
    "transformers.models.vit_mae.modeling_tf_vit_mae",
    lambda m: m.TFViTMAEEmbeddings(hf.ViTMAEConfig(**IMAGE)),
)
interpolated(
    "groupvit.interpolate_pos_encoding",
    "transformers.models.groupvit.modeling_tf_groupvit",
    lambda m: m.TFGroupViTVisionEmbeddings(hf.GroupViTVisionConfig(**GROUP)),
)


@programs("deberta.torch_gather")
def _() -> Call:
    from transformers.models.deberta import modeling_tf_deberta

    return Call(
        lambda x, i: modeling_tf_deberta.torch_gather(x, i, -1),
        [floats(2, 2, 4, 6), integers(6, 2, 2, 4, 4)],
    )


@programs("deberta.torch_gather second to last")
def _() -> Call:
    from transformers.models.deberta import modeling_tf_deberta

    return Call(
        lambda x, i: modeling_tf_deberta.torch_gather(x, i, -2),
        [floats(2, 2, 4, 6), integers(4, 2, 2, 4, 6)],
    )


@programs("idefics.TFIdeficsDecoupledEmbedding")
def _() -> Call:
    from transformers.models.idefics import modeling_tf_idefics

    made = modeling_tf_idefics.TFIdeficsDecoupledEmbedding(
        num_embeddings=20, num_additional_embeddings=10, embedding_dim=8
    )
    made.build(None) if not made.built else None
    made(tf.constant(WORDS))
    return Call(lambda x: made(x), [WORDS])


@programs("generation.TFNoBadWordsLogitsProcessor")
def _() -> Call:
    from transformers.generation import tf_logits_process

    made = tf_logits_process.TFNoBadWordsLogitsProcessor([[3], [4, 5]], eos_token_id=2)
    return Call(lambda i, s: made(i, s, 8), [WORDS, floats(2, 30)])


def processor(name: str, make: Callable[[Any], Any]) -> None:
    """A step of text generation."""

    def build() -> Call:
        from transformers.generation import tf_logits_process

        made = make(tf_logits_process)
        return Call(lambda i, s: made(i, s, 8), [WORDS, floats(2, 30)])

    programs(name)(build)


processor("generation.TFTemperatureLogitsWarper", lambda m: m.TFTemperatureLogitsWarper(0.7))
processor("generation.TFTopKLogitsWarper", lambda m: m.TFTopKLogitsWarper(5))
processor("generation.TFTopPLogitsWarper", lambda m: m.TFTopPLogitsWarper(0.8))
processor("generation.TFMinLengthLogitsProcessor", lambda m: m.TFMinLengthLogitsProcessor(10, 2))
processor(
    "generation.TFRepetitionPenaltyLogitsProcessor",
    lambda m: m.TFRepetitionPenaltyLogitsProcessor(1.2),
)
processor(
    "generation.TFNoRepeatNGramLogitsProcessor", lambda m: m.TFNoRepeatNGramLogitsProcessor(2)
)
processor(
    "generation.TFForcedBOSTokenLogitsProcessor", lambda m: m.TFForcedBOSTokenLogitsProcessor(1)
)
processor(
    "generation.TFSuppressTokensLogitsProcessor",
    lambda m: m.TFSuppressTokensLogitsProcessor([1, 2]),
)


@programs("rag._mask_pads and loss of transfo_xl")
def _() -> Call:
    from transformers.models.deprecated.transfo_xl import (
        modeling_tf_transfo_xl_utilities as utilities,
    )

    made = utilities.TFAdaptiveSoftmaxMask(30, 8, 8, [10, 20], div_val=1)
    made.build(None) if not made.built else None
    return Call(lambda x, y: made(x, y), [floats(2, 8, 8), WORDS - 1])


@programs("transfo_xl.TFAdaptiveEmbedding")
def _() -> Call:
    from transformers.models.deprecated.transfo_xl import modeling_tf_transfo_xl

    made = modeling_tf_transfo_xl.TFAdaptiveEmbedding(30, 8, 8, [10, 20], div_val=2)
    made(tf.constant(WORDS))
    return Call(lambda x: made(x), [WORDS])
