"""Calls of keras-cv-attention-models 1.4.3 (Keras 2): augmentation, anchors, decoding of predictions, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras_cv_attention_models.coco import anchors_func, eval_func, tf_losses
from keras_cv_attention_models.imagenet import augment, losses
from program import Call, Programs

from programs.made import floats, integers, plain

programs = Programs("keras_cv_attention_models")
PICTURE = (floats(16, 16, 3) * 255).astype("uint8")


def picture(name: str, function: Any) -> None:
    """A program that augments a picture."""
    plain(programs, f"augment.{name}", function, PICTURE)


for _name, _arguments in {
    "cutout": (4,), "solarize": (), "solarize_add": (10,), "color": (0.5,), "contrast": (0.5,), "brightness": (0.5,),
    "posterize": (4,), "rotate": (10.0, 128), "translate_x_relative": (0.2, 128), "translate_y_relative": (0.2, 128),
    "translate_x": (3, 128), "translate_y": (3, 128), "shear_x": (0.2, 128), "shear_y": (0.2, 128), "scale_x": (0.8, 128),
    "scale_y": (0.8, 128), "scale": (0.8, 128), "autocontrast": (), "sharpness": (0.5,), "equalize": (), "invert": (),
    "wrap": (),
}.items():  # fmt: skip
    picture(_name, lambda x, name=_name, rest=_arguments: getattr(augment, name)(x, *rest))
picture("unwrap", lambda x: augment.unwrap(augment.wrap(x), 128))
picture("RandAugment", lambda x: augment.RandAugment(num_layers=1)(x))
picture("AutoAugment", lambda x: augment.AutoAugment("simple")(x))
picture("PositionalRandAugment", lambda x: augment.PositionalRandAugment(num_layers=1)(x))
ANCHORS = anchors_func.get_anchors((64, 64, 3), [3, 4])
BOXES = np.concatenate([floats(3, 2) * 0.4, 0.5 + floats(3, 2) * 0.4, np.ones((3, 1))], 1).astype(
    "float32"
)
plain(
    programs, "anchors.iou_nd", lambda a, b: anchors_func.iou_nd(a, b), BOXES[:, :4], floats(5, 4)
)
plain(
    programs,
    "anchors.corners_to_center",
    lambda a: anchors_func.corners_to_center_yxhw_nd(a),
    BOXES[:, :4],
)
plain(
    programs,
    "anchors.center_to_corners",
    lambda a: anchors_func.center_yxhw_to_corners_nd(a),
    BOXES[:, :4],
)
plain(
    programs,
    "anchors.decode_bboxes",
    lambda p: anchors_func.decode_bboxes(p, ANCHORS),
    floats(2, len(ANCHORS), 7),
    gradient=True,
)
plain(
    programs,
    "anchors.assign by iou",
    lambda b: anchors_func.assign_anchor_classes_by_iou_with_bboxes(b, ANCHORS),
    BOXES,
)
plain(
    programs,
    "anchors.yolor_assign_anchors",
    lambda b: anchors_func.yolor_assign_anchors(
        b, *anchors_func.get_yolor_anchors((64, 64), [3, 4], is_for_training=True)
    ),
    BOXES,
)


@programs("anchors.AnchorFreeAssignMatching")
def _matching() -> Call:
    match = anchors_func.AnchorFreeAssignMatching([64, 64], [3, 4])
    return Call(lambda b, p: match(b, p), [BOXES, floats(80, 4 + 3 + 1)])


def decoded(name: str, **options: Any) -> None:
    """A program that turns what a detector gives into boxes."""

    def build() -> Call:
        made = eval_func.DecodePredictions(
            (64, 64), [3, 4], anchors_mode="efficientdet", use_object_scores=False, **options
        )
        return Call(lambda x: made(x), [floats(1, len(ANCHORS), 4 + 5)])

    programs(f"DecodePredictions {name}")(build)


decoded("global")
decoded("per class", mode="per_class")
decoded("gaussian", method="gaussian")
decoded("static", use_static_output=True)
decoded("top", topk=20)
plain(
    programs,
    "eval_func.image_process",
    lambda x: eval_func.image_process(x, (32, 32), 0.5, 0.5)[0],
    PICTURE.astype("float32"),
)
plain(
    programs,
    "eval_func.image_process bicubic",
    lambda x: eval_func.image_process(x, (32, 32), 0.5, 0.5, resize_method="bicubic")[0],
    PICTURE.astype("float32"),
)
plain(
    programs,
    "eval_func.image_process antialias",
    lambda x: eval_func.image_process(x, (32, 32), 0.5, 0.5, resize_antialias=True)[0],
    PICTURE.astype("float32"),
)
plain(
    programs,
    "losses.BinaryCrossEntropyTimm",
    lambda y, x: losses.BinaryCrossEntropyTimm()(y, x),
    np.eye(3, dtype="float32")[integers(3, 4)],
    floats(4, 3),
    gradient=True,
)
plain(
    programs,
    "losses.DistillKLDivergenceLoss",
    lambda y, x: losses.DistillKLDivergenceLoss()(y, x),
    floats(4, 3),
    floats(4, 3),
    gradient=True,
)
plain(
    programs,
    "losses.FocalLossWithBbox",
    lambda y, x: tf_losses.FocalLossWithBbox()(y, x),
    floats(2, 6, 4 + 3 + 1),
    floats(2, 6, 4 + 3),
    gradient=True,
)
