"""Calls of keras-augm-layer 1.0.6: each transform of a batch of images, and the layer."""

from __future__ import annotations

from typing import Any

import keras_augm_layer as augm
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("keras_augm_layer")
IMAGES = floats(2, 8, 8, 3) * 255

for _name, _arguments in (
    ("HorizontalFlip", (0.5,)),
    ("VerticalFlip", (0.5,)),
    ("RandomRotate", (15,)),
    ("RandomRotate90", (0.5,)),
    ("RandomBrightness", (0.2,)),
    ("RandomContrast", ()),
    ("RGBShift", ()),
    ("ToGray", ()),
    ("JpegCompression", ()),
    ("RandomCrop", ()),
    ("RandomHue", ()),
    ("RandomSaturation", ()),
    ("RandomGaussNoise", ()),
    ("ResizeImage", (6, 6)),
):

    @programs(_name)
    def _transform(name: str = _name, arguments: Any = _arguments) -> Call:
        made = getattr(augm, name)(*arguments)
        return Call(lambda images: made(images), [IMAGES])


plain(programs, "resize_if_needed", lambda x: augm.resize_if_needed(x, (6, 6, 3)), IMAGES)


@programs("AugmLayer")
def _layer() -> Call:
    made = augm.AugmLayer([augm.HorizontalFlip(), augm.RGBShift()], output_dim=(6, 6, 3))
    made(IMAGES)
    return Call(lambda images: made(images, training=True), [IMAGES])
