"""Calls of xyolo 0.1.6 (Keras 2): heads of YOLO, their boxes, suppression and loss.

Labelled with without its import of `multi_gpu_model`, which Keras no longer has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from program import Programs
from xyolo.yolo3 import model

from programs.made import floats, plain

programs = Programs("xyolo")
ANCHORS = np.asarray([[i + 10, 2 * i + 10] for i in range(9)], "float32")
HEADS = [floats(2, n, n, 24) for n in (2, 4, 8)]


def _true(n: int) -> Any:
    boxes = np.clip(floats(2, n, n, 3, 4), 0.1, 0.9)
    return np.concatenate(
        [boxes, np.round(floats(2, n, n, 3, 1)), np.round(floats(2, n, n, 3, 3))], axis=-1
    )


plain(
    programs,
    "yolo_loss",
    lambda *given: model.yolo_loss(list(given), ANCHORS, 3),
    *HEADS,
    *(_true(n) for n in (2, 4, 8)),
    gradient=True,
)
plain(
    programs,
    "yolo_eval",
    lambda a, b, c, shape: model.yolo_eval([a, b, c], ANCHORS, 3, shape),
    *(head[:1] for head in HEADS),
    np.asarray([48.0, 64.0], "float32"),
)
plain(
    programs,
    "yolo_head",
    lambda x: model.yolo_head(x, ANCHORS[:3], 3, np.asarray([64, 64], "int32")),
    HEADS[0],
)
plain(
    programs,
    "yolo_boxes_and_scores",
    lambda x, shape: model.yolo_boxes_and_scores(
        x, ANCHORS[:3], 3, np.asarray([64, 64], "int32"), shape
    ),
    HEADS[0],
    np.asarray([48.0, 64.0], "float32"),
)
plain(programs, "box_iou", model.box_iou, floats(4, 4, 3, 4), floats(5, 4))
