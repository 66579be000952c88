"""Calls of tftk 0.1.17: augmentation of images, a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from program import Programs
from tftk.image.augument import ImageAugument
from tftk.loss.loss import ssim_color_loss

from programs.made import floats, integers, plain

programs = Programs("tftk")
IMAGE = integers(256, 16, 16, 3).astype("uint8")
AMOUNT = np.float32(0.4)


def _augmented(name: str, call: Callable[..., Any], *inputs: Any) -> None:
    plain(programs, name, call, IMAGE, *inputs)


_augmented("cutout", lambda x: ImageAugument.cutout(x, 4))
_augmented("cutout_map", lambda x: ImageAugument.cutout_map(4)({"image": x})["image"])
for _name in ("autocontrast", "equalize", "invert"):
    _augmented(_name, lambda x, _name=_name: getattr(ImageAugument, _name)(x))
for _name in ("color", "contrast", "brightness", "sharpness"):
    _augmented(_name, lambda x, f, _name=_name: getattr(ImageAugument, _name)(x, f), AMOUNT)
_augmented("solarize", lambda x: ImageAugument.solarize(x, 100))
_augmented("solarize_add", lambda x: ImageAugument.solarize_add(x, x, 20))
_augmented("posterize", lambda x: ImageAugument.posterize(x, 4))
_augmented("rotate", lambda x, f: ImageAugument.rotate(x, f), AMOUNT)
_augmented("translate_x", lambda x, f: ImageAugument.translate_x(x, f), AMOUNT)
_augmented("translate_y", lambda x, f: ImageAugument.translate_y(x, f), AMOUNT)
_augmented("shear_x", lambda x, f: ImageAugument.shear_x(x, f), AMOUNT)
_augmented("shear_y", lambda x, f: ImageAugument.shear_y(x, f), AMOUNT)
plain(
    programs,
    "randaugment_map",
    lambda x: ImageAugument.randaugment_map(2, 5)({"image": x})["image"],
    IMAGE,
)
plain(programs, "ssim_color_loss", ssim_color_loss, floats(1, 16, 16, 3), floats(1, 16, 16, 3))
