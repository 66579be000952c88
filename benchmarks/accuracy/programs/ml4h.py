"""Calls of ml4h 0.1.4 (Keras 2): losses and metrics, those that are made for a setting among them."""

from __future__ import annotations

import numpy as np
from ml4h import metrics
from program import Programs

from programs.made import floats, integers, plain

programs = Programs("ml4h")
TRUE = floats(4, 3)
PREDICTED = floats(4, 3)
EVENTS = np.stack([np.asarray([1, 0, 1, 1], "float32"), floats(4) * 9], 1)
SURVIVED = np.concatenate([np.tril(np.ones((4, 3), "float32")), np.zeros((4, 3), "float32")], 1)
IMAGES = floats(2, 8, 8, 3)

for _name in (
    "ignore_zeros_l2",
    "ignore_zeros_logcosh",
    "y_true_times_mse",
    "mse_10x",
    "y_true_squared_times_mse",
    "y_true_cubed_times_mse",
    "y_true_squared_times_logcosh",
):
    plain(programs, _name, getattr(metrics, _name), TRUE, PREDICTED, gradient=True)
for _name in ("pearson", "abs_pearson"):
    plain(programs, _name, getattr(metrics, _name), TRUE[:3], PREDICTED[:3], gradient=True)
for _name in (
    "angle_between_batches",
    "two_batch_euclidean",
    "euclid_dist",
    "paired_angle_between_batches",
):
    _function = getattr(metrics, _name)
    plain(
        programs,
        _name,
        lambda a, b, function=_function: function([a, b]),
        TRUE,
        PREDICTED,
        gradient=True,
    )
plain(
    programs,
    "custom_loss_keras",
    metrics.custom_loss_keras,
    integers(2, 4, 1),
    PREDICTED,
    gradient=True,
)
plain(
    programs,
    "weighted_crossentropy",
    metrics.weighted_crossentropy(np.asarray([0.5, 2.0, 10.0], "float32"), "made"),
    TRUE,
    PREDICTED,
    gradient=True,
)
plain(
    programs,
    "sparse_cross_entropy",
    metrics.sparse_cross_entropy(5),
    integers(3, 2, 5),
    floats(2, 5, 3),
    gradient=True,
)
plain(
    programs,
    "sentinel_logcosh_loss",
    metrics.sentinel_logcosh_loss(0.5),
    TRUE,
    PREDICTED,
    gradient=True,
)
plain(programs, "cox_hazard_loss", metrics.cox_hazard_loss, EVENTS, PREDICTED[:, :1], gradient=True)
plain(
    programs,
    "survival_likelihood_loss",
    metrics.survival_likelihood_loss(3),
    SURVIVED,
    floats(4, 6),
    gradient=True,
)
for _kind in ("soft", "hard"):
    plain(
        programs,
        f"dice {_kind}",
        lambda a, b, kind=_kind: metrics._Dice(dice_type=kind, nb_labels=3).loss(a, b),
        IMAGES,
        IMAGES[::-1].copy(),
        gradient=_kind == "soft",
    )
