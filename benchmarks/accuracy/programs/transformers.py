"""Models of transformers 4.46.3 with tiny configurations (tf_keras): forward pass, loss and gradient."""

from __future__ import annotations

import inspect
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


# Every class below is made with the smallest of its own configuration that runs.
TINY = {
    **SMALL,
    **dict.fromkeys("d_model dim n_embd emb_dim embedding_size".split(), 8),
    **dict.fromkeys(
        "num_layers n_layer n_layers num_heads n_head n_heads attention_heads".split(), 2
    ),
    **dict.fromkeys("encoder_layers decoder_layers".split(), 1),
    **dict.fromkeys("encoder_attention_heads decoder_attention_heads".split(), 2),
    **dict.fromkeys(
        "d_inner d_ff dff hidden_dim ffn_dim encoder_ffn_dim decoder_ffn_dim".split(), 16
    ),
    **dict.fromkeys("n_positions n_ctx max_source_positions max_target_positions".split(), 32),
    "d_kv": 4,
    "image_size": 16,
    "patch_size": 4,
}
COMMON = {"num_labels": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LABELS = integers(2, 2)
CHOICES = {
    "input_ids": integers(26, 2, 2, 8) + 3,
    "attention_mask": np.ones([2, 2, 8], "int32"),
}
SOUND = {
    "input_values": floats(2, 256),
    "attention_mask": np.array([[1] * 256, [1] * 200 + [0] * 56], "int32"),
}
SCENE = floats(2, 3, 32, 32)
PICTURE = {"pixel_values": PIXELS}


def tiny(name: str, **over: Any) -> Any:
    """A configuration of that class, as small as it goes."""
    kind = getattr(hf, f"{name}Config")
    known = {*inspect.signature(kind.__init__).parameters, *getattr(kind, "attribute_map", {})}
    return kind(**{**{k: v for k, v in TINY.items() if k in known}, **COMMON, **over})


def called(
    name: str,
    kind: str,
    make: Callable[[], Any],
    inputs: dict[str, Any],
    output: str | None = None,
    training: bool = False,
    gradient: bool = False,
    **options: Any,
) -> None:
    """A program that calls a model: all that it returns, or the one `output`."""

    def build() -> Call:
        made = getattr(hf, kind)(make())
        made(tf.nest.map_structure(tf.constant, inputs), training=training, **options)

        def run(values: Any) -> Any:
            given = made(values, training=training, **options)
            if output is not None:
                return given[output]
            return [value for value in tf.nest.flatten(given.to_tuple()) if value is not None]

        return Call(run, [inputs], gradient)

    programs(name)(build)


def trained(name: str, kind: str, make: Callable[[], Any], inputs: dict[str, Any]) -> None:
    """A program of a model's loss and gradient in training mode."""
    called(name, kind, make, inputs, "loss", training=True, gradient=True)


def everything(name: str, kind: str, make: Callable[[], Any], inputs: dict[str, Any]) -> None:
    """A program of all that a model can be asked for."""
    asked = {"output_attentions": True, "output_hidden_states": True}
    called(name, kind, make, inputs, **asked)


SPOKEN = {
    **WAVE,
    **COMMON,
    "mask_time_prob": 0.5,
    "mask_feature_length": 2,
    "mask_feature_prob": 0.0,
    "ctc_zero_infinity": True,
}
for spoken in ("Wav2Vec2", "Hubert"):
    for norm in ("group", "layer"):
        called(
            f"TF{spoken}Model {norm} training",
            f"TF{spoken}Model",
            lambda spoken=spoken, norm=norm: tiny(
                spoken,
                **{**SPOKEN, "feat_extract_norm": norm, "do_stable_layer_norm": norm == "layer"},
            ),
            SOUND,
            training=True,
        )
    trained(
        f"TF{spoken}ForCTC mean",
        f"TF{spoken}ForCTC",
        lambda spoken=spoken: tiny(spoken, **{**SPOKEN, "ctc_loss_reduction": "mean"}),
        {**SOUND, "labels": np.array([[3, 4, 5, 6], [3, 4, -100, -100]], "int32")},
    )
trained(
    "TFWhisperForConditionalGeneration training",
    "TFWhisperForConditionalGeneration",
    lambda: tiny(
        "Whisper",
        num_mel_bins=8,
        decoder_start_token_id=1,
        max_source_positions=16,
        apply_spec_augment=True,
        mask_time_prob=0.5,
        mask_time_length=2,
    ),
    {"input_features": floats(2, 8, 32), "labels": LANGUAGE},
)
HEARD = {
    "input_feat_per_channel": 8,
    "input_channels": 1,
    "conv_channels": 8,
    "num_conv_layers": 2,
    "decoder_start_token_id": 1,
}
trained(
    "TFSpeech2TextForConditionalGeneration",
    "TFSpeech2TextForConditionalGeneration",
    lambda: tiny("Speech2Text", **HEARD),
    {
        "input_features": floats(2, 16, 8),
        "attention_mask": np.array([[1] * 16, [1] * 10 + [0] * 6], "int32"),
        "labels": WORDS,
    },
)
everything(
    "TFSpeech2TextModel all",
    "TFSpeech2TextModel",
    lambda: tiny("Speech2Text", **HEARD),
    {"input_features": floats(2, 16, 8), "decoder_input_ids": WORDS},
)

TABLE = {
    "type_vocab_sizes": [3, 64, 64, 2, 64, 64, 10],
    "num_aggregation_labels": 4,
    "max_num_rows": 8,
    "max_num_columns": 4,
    "answer_loss_cutoff": 100.0,
    "aggregation_labels": {0: "NONE", 1: "SUM", 2: "AVERAGE", 3: "COUNT"},
    "no_aggregation_label_index": 0,
    "use_answer_as_supervision": True,
    "cell_selection_preference": 0.2,
    "answer_loss_importance": 1.0,
    "huber_loss_delta": 1.0,
}
CELLS = {
    **ids,
    "token_type_ids": np.stack(
        [
            np.array([[0, 1, 1, 1, 1, 1, 1, 1]] * 2),
            np.array([[0, 1, 2, 3, 1, 2, 3, 1]] * 2),
            np.array([[0, 1, 1, 1, 2, 2, 2, 3]] * 2),
            *[np.zeros([2, 8], int)] * 4,
        ],
        axis=-1,
    ).astype("int32"),
}
ASKED = {**CELLS, "labels": np.array([[0, 0, 1, 0, 0, 1, 0, 0]] * 2, "int32")}
ANSWERED = {
    **ASKED,
    "numeric_values": floats(2, 8),
    "numeric_values_scale": np.ones([2, 8], "float32"),
    "float_answer": np.array([2.0, np.nan], "float32"),
}
for how, given, settings in (
    ("weak", ANSWERED, {}),
    ("average", ANSWERED, {"average_logits_per_cell": True, "use_gumbel_for_cells": True}),
    (
        "second order",
        ANSWERED,
        {
            "average_approximation_function": "second_order",
            "allow_empty_column_selection": True,
            "use_normalized_answer_loss": True,
        },
    ),
    (
        "strong",
        {**ASKED, "aggregation_labels": np.array([1, 0], "int32")},
        {"use_answer_as_supervision": False},
    ),
    ("sqa", ASKED, {"num_aggregation_labels": 0, "use_answer_as_supervision": None}),
):
    trained(
        f"TFTapasForQuestionAnswering {how}",
        "TFTapasForQuestionAnswering",
        lambda settings=settings: tiny("Tapas", **{**TABLE, **settings}),
        given,
    )
trained(
    "TFTapasForMaskedLM",
    "TFTapasForMaskedLM",
    lambda: tiny("Tapas", **TABLE),
    {**CELLS, "labels": LANGUAGE},
)
trained(
    "TFTapasForSequenceClassification",
    "TFTapasForSequenceClassification",
    lambda: tiny("Tapas", **TABLE),
    {**CELLS, "labels": LABELS},
)
called(
    "TFTapasModel reset",
    "TFTapasModel",
    lambda: tiny("Tapas", reset_position_index_per_cell=True, **TABLE),
    CELLS,
)

SEGMENTED = {
    "vision_config": {
        "hidden_size": 8,
        "output_channels": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 4,
        "mlp_dim": 16,
        "window_size": 2,
        "global_attn_indexes": [1],
        "num_pos_feats": 4,
    },
    "prompt_encoder_config": {
        "hidden_size": 8,
        "image_size": 32,
        "patch_size": 4,
        "mask_input_channels": 4,
        "image_embedding_size": 8,
    },
    "mask_decoder_config": {
        "hidden_size": 8,
        "mlp_dim": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "iou_head_hidden_dim": 8,
        "iou_head_depth": 2,
    },
}
POINTS = {"pixel_values": SCENE[:1], "input_points": floats(1, 1, 2, 2) * 30}
called(
    "TFSamModel points",
    "TFSamModel",
    lambda: hf.SamConfig(**SEGMENTED),
    {**POINTS, "input_labels": np.array([[[1, 0]]], "int32")},
    gradient=True,
)
called(
    "TFSamModel points no labels",
    "TFSamModel",
    lambda: hf.SamConfig(**SEGMENTED),
    POINTS,
    multimask_output=False,
)
everything(
    "TFSamModel boxes",
    "TFSamModel",
    lambda: hf.SamConfig(**SEGMENTED),
    {"pixel_values": SCENE[:1], "input_boxes": floats(1, 2, 4) * 30},
)

READ = {**SMALL, "eos_token_id": 29}
PAIR = {"text_config": READ, "vision_config": IMAGE, "projection_dim": 8}
GROUPED = {
    "text_config": READ,
    "vision_config": GROUP,
    "projection_dim": 8,
    "projection_intermediate_dim": 8,
}
called(
    "TFCLIPModel loss",
    "TFCLIPModel",
    lambda: hf.CLIPConfig(**PAIR),
    {**ids, **PICTURE},
    "loss",
    gradient=True,
    return_loss=True,
)
called(
    "TFCLIPTextModel eos 2",
    "TFCLIPTextModel",
    lambda: hf.CLIPTextConfig(**{**READ, "eos_token_id": 2}),
    ids,
)
called(
    "TFGroupViTModel loss",
    "TFGroupViTModel",
    lambda: hf.GroupViTConfig(**GROUPED),
    {**ids, **PICTURE},
    "loss",
    training=True,
    gradient=True,
    return_loss=True,
)
called(
    "TFGroupViTModel segmentation",
    "TFGroupViTModel",
    lambda: hf.GroupViTConfig(**GROUPED),
    {**ids, **PICTURE},
    output_segmentation=True,
    output_attentions=True,
)

FUNNEL = {"d_head": 4, "block_sizes": [1, 1], "num_decoder_layers": 1}
everything(
    "TFFunnelForPreTraining all", "TFFunnelForPreTraining", lambda: tiny("Funnel", **FUNNEL), ids
)
called(
    "TFFunnelModel factorized",
    "TFFunnelModel",
    lambda: tiny(
        "Funnel",
        d_head=4,
        block_sizes=[1, 2],
        block_repeats=[1, 2],
        num_decoder_layers=1,
        attention_type="factorized",
        separate_cls=False,
        truncate_seq=False,
        pooling_type="max",
    ),
    ids,
    training=True,
    gradient=True,
)
called(
    "TFXLNetModel mems",
    "TFXLNetModel",
    lambda: tiny(
        "XLNet",
        mem_len=4,
        reuse_len=2,
        bi_data=True,
        clamp_len=3,
        attn_type="uni",
        same_length=True,
    ),
    {
        **ids,
        "token_type_ids": MASK,
        "perm_mask": np.zeros([2, 8, 8], "float32"),
        "target_mapping": np.eye(8, dtype="float32")[None].repeat(2, 0)[:, :3],
    },
    use_mems=True,
)
called(
    "TFXLMModel langs lengths",
    "TFXLMModel",
    lambda: tiny("XLM", n_langs=2, causal=True),
    {"input_ids": WORDS, "langs": integers(2, 2, 8), "lengths": np.array([8, 5], "int32")},
)
for name, kind, settings, inputs in (
    ("FunnelForMaskedLM", "Funnel", FUNNEL, {**ids, "labels": LANGUAGE}),
    ("FunnelForMultipleChoice", "Funnel", FUNNEL, {**CHOICES, "labels": LABELS}),
    ("XLNetLMHeadModel", "XLNet", {"d_head": 4}, {**ids, "labels": LANGUAGE}),
    ("XLNetForSequenceClassification", "XLNet", {"d_head": 4}, {**ids, "labels": LABELS}),
    ("XLNetForMultipleChoice", "XLNet", {"d_head": 4}, {**CHOICES, "labels": LABELS}),
    (
        "DebertaV2ForMaskedLM",
        "DebertaV2",
        {
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "conv_kernel_size": 3,
            "position_buckets": 4,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
        },
        {**ids, "labels": LANGUAGE},
    ),
    ("GPT2ForSequenceClassification", "GPT2", {}, {**ids, "labels": LABELS}),
    (
        "MistralForSequenceClassification",
        "Mistral",
        {"num_key_value_heads": 1, "sliding_window": 4},
        {**ids, "labels": LABELS},
    ),
    (
        "EsmForMaskedLM",
        "Esm",
        {
            "mask_token_id": 4,
            "token_dropout": True,
            "position_embedding_type": "rotary",
            "emb_layer_norm_before": True,
        },
        {**ids, "labels": LANGUAGE},
    ),
    (
        "SegformerForSemanticSegmentation",
        "Segformer",
        SEGFORMER,
        {"pixel_values": SCENE, "labels": integers(2, 2, 16, 16)},
    ),
):
    trained(
        f"TF{name} labels",
        f"TF{name}",
        lambda kind=kind, settings=settings: tiny(kind, **settings),
        inputs,
    )
called(
    "TFGPT2DoubleHeadsModel",
    "TFGPT2DoubleHeadsModel",
    lambda: tiny("GPT2"),
    {"input_ids": CHOICES["input_ids"], "mc_token_ids": integers(7, 2, 2)},
    gradient=True,
)
COVERED = np.random.RandomState(1).rand(2, 16) > 0.5
called(
    "TFData2VecVisionModel masked",
    "TFData2VecVisionModel",
    lambda: tiny(
        "Data2VecVision",
        use_shared_relative_position_bias=True,
        use_mask_token=True,
        use_absolute_position_embeddings=True,
    ),
    {**PICTURE, "bool_masked_pos": COVERED},
    training=True,
)
trained(
    "TFDeiTForMaskedImageModeling masked",
    "TFDeiTForMaskedImageModeling",
    lambda: tiny("DeiT", encoder_stride=4),
    {**PICTURE, "bool_masked_pos": COVERED},
)
ENDED = np.array([[1, 5, 6, 2], [1, 7, 8, 2]], "int32")
called(
    "TFBartForSequenceClassification",
    "TFBartForSequenceClassification",
    lambda: tiny("Bart", decoder_start_token_id=1),
    {"input_ids": ENDED, "labels": LABELS},
    "loss",
    gradient=True,
)


def stepped(name: str, kind: str, make: Callable[[], Any], *data: Any, **compiled: Any) -> None:
    """A program that trains a model for one step as Keras does."""

    def build() -> Call:
        made = getattr(hf, kind)(make())
        made.compile(optimizer="sgd", **compiled)
        made.train_step(tf.nest.map_structure(tf.constant, data))
        return Call(lambda *given: dict(made.train_step(given)), data)

    programs(name)(build)


stepped(
    "train_step TFBertForSequenceClassification",
    "TFBertForSequenceClassification",
    lambda: tiny("Bert"),
    {**ids, "labels": LABELS},
)
stepped(
    "train_step TFBertForQuestionAnswering",
    "TFBertForQuestionAnswering",
    lambda: tiny("Bert"),
    ids,
    {"start_positions": integers(7, 2), "end_positions": integers(7, 2)},
)
stepped(
    "train_step TFGPT2LMHeadModel",
    "TFGPT2LMHeadModel",
    lambda: tiny("GPT2"),
    {**ids, "labels": LANGUAGE},
)


def generated(name: str, kind: str, make: Callable[[], Any], **options: Any) -> None:
    """A program that writes four words more."""

    def build() -> Call:
        made = getattr(hf, kind)(make())
        inputs = {"input_ids": np.maximum(WORDS, 3), "attention_mask": np.ones([2, 8], "int32")}
        made.generate(**tf.nest.map_structure(tf.constant, inputs), max_new_tokens=4, **options)
        return Call(
            lambda values: made.generate(**values, max_new_tokens=4, **options),
            [inputs],
            check_shape=False,
        )

    programs(name)(build)


for how, options in (
    ("greedy", {"do_sample": False}),
    ("sample", {"do_sample": True, "top_k": 5, "top_p": 0.9, "temperature": 0.8}),
    ("beam", {"do_sample": False, "num_beams": 2, "num_return_sequences": 2}),
    ("contrastive", {"penalty_alpha": 0.6, "top_k": 3}),
    ("repetition", {"do_sample": False, "repetition_penalty": 1.3, "min_length": 10}),
    ("ngram", {"do_sample": False, "no_repeat_ngram_size": 2}),
):
    generated(f"generate {how} gpt2", "TFGPT2LMHeadModel", lambda: tiny("GPT2"), **options)
generated(
    "generate t5",
    "TFT5ForConditionalGeneration",
    lambda: tiny("T5", decoder_start_token_id=1),
    do_sample=False,
)
