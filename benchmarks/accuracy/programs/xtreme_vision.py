"""Calls of xtreme_vision 1.6.7 (Keras 2): proposals, targets, detections and losses of Mask R-CNN.

Labelled with its packages' `__init__.py` empty, and without the line that turns eager execution off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from program import Programs
from xtreme_vision.Segmentation.maskrcnn import mask_rcnn, utils
from xtreme_vision.Segmentation.maskrcnn.config import Config

from programs.made import floats, integers, layer, plain

programs = Programs("xtreme_vision")


class _Config(Config):
    NAME = "small"
    PRE_NMS_LIMIT = 6
    TRAIN_ROIS_PER_IMAGE = 6
    DETECTION_MAX_INSTANCES = 4
    DETECTION_MIN_CONFIDENCE = 0.2
    USE_MINI_MASK = False
    MASK_SHAPE = (4, 4)


CONFIG = _Config("resnet50", 3, ["BG", "a", "b"], 2, 64, 64, "square", 1)


def _boxes(*shape: int) -> Any:
    corner = floats(*shape, 2) / 2
    return np.concatenate([corner, corner + 0.1 + floats(*shape, 2) / 3], axis=-1)


BOXES, SECOND, DELTAS = _boxes(8), _boxes(3), floats(8, 4) / 10
META = np.concatenate(
    [
        np.asarray([[1, 32, 32, 3, 32, 32, 3, 0, 0, 32, 32, 1]] * 2, "float32"),
        np.ones([2, 3], "float32"),
    ],
    axis=1,
)
CLASSES = integers(3, 2, 8)
MATCH = (integers(3, 2, 8, 1) - 1).astype("int32")
for _name, _inputs in (
    ("apply_box_deltas_graph", (BOXES, DELTAS)),
    ("clip_boxes_graph", (BOXES, np.asarray([0.0, 0.0, 1.0, 1.0], "float32"))),
    ("overlaps_graph", (BOXES, SECOND)),
    ("smooth_l1_loss", (floats(8, 4), floats(8, 4))),
    ("rpn_class_loss_graph", (MATCH, floats(2, 8, 2))),
    ("mrcnn_class_loss_graph", (CLASSES, floats(2, 8, 3), np.ones([2, 3], "float32"))),
    ("mrcnn_bbox_loss_graph", (floats(2, 8, 4), CLASSES, floats(2, 8, 3, 4))),
    ("mrcnn_mask_loss_graph", (np.round(floats(2, 8, 4, 4)), CLASSES, floats(2, 8, 4, 4, 3))),
    ("parse_image_meta_graph", (META,)),
    ("trim_zeros_graph", (BOXES,)),
    ("norm_boxes_graph", (BOXES, np.asarray([32.0, 32.0], "float32"))),
    ("denorm_boxes_graph", (BOXES, np.asarray([32.0, 32.0], "float32"))),
    ("log2_graph", (floats(8),)),
):
    plain(
        programs, _name, getattr(mask_rcnn, _name), *_inputs, gradient=_name.endswith("loss_graph")
    )
plain(programs, "box_refinement_graph", utils.box_refinement_graph, BOXES, _boxes(8))
plain(
    programs,
    "batch_pack_graph",
    lambda x, counts: mask_rcnn.batch_pack_graph(x, counts, 2),
    floats(2, 8, 4),
    np.asarray([3, 2], "int32"),
)
plain(
    programs,
    "rpn_bbox_loss_graph",
    lambda target, match, given: mask_rcnn.rpn_bbox_loss_graph(CONFIG, target, match, given),
    floats(2, 8, 4),
    MATCH,
    floats(2, 8, 4),
    gradient=True,
)
plain(
    programs,
    "detection_targets_graph",
    lambda a, b, c, d: mask_rcnn.detection_targets_graph(a, b, c, d, CONFIG),
    BOXES,
    np.asarray([1, 2, 1], "int32"),
    SECOND,
    np.round(floats(32, 32, 3)).astype("bool"),
)
plain(
    programs,
    "refine_detections_graph",
    lambda a, b, c: mask_rcnn.refine_detections_graph(
        a, b, c, np.asarray([0.0, 0.0, 1.0, 1.0], "float32"), CONFIG
    ),
    BOXES,
    tf.nn.softmax(floats(8, 3) * 4).numpy(),
    floats(8, 3, 4) / 10,
)
layer(
    programs,
    "ProposalLayer",
    lambda: mask_rcnn.ProposalLayer(4, 0.7, CONFIG),
    [floats(2, 8, 2), floats(2, 8, 4) / 10, _boxes(2, 8)],
)
layer(
    programs,
    "PyramidROIAlign",
    lambda: mask_rcnn.PyramidROIAlign([4, 4]),
    [
        _boxes(2, 8),
        META,
        floats(2, 8, 8, 4),
        floats(2, 4, 4, 4),
        floats(2, 2, 2, 4),
        floats(2, 1, 1, 4),
    ],
)
