"""Calls of histomics_detect 0.0.1 (Keras 2)."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from histomics_detect.anchors import create, sampling
from histomics_detect.anchors.filter import filter_anchors
from histomics_detect.augmentation import augmentation
from histomics_detect.boxes import cross_boxes, match, neighborhood, transforms
from histomics_detect.metrics import greedy_iou_mapping, iou, lnms
from histomics_detect.metrics.average_precision import AveragePrecision
from histomics_detect.metrics.objectness import FalseNegativeRate, FalsePositiveRate
from histomics_detect.models import lnms_loss
from histomics_detect.models.model_utils import extract_data
from histomics_detect.roialign.roialign import roialign
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("histomics_detect")
BOXES = np.concatenate([floats(5, 2) * 20, floats(5, 2) * 10 + 4], 1)
OTHERS = np.concatenate([BOXES[:3] + 0.5, floats(4, 2) * 20, floats(4, 2) * 10 + 4][:1], 0)
ANCHORS = np.concatenate(
    [np.concatenate([floats(4, 2) * 20, floats(4, 2) * 10 + 4], 1), BOXES + 0.2], 0
)
MATCHED = np.concatenate([BOXES, np.asarray([[0], [1], [2], [0], [1]], "float32")], 1)
IMAGE = floats(32, 32, 3)
SCORES = floats(5, 1)
CLUSTERS = np.asarray([0, 1, 2, 0, 1], "int32")

plain(programs, "iou", iou, BOXES, OTHERS, gradient=True)
plain(programs, "greedy_iou_mapping", lambda ious: greedy_iou_mapping(ious, 0.2), floats(5, 3))
plain(programs, "cross_from_boxes", lambda b: cross_boxes.cross_from_boxes(b, 0.5), BOXES)
plain(
    programs,
    "cross_from_boxes grow",
    lambda b: cross_boxes.cross_from_boxes(b, 0.5, grow=True),
    BOXES,
)
plain(programs, "cluster_assignment", match.cluster_assignment, OTHERS, BOXES)
plain(
    programs,
    "cluster_assignment threshold",
    lambda a, b: match.cluster_assignment(a, b, 0.1, True),
    OTHERS,
    BOXES,
)
plain(programs, "match linear sum", match.tf_linear_sum_assignment, OTHERS, BOXES)
plain(programs, "metrics linear sum", lnms.tf_linear_sum_assignment, OTHERS, BOXES)
plain(
    programs,
    "assemble_single_neighborhood",
    neighborhood.assemble_single_neighborhood,
    np.asarray(1, "int32"),
    floats(5, 4),
    np.asarray([[0], [2]], "int32"),
    floats(2, 5),
)
plain(
    programs,
    "single_neighborhood_additional_info",
    lambda scores, ious, boxes: neighborhood.single_neighborhood_additional_info(
        tf.argmax(scores), ious, boxes, 2.0, 0.3
    ),
    floats(5),
    floats(5, 5),
    BOXES,
)
for distance in (False, True):
    plain(
        programs,
        f"all_neighborhoods_additional_info {distance}",
        lambda boxes, ids, distance=distance: neighborhood.all_neighborhoods_additional_info(
            boxes, ids, 2.0, 0.3, distance
        ),
        BOXES,
        np.arange(5, dtype="int32"),
    )
plain(programs, "parameterize", transforms.parameterize, MATCHED, OTHERS, gradient=True)
plain(programs, "unparameterize", transforms.unparameterize, BOXES, MATCHED, gradient=True)
plain(programs, "tf_box_transform", transforms.tf_box_transform, BOXES, gradient=True)
plain(programs, "clip_boxes", lambda b: transforms.clip_boxes(b, 20.0, 20.0), BOXES)
plain(
    programs, "filter_edge_boxes", lambda b: transforms.filter_edge_boxes(b, 32.0, 32.0, 3.0), BOXES
)
plain(programs, "filter_anchors", filter_anchors, OTHERS, ANCHORS)
plain(
    programs,
    "sample_anchors",
    lambda p, n, o: sampling.sample_anchors(p, n, o, 4),
    MATCHED,
    ANCHORS,
    floats(9),
)
plain(
    programs,
    "create_anchors",
    lambda px: create.create_anchors(px, 8, 32, 32),
    np.asarray([8, 16], "int32"),
)
plain(
    programs,
    "create_anchors unfiltered",
    lambda px: create.create_anchors(px, 8, 32, 32, False),
    np.asarray([8, 16], "int32"),
)
plain(
    programs,
    "roialign",
    lambda f, b: roialign(f, b, 8.0, 2, 3),
    floats(1, 4, 4, 3),
    BOXES,
    gradient=True,
)
RAGGED = tf.RaggedTensor.from_tensor(BOXES)
plain(programs, "flip", augmentation.flip, IMAGE, RAGGED)
plain(programs, "crop", lambda i, b: augmentation.crop(i, b, 24, 24), IMAGE, RAGGED)
plain(programs, "jitter", augmentation.jitter, RAGGED)
plain(programs, "shrink", augmentation.shrink, RAGGED)
plain(programs, "extract_data", lambda i, b: extract_data((i, b))[:2], IMAGE[None], RAGGED)


def _metric(make: object, *inputs: object) -> None:
    def build() -> Call:
        metric = make()  # type: ignore[operator]

        def update(*values: object) -> object:
            metric.update_state(*values)
            return metric.result()

        return Call(update, inputs)

    programs(make.__name__)(build)  # type: ignore[attr-defined]


_metric(AveragePrecision, OTHERS, np.concatenate([floats(5, 2), BOXES], 1))
_metric(FalseNegativeRate, np.asarray([0, 1, 1, 0, 1], "float32"), floats(5))
_metric(FalsePositiveRate, np.asarray([0, 1, 1, 0, 1], "float32"), floats(5))


def _loss(name: str, call: object, *inputs: object) -> None:
    def build() -> Call:
        loss = tf.keras.losses.BinaryCrossentropy(reduction="none")
        means = [tf.keras.metrics.Mean() for _ in range(3)]
        return Call(lambda *values: call(loss, means, *values), inputs, True)  # type: ignore[operator]

    programs(name)(build)


_loss(
    "normal_loss",
    lambda loss, means, b, r, s: lnms_loss.normal_loss(loss, b, r, s, 1.0, means),
    OTHERS,
    BOXES,
    SCORES,
)
_loss(
    "normal_loss weighted",
    lambda loss, means, b, r, s: lnms_loss.normal_loss(loss, b, r, s, 1.0, means, True, True, True),
    OTHERS,
    BOXES,
    SCORES,
)
_loss(
    "paper_loss",
    lambda loss, means, b, r, s: lnms_loss.paper_loss(b, r, s, loss, 1.0, means),
    OTHERS,
    BOXES,
    SCORES,
)
_loss(
    "paper_loss weighted",
    lambda loss, means, b, r, s: lnms_loss.paper_loss(b, r, s, loss, 1.0, means, True, True),
    OTHERS,
    BOXES,
    SCORES,
)
_loss(
    "clustering_loss",
    lambda loss, means, s, c, b, r: lnms_loss.clustering_loss(s, c, loss, 1.0, means, b, r),
    SCORES,
    CLUSTERS,
    OTHERS,
    BOXES,
)
_loss(
    "clustering_loss regressing",
    lambda loss, means, s, c, b, r: lnms_loss.clustering_loss(
        s, c, loss, 1.0, means, b, r, True, True, 1
    ),
    floats(5, 3),
    CLUSTERS,
    OTHERS,
    BOXES,
)
_loss(
    "normal_clustering_loss",
    lambda loss, means, s, b, r, c: lnms_loss.normal_clustering_loss(s, b, r, c, loss, 1.0, means),
    SCORES,
    OTHERS,
    BOXES,
    CLUSTERS,
)
_loss(
    "xor_loss",
    lambda loss, means, s, c: lnms_loss.xor_loss(s, c)[0],
    SCORES,
    CLUSTERS[:, None],
)
