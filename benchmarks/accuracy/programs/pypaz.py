"""Calls of pypaz 0.2.5 (Keras 2): losses of detection and of keypoints, prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from paz.models.classification import protonet
from paz.models.keypoint.projector import Projector
from paz.optimization import losses
from program import Programs

from programs.made import floats, plain

programs = Programs("paz")


def _boxes() -> Any:
    """Two samples of eight boxes: four numbers and three classes, the first of which is the background."""
    classes = np.eye(3, dtype="float32")[[[0, 1, 2, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0]]]
    return np.concatenate([floats(2, 8, 4), classes], axis=-1)


TRUE = _boxes()
PREDICTED = np.concatenate([floats(2, 8, 4), tf.nn.softmax(floats(2, 8, 3)).numpy()], axis=-1)
_multibox = losses.MultiBoxLoss()
for _name in (
    "compute_loss",
    "localization",
    "positive_classification",
    "negative_classification",
):
    plain(
        programs,
        f"MultiBoxLoss.{_name}",
        lambda true, given, _name=_name: getattr(_multibox, _name)(true, given),
        TRUE,
        PREDICTED,
        gradient=True,
    )
_keypoints = losses.KeypointNetLoss(3, 2.0)
MATRICES, POINTS = floats(2, 4, 16), floats(2, 6, 3) + 0.5
for _name in ("consistency", "separation", "relative_pose", "uvz_points"):
    plain(
        programs,
        f"KeypointNetLoss.{_name}",
        lambda matrices, points, _name=_name: getattr(_keypoints, _name)(matrices, points),
        MATRICES,
        POINTS,
        gradient=True,
    )
for _name in ("silhouette", "variance", "uv_volumes"):
    plain(
        programs,
        f"KeypointNetLoss.{_name}",
        lambda channels, volumes, _name=_name: getattr(_keypoints, _name)(channels, volumes),
        floats(2, 8, 8, 2),
        floats(2, 6, 8, 8),
        gradient=True,
    )
plain(programs, "Projector.project", lambda x: Projector(2.0).project(x), floats(2, 3, 4) + 0.5)
plain(programs, "Projector.unproject", lambda x: Projector(2.0).unproject(x), floats(2, 3, 3) + 0.5)
plain(
    programs,
    "compute_pairwise_distances",
    protonet.compute_pairwise_distances,
    floats(4, 6),
    floats(3, 6),
)
for _name in ("DiceLoss", "JaccardLoss", "FocalLoss", "WeightedReconstruction"):
    plain(
        programs,
        _name,
        lambda true, given, _name=_name: getattr(losses, _name)()(true, given),
        floats(2, 8, 8, 3),
        floats(2, 8, 8, 4 if _name == "WeightedReconstruction" else 3),
        gradient=True,
    )
