"""Calls of reclearn 1.1.0: layers, losses and models of recommendation, one trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs
from reclearn.layers import core
from reclearn.layers.utils import index_mapping
from reclearn.models import matching, ranking
from reclearn.models.losses import get_loss

from programs.made import floats, integers, layer, plain

programs = Programs("reclearn")

for loss in ("bpr_loss", "hinge_loss", "binary_cross_entropy_loss"):
    plain(
        programs,
        f"get_loss {loss}",
        lambda positive, negative, loss=loss: get_loss(positive, negative, loss, 0.5),
        floats(3, 1),
        floats(3, 4),
        gradient=True,
    )
plain(
    programs,
    "index_mapping",
    lambda inputs: index_mapping(inputs, {"a": 0, "b": 5}),
    {"a": integers(5, 3), "b": integers(4, 3)},
)

COLUMNS = [
    {"feat_name": name, "feat_num": number, "embed_dim": 4}
    for name, number in (("a", 5), ("b", 4), ("c", 3))
]
FEATURES = {column["feat_name"]: integers(column["feat_num"], 3) for column in COLUMNS}
MASK = np.asarray([[[1], [1], [0]], [[1], [1], [1]]], "float32")
SEQUENCE = floats(2, 3, 8)
layer(programs, "Linear", lambda: core.Linear(12), integers(12, 3, 3))
layer(programs, "MLP", lambda: core.MLP([6, 4], use_batch_norm=True), floats(3, 5))
layer(programs, "TransformerEncoder", lambda: core.TransformerEncoder(8, 2, 16), [SEQUENCE, MASK])
layer(programs, "SelfAttention", core.SelfAttention, [SEQUENCE, SEQUENCE, SEQUENCE, MASK])
layer(programs, "FM_Layer", lambda: core.FM_Layer(COLUMNS, 4), FEATURES)
layer(programs, "FFM_Layer", lambda: core.FFM_Layer(COLUMNS, 4), FEATURES)
layer(programs, "Residual_Units", lambda: core.Residual_Units(6, 4), floats(3, 4))
layer(programs, "CrossNetwork", lambda: core.CrossNetwork(2), floats(3, 4))
layer(
    programs,
    "New_FM",
    lambda: core.New_FM(12),
    {
        "sparse_inputs": {name: values[:, None] for name, values in FEATURES.items()},
        "embed_inputs": floats(3, 3, 4),
    },
)
layer(programs, "CIN", lambda: core.CIN([4, 3]), floats(3, 5, 4))
layer(programs, "LBA", core.LBA, [SEQUENCE, floats(2, 3, 8), MASK])
layer(
    programs,
    "Item_similarity_gating",
    core.Item_similarity_gating,
    [SEQUENCE, floats(2, 3, 8), floats(2, 3, 8)],
)

CLICKS = {
    "user": integers(6, 2, 1),
    "click_seq": np.asarray([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]], "int32"),
    "pos_item": integers(9, 2, 1),
    "neg_item": integers(9, 2, 3),
}
for name, make in (
    ("SASRec", lambda: matching.SASRec(10, 8, seq_len=5, use_l2norm=True)),
    ("Caser", lambda: matching.Caser(6, 10, 8, seq_len=5)),
    ("AttRec", lambda: matching.AttRec(6, 10, 8)),
    ("AttRec distance", lambda: matching.AttRec(6, 10, 8, mode="dist")),
    ("FISSA", lambda: matching.FISSA(10, 8, seq_len=5)),
    ("GRU4Rec", lambda: matching.GRU4Rec(10, 8, 2)),
):
    layer(programs, name, make, CLICKS)
layer(programs, "PNN outer", lambda: ranking.PNN(COLUMNS, [6, 4], mode="out"), FEATURES)
layer(programs, "AFM attention", lambda: ranking.AFM(COLUMNS, "att"), FEATURES)
layer(programs, "AFM max", lambda: ranking.AFM(COLUMNS, "max"), FEATURES)


@programs("SASRec trained")
def _training() -> Call:
    model = matching.SASRec(10, 8, seq_len=5)
    model(tf.nest.map_structure(tf.convert_to_tensor, CLICKS))
    weights = model.trainable_variables
    optimizer = tf.keras.optimizers.Adam(0.001)
    optimizer.build(weights)
    held = [*model.variables, *optimizer.variables]
    first = [tf.constant(variable) for variable in held]

    def function(inputs: dict[str, Any]) -> Any:
        """The same at each call: a step is taken from the first weights."""
        for variable, value in zip(held, first):
            variable.assign(value)
        with tf.GradientTape() as tape:
            model(inputs, training=True)
            loss = tf.add_n(model.losses)
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(
            [(g, weight) for g, weight in zip(gradients, weights) if g is not None]
        )
        return loss

    return Call(function, [CLICKS])
