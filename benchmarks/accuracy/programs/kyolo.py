"""Calls of kyolo 0.1.5 (Keras 3): anchors, assignment, the loss of detection, suppression."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops
from kyolo.losses.detection_loss import YOLODetectionLoss
from kyolo.ops import anchors, boxes
from kyolo.postprocessing import nms, postprocessor
from program import Programs

from programs.made import floats, integers, layer, plain

programs = Programs("kyolo")
BOXES = np.concatenate([floats(2, 6, 2), 1 + floats(2, 6, 2)], axis=-1) * 8
FEATURES = [floats(2, 8, 8, 19), floats(2, 4, 4, 19), floats(2, 2, 2, 19)]
TRUE = np.concatenate([floats(2, 3, 2), 1 + floats(2, 3, 2)], axis=-1) * 20
for _detector, _width in ((True, 4), (False, 1)):
    plain(
        programs,
        f"YOLODetectionLoss {_detector}",
        lambda a, b, c, given, labels, mask, _width=_width, _detector=_detector: YOLODetectionLoss(
            3, _width, tal_topk=3, use_dfl=_detector
        )(
            [x[..., : 4 * _width + 3] for x in (a, b, c)],
            {"boxes": given, "labels": labels, "mask": mask},
        ),
        *FEATURES,
        TRUE,
        integers(3, 2, 3),
        np.asarray([[1, 1, 0], [1, 0, 0]], "float32"),
        gradient=True,
    )
plain(
    programs,
    "batched_nms",
    lambda x, scores, classes: nms.batched_nms(x, scores, classes, max_detections=4),
    BOXES,
    floats(2, 6),
    integers(3, 2, 6),
)
plain(
    programs,
    "top_k_detections",
    lambda x, scores: nms.top_k_detections(x, scores, 4),
    BOXES,
    floats(2, 6, 3),
)
layer(
    programs,
    "NonMaxSuppression",
    lambda: nms.NonMaxSuppression(3, max_detections=4),
    np.concatenate([BOXES, floats(2, 6, 3)], axis=-1),
)
for _ends in (False, True):
    layer(
        programs,
        f"YOLOPostprocessor {_ends}",
        lambda _ends=_ends: postprocessor.YOLOPostprocessor(
            3, 4, max_detections=5, end_to_end=_ends
        ),
        FEATURES,
    )
for _name in ("xywh2xyxy", "xyxy2xywh", "box_area"):
    plain(programs, _name, getattr(boxes, _name), BOXES)
for _name in ("giou", "diou", "ciou"):
    plain(
        programs,
        f"bbox_iou {_name}",
        lambda a, b, _name=_name: boxes.bbox_iou(a, b, **{_name: True}),
        BOXES,
        BOXES + 1,
        gradient=True,
    )
plain(programs, "pairwise_iou", boxes.pairwise_iou, BOXES[0], BOXES[1])


def _anchors(a: Any, b: Any) -> Any:
    shapes = [(ops.shape(x)[1], ops.shape(x)[2]) for x in (a, b)]
    return anchors.make_anchors(shapes, (8, 16))


plain(programs, "make_anchors", _anchors, *FEATURES[:2])
plain(programs, "dist2bbox", anchors.dist2bbox, floats(2, 6, 4), floats(6, 2))
plain(programs, "bbox2dist", lambda a, b: anchors.bbox2dist(a, b, 4), floats(6, 2), BOXES)
