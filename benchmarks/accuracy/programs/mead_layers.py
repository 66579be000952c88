"""Calls of mead_layers 2.4.2 (Keras 2): attention, pooling and gating layers, and a beam search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf
from eight_mile.tf import layers
from program import Call, Programs

from programs.made import floats, integers, layer, plain

programs = Programs("eight_mile")
layers.SET_TRAIN_FLAG(False)
MASK = np.asarray([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "float32")[:, None, None, :]
HEADS, SEQUENCE = floats(2, 2, 5, 4), floats(2, 5, 8)

plain(
    programs,
    "infer_lengths",
    layers.infer_lengths,
    np.asarray([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]], "int32"),
)
plain(programs, "gelu", layers.gelu, floats(3, 4), gradient=True)
plain(
    programs,
    "masked_fill",
    lambda x, mask: layers.masked_fill(x, mask > 0, -1e9),
    floats(3, 4),
    integers(2, 3, 4),
)
plain(
    programs,
    "gather_k",
    lambda a, b, best: layers.gather_k(a, b, best, 3),
    floats(2, 8),
    floats(2, 8),
    integers(8, 2, 3),
)
plain(
    programs,
    "get_shape_as_list",
    lambda x: tf.reshape(x, [layers.get_shape_as_list(x)[0], -1]),
    floats(2, 3, 4),
)
for name, hard in (("gumbel_softmax", False), ("gumbel_softmax hard", True)):
    plain(
        programs,
        name,
        lambda x, hard=hard: tf.shape(layers.gumbel_softmax(x, hard=hard)),
        floats(3, 4),
    )
plain(
    programs,
    "unfold_tensor",
    lambda x: layers.unfold_tensor(x, -1, 3),
    floats(2, 6),
    gradient=True,
)
plain(
    programs,
    "subsequent_mask",
    lambda x: layers.subsequent_mask(layers.get_shape_as_list(x)[1]) * x[:, :1, None, None],
    floats(2, 5),
)
plain(
    programs,
    "gnmt_length_penalty",
    layers.gnmt_length_penalty,
    np.asarray([[3, 4], [5, 2]], "float32"),
)
plain(programs, "repeat_batch", lambda x: layers.repeat_batch(x, 3), floats(2, 4))
plain(
    programs,
    "update_lengths",
    lambda lengths, ended: layers.update_lengths(lengths, ended > 0, 4),
    integers(2, 2, 3),
    integers(2, 2, 3),
)

layer(programs, "Highway", lambda: layers.Highway(6), floats(3, 6))
layer(programs, "SkipConnection", lambda: layers.SkipConnection(6), floats(3, 6))
layer(programs, "FFN", lambda: layers.FFN(6), floats(2, 5, 6))
layer(programs, "SpatialGatingUnit", lambda: layers.SpatialGatingUnit(8, 5), SEQUENCE)
for kind in (layers.SeqScaledDotProductAttention, layers.SeqDotProductAttention):
    layer(programs, kind.__name__, lambda kind=kind: kind(0.1), (HEADS, HEADS, HEADS, MASK))
for kind in (layers.SeqScaledDotProductRelativeAttention, layers.SeqDotProductRelativeAttention):
    layer(
        programs,
        kind.__name__,
        lambda kind=kind: kind(0.1),
        (HEADS, HEADS, HEADS, floats(5, 5, 4), floats(5, 5, 4), MASK),
    )


@programs("SeqScaledWindowedRelativeAttention")
def _windowed() -> Call:
    attention = layers.SeqScaledWindowedRelativeAttention(0.1)
    return Call(
        lambda *inputs: attention((*inputs, None)),
        [HEADS, HEADS, HEADS, floats(3, 4), floats(3, 4)],
        True,
    )


for name, make, values in (
    ("MultiHeadedAttention", lambda: layers.MultiHeadedAttention(2, 8, scale=True), SEQUENCE),
    ("MultiHeadedAttention one", lambda: layers.MultiHeadedAttention(1, 8), SEQUENCE),
    (
        "MultiHeadedRelativeAttention",
        lambda: layers.MultiHeadedRelativeAttention(2, 8, 3, scale=True),
        SEQUENCE,
    ),
    (
        "MultiHeadedRelativeAttention keys",
        lambda: layers.MultiHeadedRelativeAttention(2, 8, 3, rpr_value_on=False),
        floats(2, 4, 8),
    ),
    ("SingleHeadReduction", lambda: layers.SingleHeadReduction(8), SEQUENCE),
    (
        "SingleHeadReduction max",
        lambda: layers.SingleHeadReduction(8, pooling="max", scale=True),
        SEQUENCE,
    ),
    ("TwoHeadConcat", lambda: layers.TwoHeadConcat(8, 0.1), SEQUENCE),
):
    layer(programs, name, make, (SEQUENCE, values, values, MASK[..., : values.shape[1]]))
for kind in (
    layers.LuongDotProductAttention,
    layers.ScaledDotProductAttention,
    layers.LuongGeneralAttention,
    layers.BahdanauAttention,
):
    layer(
        programs,
        kind.__name__,
        lambda kind=kind: kind(8),
        (floats(2, 8), SEQUENCE, SEQUENCE, MASK[:, 0, 0]),
    )


class _Search(layers.BeamSearchBase):
    """Searches where the next token depends on the last one and on the encoder's output."""

    table = tf.constant(floats(9, 9))

    def init(self, encoder_outputs: Any) -> Any:
        return layers.repeat_batch(encoder_outputs.output, self.K)

    def step(self, paths: Any, extra: Any) -> Any:
        last = tf.reshape(paths, [-1, tf.shape(paths)[-1]])[:, -1]
        return tf.nn.log_softmax(tf.gather(self.table, last) + extra), extra

    def update(self, beams: Any, extra: Any) -> Any:
        return tf.gather(extra, beams)


plain(
    programs,
    "BeamSearchBase",
    lambda x: _Search(3)(SimpleNamespace(output=x), mxlen=4),
    floats(2, 9),
)
