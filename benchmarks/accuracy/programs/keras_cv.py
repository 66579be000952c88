"""Calls of keras-cv 0.9.0 (Keras 3): augmentation layers on a batch of pictures, and parts of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras_cv
import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, integers, layer

programs = Programs("keras_cv")

PICTURES = floats(2, 16, 16, 3) * 255
LABELS = np.eye(3, dtype="float32")[integers(3, 2)]


def augmented(name: str, make: Callable[[], Any]) -> None:
    """A program that augments a batch of pictures with labels, as a first layer of a compiled model does."""

    def build() -> Call:
        made = make()
        inputs = {"images": PICTURES, "labels": LABELS}
        made({key: tf.constant(value) for key, value in inputs.items()}, training=True)
        return Call(lambda values: made(values, training=True)["images"], [inputs])

    programs(name)(build)


L = keras_cv.layers
augmented("layers.AugMix", lambda: L.AugMix([0, 255]))
augmented("layers.CutMix", lambda: L.CutMix())
augmented("layers.MixUp", lambda: L.MixUp())
augmented("layers.FourierMix", lambda: L.FourierMix())
augmented("layers.Mosaic", lambda: L.Mosaic())
augmented("layers.Equalization", lambda: L.Equalization([0, 255]))
augmented("layers.GridMask", lambda: L.GridMask())
augmented("layers.RandomCrop", lambda: L.RandomCrop(8, 8))
augmented(
    "layers.RandomCropAndResize", lambda: L.RandomCropAndResize((8, 8), (0.5, 1.0), (0.8, 1.2))
)
augmented("layers.RandomJpegQuality", lambda: L.RandomJpegQuality((50, 100)))
augmented("layers.RandomAspectRatio", lambda: L.RandomAspectRatio((0.8, 1.2)))
augmented("layers.Resizing", lambda: L.Resizing(8, 8))
augmented("layers.Resizing bicubic", lambda: L.Resizing(8, 8, interpolation="bicubic"))
augmented("layers.JitteredResize", lambda: L.JitteredResize((8, 8), (0.8, 1.2)))
augmented("layers.RandomRotation", lambda: L.RandomRotation(0.2))
augmented("layers.RandomShear", lambda: L.RandomShear(0.2, 0.2))
augmented("layers.RandomApply", lambda: L.RandomApply(L.Grayscale(3), rate=0.5))
augmented(
    "layers.RandomApply together", lambda: L.RandomApply(L.Grayscale(3), rate=0.5, batchwise=True)
)
augmented("layers.AutoContrast", lambda: L.AutoContrast([0, 255]))
augmented("layers.ChannelShuffle", lambda: L.ChannelShuffle())
augmented("layers.Grayscale", lambda: L.Grayscale(3))
augmented("layers.Posterization", lambda: L.Posterization([0, 255], 4))
augmented("layers.Solarization", lambda: L.Solarization([0, 255]))
augmented("layers.RandomBrightness", lambda: L.RandomBrightness(0.2, [0, 255]))
augmented("layers.RandomContrast", lambda: L.RandomContrast([0, 255], 0.2))
augmented("layers.RandomFlip", lambda: L.RandomFlip())
augmented("layers.RandomHue", lambda: L.RandomHue(0.2, [0, 255]))
augmented("layers.RandomCutout", lambda: L.RandomCutout(0.3, 0.3))
augmented("layers.RandomGaussianBlur", lambda: L.RandomGaussianBlur(3, 1.0))
layer(programs, "layers.SqueezeAndExcite2D", lambda: L.SqueezeAndExcite2D(4, 2), floats(2, 8, 8, 4))
layer(programs, "layers.DropBlock2D", lambda: L.DropBlock2D(0.2, 3), floats(2, 8, 8, 4))
layer(programs, "layers.DropPath", lambda: L.DropPath(0.2), floats(2, 8))
layer(
    programs, "layers.TransformerEncoder", lambda: L.TransformerEncoder(8, 2, 16), floats(2, 6, 8)
)
layer(
    programs,
    "layers.SpatialPyramidPooling",
    lambda: L.SpatialPyramidPooling([2, 4], num_channels=8),
    floats(2, 8, 8, 4),
)
layer(
    programs,
    "layers.PatchingAndEmbedding",
    lambda: L.PatchingAndEmbedding(8, 4),
    floats(2, 16, 16, 3),
)


@programs("layers.PatchingAndEmbedding interpolated")
def _() -> Call:
    made = L.PatchingAndEmbedding(8, 4)
    made(tf.constant(floats(2, 16, 16, 3)))
    return Call(
        lambda x: made(
            x, interpolate=True, interpolate_width=8, interpolate_height=8, patch_size=4
        ),
        [floats(2, 8, 8, 3)],
    )


@programs("layers.MultiClassNonMaxSuppression")
def _() -> Call:
    made = L.MultiClassNonMaxSuppression("xyxy", from_logits=True)
    corners = np.sort(floats(1, 6, 4), axis=-1)
    return Call(lambda b, c: made(b, c)["boxes"], [corners, floats(1, 6, 3)])


@programs("losses.CIoULoss")
def _() -> Call:
    made = keras_cv.losses.CIoULoss("xyxy")
    return Call(lambda a, b: made(a, b), [np.sort(floats(6, 4)), np.sort(floats(6, 4))], True)


@programs("losses.FocalLoss")
def _() -> Call:
    made = keras_cv.losses.FocalLoss()
    return Call(lambda a, b: made(a, b), [LABELS, floats(2, 3)], True)
