"""Calls of rasa 3.6.20 (tf_keras): layers, transformer, CRF, losses of its models."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Call, Programs
from rasa.utils.tensorflow import crf, layers, metrics, transformer
from rasa.utils.tensorflow import layers_utils as lu

from programs.made import floats, integers, layer, short

programs = Programs("rasa")
p = short(programs)
SP = tf.sparse.from_dense((floats(3, 5, 6) > 0.6).astype("float32"))
SP2 = tf.sparse.from_dense((floats(4, 6) > 0.5).astype("float32"))
X = floats(3, 5, 8)
MASK = np.array([[1] * 5, [1] * 3 + [0] * 2, [1] * 4 + [0]], "float32")[:, :, None]
LEN = np.array([5, 3, 4], "int32")


def made(name, make, call, *inputs, gradient=True):
    def build():
        m = make()
        call(m, *inputs)
        return Call(lambda *i: call(m, *i), inputs, gradient)

    programs(name)(build)


made(
    "SparseDropout", lambda: layers.SparseDropout(0.5), lambda m, x: m(x, training=True).values, SP
)
made(
    "SparseDropout eval",
    lambda: layers.SparseDropout(0.5),
    lambda m, x: m(x, training=False).values,
    SP,
)
made(
    "DenseForSparse 3d",
    lambda: layers.DenseForSparse(units=4, reg_lambda=0.1),
    lambda m, x: m(x),
    SP,
)
made(
    "DenseForSparse 2d",
    lambda: layers.DenseForSparse(units=4, use_bias=False, activation="relu"),
    lambda m, x: m(x),
    SP2,
)
for _d in (0.2, 0.5, 1.0):
    layer(
        programs,
        f"RandomlyConnectedDense {_d}",
        lambda _d=_d: layers.RandomlyConnectedDense(_d, units=8),
        X,
    )
layer(programs, "RandomlyConnectedDense 0", lambda: layers.RandomlyConnectedDense(0.0, units=8), X)
for _t in (False, True):
    made(
        f"Ffnn {_t}",
        lambda: layers.Ffnn([8, 4], 0.2, 0.1, 0.5, "x"),
        lambda m, x, _t=_t: m(x, training=_t),
        X,
    )
    for _k in (
        {},
        {"unidirectional": True},
        {"use_key_relative_position": True, "use_value_relative_position": True},
        {"use_key_relative_position": True, "heads_share_relative_embedding": True},
    ):
        s = " ".join(_k) + f" {_t}"
        made(
            "MultiHeadAttention " + s,
            lambda _k=_k: transformer.MultiHeadAttention(8, 2, 0.1, **_k),
            lambda m, x, k, _t=_t: m(x, x, tf.transpose(k, [0, 2, 1])[:, None], training=_t),
            X,
            1 - MASK,
        )
        made(
            "TransformerEncoder " + s,
            lambda _k=_k: transformer.TransformerEncoder(
                2, 8, 2, 16, 0.1, attention_dropout_rate=0.1, **_k
            ),
            lambda m, x, k, _t=_t: m(x, k, training=_t),
            X,
            1 - MASK,
        )
    made(
        f"TransformerEncoderLayer {_t}",
        lambda: transformer.TransformerEncoderLayer(8, 2, 16),
        lambda m, x, _t=_t: m(x, training=_t),
        X,
    )
    made(
        f"InputMask {_t}",
        lambda: layers.InputMask(),
        lambda m, x, k, _t=_t: m(x, k, training=_t),
        X,
        MASK,
    )
layer(programs, "Embed", lambda: layers.Embed(4, 0.1, "x"), X)
made(
    "CRF call",
    lambda: layers.CRF(4, 0.1, False),
    lambda m, x, n: m(x, n),
    floats(3, 5, 4),
    LEN,
    gradient=False,
)
for _s in (False, True):
    made(
        f"CRF loss {_s}",
        lambda _s=_s: layers.CRF(4, 0.1, _s),
        lambda m, x, y, n: (m(x, n)[1], m.loss(x, y, n))[1],
        floats(3, 5, 4),
        integers(4, 3, 5),
        LEN,
    )
made(
    "CRF f1_score",
    lambda: layers.CRF(4, 0.1, False),
    lambda m, x, y, k: m.f1_score(x, y, k),
    integers(4, 3, 5),
    integers(4, 3, 5),
    MASK,
    gradient=False,
)
TP = floats(4, 4)
p("crf_decode", lambda x, t, n: crf.crf_decode(x, t, n), floats(3, 5, 4), TP, LEN)
p(
    "crf_unary_score",
    lambda y, n, x: crf.crf_unary_score(y, n, x),
    integers(4, 3, 5),
    LEN,
    floats(3, 5, 4),
)
p("crf_binary_score", lambda y, n, t: crf.crf_binary_score(y, n, t), integers(4, 3, 5), LEN, TP)
p(
    "crf_sequence_score",
    lambda x, y, n, t: crf.crf_sequence_score(x, y, n, t),
    floats(3, 5, 4),
    integers(4, 3, 5),
    LEN,
    TP,
)
p(
    "crf_sequence_score one",
    lambda x, y, n, t: crf.crf_sequence_score(x, y, n, t),
    floats(3, 1, 4),
    integers(4, 3, 1),
    np.array([1, 1, 1], "int32"),
    TP,
)
p(
    "crf_forward",
    lambda x, s, t, n: crf.crf_forward(x, s, t, n),
    floats(3, 4, 4),
    floats(3, 4),
    TP,
    LEN - 1,
)
p("crf_log_norm", lambda x, n, t: crf.crf_log_norm(x, n, t), floats(3, 5, 4), LEN, TP)
p(
    "crf_log_likelihood",
    lambda x, y, n, t: crf.crf_log_likelihood(x, y, n, t)[0],
    floats(3, 5, 4),
    integers(4, 3, 5),
    LEN,
    TP,
)
p(
    "crf_decode_forward",
    lambda x, s, t, n: crf.crf_decode_forward(x, s, t, n),
    floats(3, 4, 4),
    floats(3, 4),
    TP,
    LEN - 1,
)
p.no(
    "crf_decode_backward",
    lambda x, c, s: crf.crf_decode_backward(x, c, s),
    integers(4, 3, 4, 4),
    floats(3, 4, 4),
    integers(4, 3, 1),
)
IE, LE, AE = floats(3, 8), floats(3, 8), floats(6, 8)
LI, AI = np.array([[0], [2], [4]], "float32"), np.arange(6, dtype="float32")[:, None]
for _k in (
    {},
    {"scale_loss": True},
    {"constrain_similarities": False},
    {"loss_type": "margin", "similarity_type": "cosine"},
    {"loss_type": "margin", "use_max_sim_neg": False},
    {"same_sampling": True},
    {"similarity_type": "cosine"},
):
    made(
        "SingleLabelDotProductLoss " + str(_k),
        lambda _k=_k: layers.SingleLabelDotProductLoss(4, **_k),
        lambda m, *i: m(*i),
        IE,
        LE,
        LI,
        AE,
        AI,
    )
made(
    "SingleLabelDotProductLoss mask",
    lambda: layers.SingleLabelDotProductLoss(4, scale_loss=True),
    lambda m, *i: m(*i),
    floats(3, 5, 8),
    floats(3, 5, 8),
    integers(6, 3, 5, 1).astype("float32"),
    AE,
    AI,
    MASK[:, :, 0],
)
for _k in ({}, {"scale_loss": True}, {"constrain_similarities": False}):
    made(
        "MultiLabelDotProductLoss " + str(_k),
        lambda _k=_k: layers.MultiLabelDotProductLoss(4, **_k),
        lambda m, *i: m(*i),
        floats(3, 1, 8),
        floats(3, 2, 8),
        np.array([[[0], [2]], [[4], [1]], [[3], [-1]]], "float32"),
        AE,
        AI,
    )
made(
    "MultiLabelDotProductLoss mask",
    lambda: layers.MultiLabelDotProductLoss(4),
    lambda m, *i: m(*i),
    floats(3, 1, 8),
    floats(3, 2, 8),
    np.array([[[0], [2]], [[4], [1]], [[3], [-1]]], "float32"),
    AE,
    AI,
    np.array([[1], [1], [0]], "float32"),
)
made(
    "DotProductLoss.sim",
    lambda: layers.SingleLabelDotProductLoss(4, similarity_type="cosine"),
    lambda m, a, b: m.sim(a[:, None], b[None]),
    IE,
    AE,
)
made(
    "get_similarities_and_confidences",
    lambda: layers.SingleLabelDotProductLoss(4),
    lambda m, a, b: m.get_similarities_and_confidences_from_embeddings(a[:, None], b[None]),
    IE,
    AE,
)
p.no("random_indices", lambda x: lu.random_indices(tf.shape(x)[0], 4, 6), X)
p("batch_flatten", lu.batch_flatten, X)
p("get_candidate_values", lambda x, i: lu.get_candidate_values(x, i), AE, integers(6, 3, 4))
p(
    "reduce_mean_equal",
    lu.reduce_mean_equal,
    integers(3, 4, 2).astype("float32"),
    integers(3, 4, 2).astype("float32"),
)
for _a in (None, "micro", "macro", "weighted"):
    for _th in (None, 0.5):
        made(
            f"F1Score {_a} {_th}",
            lambda _a=_a, _th=_th: metrics.F1Score(3, _a, _th),
            lambda m, y, x: (m.update_state(y, x), m.result())[1],
            np.eye(3, dtype="float32")[[0, 1, 2, 0]],
            floats(4, 3),
            gradient=False,
        )

X9, MASK9 = (
    floats(3, 9, 8),
    np.array([[1] * 9, [1] * 6 + [0] * 3, [1] * 8 + [0]], "float32")[:, :, None],
)
for _k in (
    {"use_key_relative_position": True, "use_value_relative_position": True},
    {"use_key_relative_position": True, "heads_share_relative_embedding": True},
):
    made(
        "TransformerEncoder long " + " ".join(_k),
        lambda _k=_k: transformer.TransformerEncoder(
            2, 8, 2, 16, 0.1, attention_dropout_rate=0.1, **_k
        ),
        lambda m, x, k: m(x, k, training=True),
        X9,
        1 - MASK9,
    )
