"""Calls of tf_transformers 2.0.0: decoders, BigBird's attention, losses and schedules.

Labelled with an empty `tensorflow.python.distribute.distribution_strategy_context`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf
from program import Call, Programs
from tf_transformers import losses
from tf_transformers.layers.attention import bigbird_attention as bigbird
from tf_transformers.optimization.learning_rate_utils import WarmUp, WarmUp_Linear
from tf_transformers.text import TextDecoderModel, decoder_utils
from tf_transformers.utils import tf_utils

from programs.made import floats, integers, plain

programs = Programs("tf_transformers")

plain(
    programs,
    "_log_prob_from_logits",
    decoder_utils._log_prob_from_logits,
    floats(2, 3, 7),
    gradient=True,
)
plain(
    programs,
    "_gather_beams",
    lambda nested, best: decoder_utils._gather_beams(nested, best, tf.shape(nested)[0], 4),
    floats(2, 3, 5),
    integers(3, 2, 4),
)
plain(programs, "top_k_logits", lambda x: decoder_utils.top_k_logits(x, 3), floats(2, 9))
plain(programs, "top_p_logits", lambda x: decoder_utils.top_p_logits(x, 0.8), floats(2, 9))
plain(
    programs,
    "assign_zeros_to_K_V",
    lambda cache, ids: decoder_utils.assign_zeros_to_K_V(cache, ids, 2, 5),
    floats(1, 2, 2, 5, 3),
    np.asarray([[1, 2, 3, -1, -1], [1, 2, 3, 4, 5]], "int32"),
)
plain(
    programs,
    "cross_entropy_loss",
    losses.cross_entropy_loss,
    integers(7, 2, 5),
    floats(2, 5, 7),
    integers(2, 2, 5).astype("float32"),
    gradient=True,
)
for loss in (losses.cross_entropy_loss, losses.cross_entropy_loss_label_smoothing):
    plain(
        programs,
        f"{loss.__name__} without weights",
        loss,
        integers(7, 2, 5),
        floats(2, 5, 7),
        gradient=True,
    )
plain(
    programs,
    "cross_entropy_loss_for_classification",
    losses.cross_entropy_loss_for_classification,
    integers(7, 3),
    floats(3, 7),
    gradient=True,
)
STEP = np.int64(5)
plain(programs, "WarmUp_Linear", lambda step: WarmUp_Linear(0.1, 100, 10)(step), STEP)
DECAY = tf.keras.optimizers.schedules.PolynomialDecay(0.1, 100, 0.0)
plain(programs, "WarmUp", lambda step: WarmUp(0.1, DECAY, 10)(step), STEP)
plain(
    programs,
    "gather_values_from_2d_tensor",
    tf_utils.gather_values_from_2d_tensor,
    floats(2, 7),
    integers(7, 2, 1),
)
plain(
    programs,
    "get_shape_list",
    lambda x: tf.reshape(x, [tf_utils.get_shape_list(x)[0], -1]),
    floats(2, 3, 4),
)

BLOCKS = np.ones((2, 8, 4), "int32")
plain(
    programs, "create_band_mask_from_inputs", bigbird.create_band_mask_from_inputs, BLOCKS, BLOCKS
)
plain(
    programs,
    "create_attention_mask_from_input_mask",
    bigbird.create_attention_mask_from_input_mask,
    integers(2, 2, 5).astype("float32"),
    integers(2, 2, 6).astype("float32"),
)
plain(
    programs,
    "create_rand_mask_from_inputs",
    lambda origin, target, drawn: bigbird.create_rand_mask_from_inputs(
        origin, target, drawn, 2, 1, 2, 32, 4
    ),
    BLOCKS.astype("float32"),
    BLOCKS.astype("float32"),
    integers(8, 2, 2, 6, 1),
)


def _block_sparse(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """The first and last block: what is attended to from those between is drawn."""
    blocks = tf.reshape(mask, [2, 8, 4])
    attended = bigbird.bigbird_block_sparse_attention(
        query,
        key,
        value,
        bigbird.create_band_mask_from_inputs(blocks, blocks),
        tf.reshape(mask, [2, 1, 32, 1]),
        tf.reshape(mask, [2, 1, 1, 32]),
        blocks,
        blocks,
        num_attention_heads=2,
        num_rand_blocks=1,
        size_per_head=4,
        batch_size=2,
        from_seq_length=32,
        to_seq_length=32,
        from_block_size=4,
        to_block_size=4,
        seed=1,
    )
    return attended[:, :4], attended[:, -4:]


plain(
    programs,
    "bigbird_block_sparse_attention",
    _block_sparse,
    floats(2, 2, 32, 4),
    floats(2, 2, 32, 4),
    floats(2, 2, 32, 4),
    np.ones((2, 32), "int32"),
    gradient=True,
)


class _Model:
    """What the decoder asks of a model, where the next token depends on the last one."""

    model_config: ClassVar = {
        "embedding_size": 8,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "attention_head_size": 4,
    }
    input: ClassVar = {"input_ids": None}
    table = floats(9, 9)

    def __call__(self, inputs: dict[str, Any]) -> dict[str, Any]:
        last = tf.maximum(inputs["input_ids"][:, -1], 0)
        return {
            "last_token_logits": tf.gather(self.table, last),
            "all_cache_key": inputs["all_cache_key"],
            "all_cache_value": inputs["all_cache_value"],
            "past_length": inputs["past_length"] + 1,
        }


def _decoded(name: str, mode: str, results: Callable[[Any], Any], **options: Any) -> None:
    @programs(f"TextDecoderModel {name}")
    def _decode() -> Call:
        decoder = TextDecoderModel(_Model(), mode, 3, **options)
        return Call(
            lambda ids: results(decoder.call({"input_ids": ids})),
            [np.asarray([[1, 2, 3, -1], [4, 5, 6, 7]], "int32")],
        )


def _with_probabilities(decoded: dict[str, Any]) -> Any:
    return decoded["predicted_ids"], decoded["prediction_probs"]


def _with_ends(decoded: dict[str, Any]) -> Any:
    return decoded["predicted_ids"], decoded["matched_eos_pos"]


def _sizes(decoded: dict[str, Any]) -> Any:
    return tf.shape(decoded["predicted_ids"])


_decoded("greedy", "greedy", _with_probabilities)
_decoded("greedy end", "greedy", _with_ends, eos_id=4)
_decoded("greedy sample", "greedy", _sizes, do_sample=True)
_decoded("beam", "beam", _with_ends, num_beams=2, alpha=0.6)
_decoded("beam sample", "beam", _sizes, num_beams=2, do_sample=True)
_decoded("beam end", "beam", _with_ends, num_beams=2, eos_id=4)
_decoded(
    "top_k_top_p",
    "top_k_top_p",
    _with_probabilities,
    top_k=4,
    top_p=0.9,
    eos_id=0,
    num_return_sequences=2,
)
_decoded("top_k_top_p end", "top_k_top_p", lambda r: r["predicted_ids"], top_k=4, eos_id=4)
