"""Calls of python-doctr 0.10.0 (Keras 2, USE_TF=1): models of text detection and recognition, and transforms of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from doctr import transforms
from doctr.models import classification, detection, recognition
from doctr.transforms.functional import tensorflow as functional
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("doctr")
IMAGE = floats(32, 32, 3)
SQUARE = floats(1, 64, 64, 3)
LINES = floats(2, 32, 128, 3)
WORDS = ["abc", "de"]
BOXES = np.asarray([[0.1, 0.1, 0.5, 0.4], [0.3, 0.5, 0.8, 0.9]], "float32")


def _model(name: str, make: Callable[[], Any], inputs: Any, **options: Any) -> None:
    """A program that calls a model; outputs that are no tensors stay outside of it."""

    def build() -> Call:
        made = make()
        return Call(lambda x: made(x, **options), [inputs], bool(options.get("target")))

    programs(name)(build)


def _recognition(name: str, **more: Any) -> Callable[[], Any]:
    shape = more.pop("input_shape", (32, 128, 3))
    return lambda: getattr(recognition, name)(
        pretrained=False, pretrained_backbone=False, input_shape=shape, **more
    )


def _detection(name: str) -> Callable[[], Any]:
    return lambda: getattr(detection, name)(
        pretrained=False, pretrained_backbone=False, input_shape=(64, 64, 3)
    )


_RESIZED = (
    ("resize", transforms.Resize((16, 24))),
    ("resize bicubic", transforms.Resize((16, 24), method="bicubic")),
    ("resize ratio", transforms.Resize((16, 24), preserve_aspect_ratio=True)),
    ("resize pad", transforms.Resize(16, preserve_aspect_ratio=True, symmetric_pad=True)),
    ("normalize", transforms.Normalize((0.5, 0.5, 0.5), (1.0, 1.0, 1.0))),
    ("to gray", transforms.ToGray()),
    ("color inversion", transforms.ColorInversion(0.6)),
    ("brightness", transforms.RandomBrightness()),
    ("contrast", transforms.RandomContrast()),
    ("saturation", transforms.RandomSaturation()),
    ("hue", transforms.RandomHue()),
    ("gamma", transforms.RandomGamma()),
    ("jpeg", transforms.RandomJpegQuality()),
    ("blur", transforms.GaussianBlur(3, (0.1, 3.0))),
    ("channel shuffle", transforms.ChannelShuffle()),
    ("noise", transforms.GaussianNoise()),
    ("shadow", transforms.RandomShadow()),
    ("composed", transforms.Compose([transforms.Resize((16, 16)), transforms.RandomGamma()])),
)
for _name, _transform in _RESIZED:
    plain(programs, f"transforms {_name}", lambda x, made=_transform: made(x), IMAGE)
_SAMPLES = (
    ("flip", transforms.RandomHorizontalFlip(1.0)),
    ("rotate", transforms.RandomRotate(10.0)),
    ("rotate expanded", transforms.RandomRotate(10.0, expand=True)),
    ("crop", transforms.RandomCrop()),
    ("random resize", transforms.RandomResize()),
)
for _name, _transform in _SAMPLES:
    plain(programs, f"samples {_name}", lambda x, made=_transform: made(x, BOXES)[0], IMAGE)

plain(programs, "invert_colors", functional.invert_colors, IMAGE)
plain(programs, "invert_colors bytes", functional.invert_colors, (IMAGE * 255).astype("uint8"))
plain(programs, "rotated", lambda x: functional.rotated_img_tensor(x, 30.0), IMAGE)
plain(programs, "rotated expanded", lambda x: functional.rotated_img_tensor(x, 30.0, True), IMAGE)
plain(
    programs,
    "crop_detection",
    lambda x: functional.crop_detection(x, BOXES, (0.1, 0.1, 0.7, 0.8))[0],
    IMAGE,
)
plain(programs, "random_shadow", lambda x: functional.random_shadow(x, (0.2, 0.6)), IMAGE)


def _post(name: str, make: Callable[[str], Any]) -> None:
    """A program of a model's output and its reader, with the tensors that the reader is given."""
    vocabulary = "abcde"

    @programs(f"postprocessor {name}")
    def build() -> Call:
        reader = make(vocabulary)
        return Call(lambda x: [x, reader(x)], [floats(2, 6, len(vocabulary) + 3)])


_post("sar", lambda words: recognition.sar.tensorflow.SARPostProcessor(words))
_post("vitstr", lambda words: recognition.vitstr.tensorflow.ViTSTRPostProcessor(words))

for _name in ("crnn_mobilenet_v3_small", "sar_resnet31", "master", "vitstr_small", "parseq"):
    _make = _recognition(_name)
    _model(f"{_name} target", _make, LINES, target=WORDS, training=True)
    _model(f"{_name} evaluated", _make, LINES, target=WORDS, return_model_output=True)
    _model(f"{_name} read", _make, LINES, return_model_output=True, return_preds=True)
    _model(f"{_name} exported", _recognition(_name, exportable=True), LINES)

for _name in ("db_mobilenet_v3_large", "linknet_resnet18", "fast_tiny"):
    _targets = [{"words": BOXES}]
    _model(f"{_name} target", _detection(_name), SQUARE, target=_targets, training=True)
    _model(f"{_name} read", _detection(_name), SQUARE, return_model_output=True, return_preds=True)

for _name in ("resnet18", "mobilenet_v3_small", "textnet_tiny", "vit_s"):
    _model(
        _name,
        lambda _name=_name: getattr(classification, _name)(
            pretrained=False, input_shape=(32, 32, 3), num_classes=5
        ),
        floats(1, 32, 32, 3),
    )
