"""Calls of tfyolo 0.0.1: anchors, losses, boxes, the choice of boxes, and layers of its models."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, layer, plain

# Its modules import each other from inside of its folder, and one of them reads the command line.
_FOLDER = Path(str(importlib.util.find_spec("tfyolo").origin)).parent  # type: ignore[union-attr]
sys.path.append(str(_FOLDER))
sys.argv[1:] = []

programs = Programs("tfyolo")
BOXES = np.concatenate([floats(6, 2) * 0.8 + 0.1, floats(6, 2) * 0.3 + 0.05], 1)
OTHERS = np.concatenate([floats(4, 2) * 0.8 + 0.1, floats(4, 2) * 0.3 + 0.05], 1)
LABELS = np.concatenate([BOXES, np.asarray([[0], [1], [2], [0], [1], [2]], "float32")], 1)
ANCHORS = np.asarray([[[2, 3], [4, 3], [3, 6]], [[2, 2], [3, 4], [4, 5]]], "float32")
FEATURES = floats(1, 8, 8, 4)


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _labeler(**options: Any) -> Any:
    made = _module("tfyolo.dataset.label_anchor").AnchorLabeler(ANCHORS, [8, 4], 64, **options)
    return made.encode


def _function(name: str, path: str, *inputs: Any, gradient: bool = False, **options: Any) -> None:
    module, attribute = path.rsplit(".", 1)

    @programs(name)
    def build() -> Call:
        function = getattr(_module(module), attribute)
        return Call(lambda *given: function(*given, **options), inputs, gradient)


@programs("encode labels")
def _encode() -> Call:
    return Call(_labeler(), [LABELS])


@programs("encode labels without neighbours")
def _encode_alone() -> Call:
    return Call(_labeler(extend_offset=False), [LABELS])


@programs("encode labels by overlap")
def _encode_by_overlap() -> Call:
    return Call(_labeler(assign_method="iou", anchor_match_threshold=0.3), [LABELS])


def _maps(last: int) -> list[Any]:
    return [floats(2, size, size, 3, last) for size in (8, 4, 2)]


@programs("loss")
def _loss() -> Call:
    made = _module("tfyolo.models.loss").YoloLoss(ANCHORS, 0.5, 3, 64)
    return Call(lambda true, given: made(true, given), [_maps(6), _maps(8)], True)


for _name, _options in (
    ("iou", {}),
    ("giou", {"giou": True}),
    ("diou", {"diou": True}),
    ("ciou", {"ciou": True}),
    ("iou of corners", {"xyxy": True}),
):
    _function(_name, "tfyolo.models.loss.bbox_iou", BOXES, BOXES[::-1], gradient=True, **_options)
_function("box_iou", "dataset.image_utils.box_iou", BOXES, OTHERS, gradient=True)
_function("xyxy2xywh", "dataset.image_utils.xyxy2xywh", BOXES, gradient=True)
_function("xywh2xyxy", "dataset.image_utils.xywh2xyxy", BOXES, gradient=True)
_function(
    "batch nms",
    "tfyolo.models.post_process.batch_non_max_suppression",
    np.concatenate([floats(2, 12, 4), floats(2, 12, 1) * 0.5 + 0.4, floats(2, 12, 3)], -1),
)


def _schedule(kind: str) -> None:
    settings = {
        "init_learning_rate": 0.1,
        "warmup_learning_rate": 0.01,
        "warmup_steps": 5,
        "learning_rate_levels": [0.05, 0.01],
        "learning_rate_steps": [20, 40],
    }

    @programs(f"schedule {kind}")
    def build() -> Call:
        made = getattr(_module("tfyolo.models.optimizer"), kind)(50, settings)
        return Call(lambda step: made(step), [np.asarray(7.0, "float32")])


_schedule("Step")
_schedule("Cosine")


def _layer(kind: str, *arguments: Any, inputs: Any = FEATURES) -> None:
    made = "tfyolo.layers.module"
    layer(programs, f"layer {kind}", lambda: getattr(_module(made), kind)(*arguments), inputs)


_layer("Conv", 4, 3, 1)
_layer("DWConv", 4, 3, 1)
_layer("Focus", 4, 3)
_layer("CrossConv", 4, 3)
_layer("Bottleneck", 4)
_layer("BottleneckCSP", 4)
_layer("BottleneckCSP2", 4)
_layer("VoVCSP", 4)
_layer("SPP", 4)
_layer("SPPCSP", 4)
_layer("Upsample")
_layer("Concat", inputs=[FEATURES, FEATURES])
plain(programs, "mish", lambda x: _module("tfyolo.layers.module").Mish()(x), FEATURES)
plain(programs, "swish", lambda x: _module("tfyolo.layers.module").Swish()(x), FEATURES)


@programs("detect")
def _detect() -> Call:
    made = _module("tfyolo.models.yolo5").Detect(3, [[10, 13, 16, 30, 33, 23]] * 3)
    maps = [tf.constant(floats(1, size, size, 4)) for size in (8, 4, 2)]
    made(maps)
    return Call(lambda given: made(given), [maps], True)
