"""Calls of mpunet 0.2.9: its losses and metrics."""

from __future__ import annotations

import numpy as np
from mpunet.evaluate import loss_functions, metrics
from program import Call, Programs

from programs.made import floats

programs = Programs("mpunet")
Y = np.array([[[[0], [1]], [[2], [1]]], [[[1], [0]], [[2], [2]]]], np.float32)


def add(name, make):
    programs(name)(make)


def soft():
    p = floats(2, 2, 2, 3) + 0.1
    return (p / p.sum(-1, keepdims=True)).astype("float32")


for word in (
    "SparseJaccardDistanceLoss",
    "SparseDiceLoss",
    "SparseExponentialLogarithmicLoss",
    "SparseFocalLoss",
    "SparseGeneralizedDiceLoss",
):
    for end in (Y, Y[..., 0]):
        add(
            f"{word}{end.ndim}",
            lambda word=word, end=end: Call(
                lambda y, p: getattr(loss_functions, word)("sum_over_batch_size")(y, p),
                [end, soft()],
                True,
            ),
        )
add(
    "type_weight simple",
    lambda: Call(
        lambda y, p: loss_functions.sparse_generalized_dice_loss(y, p, "simple"), [Y, soft()], True
    ),
)
for word in ("sparse_fg_recall", "sparse_fg_precision", "one_class_dice"):
    add(
        word,
        lambda word=word: Call(
            getattr(metrics, word), [Y[..., 0] if "sparse" in word else soft(), soft()]
        ),
    )
