"""Calls of keras-cv 0.9.0 (Keras 3): augmentation layers on a batch of pictures, and parts of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras_cv
import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, integers, layer, plain

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


# Boxes, masks of segments, and what detectors are made of.
BOXES = np.array(
    [
        [[1, 1, 8, 9], [2, 3, 12, 14], [-1, -1, -1, -1]],
        [[0, 0, 5, 6], [4, 4, 15, 15], [3, 2, 9, 8]],
    ],
    "float32",
)
CLASSES = np.array([[0, 1, -1], [2, 1, 0]], "float32")
MASKS = integers(3, 2, 16, 16, 1).astype("float32")
WITHIN = {"bounding_box_format": "xyxy"}


def beside(name: str, make: Callable[[], Any], **others: Any) -> None:
    """A program that augments pictures and what is said of them: `bounding_boxes`, `segmentation_masks`."""

    def build() -> Call:
        made = make()
        inputs = {"images": PICTURES, "labels": LABELS, **others}

        def run(values: Any) -> Any:
            out = dict(made(values, training=True))
            if "bounding_boxes" in out:
                found = keras_cv.bounding_box.to_dense(out["bounding_boxes"], max_boxes=3)
                out["bounding_boxes"] = found
            return tf.nest.flatten(out)

        run(tf.nest.map_structure(tf.constant, inputs))
        return Call(run, [inputs])

    programs(name)(build)


def boxed(name: str, make: Callable[[], Any]) -> None:
    """A program that augments pictures and the boxes in them."""
    beside(f"{name} boxes", make, bounding_boxes={"boxes": BOXES, "classes": CLASSES})


def segmented(name: str, make: Callable[[], Any]) -> None:
    """A program that augments pictures and their masks."""
    beside(f"{name} masks", make, segmentation_masks=MASKS)


boxed("RandomFlip", lambda: L.RandomFlip("horizontal_and_vertical", **WITHIN))
boxed("RandomRotation", lambda: L.RandomRotation(0.2, segmentation_classes=3, **WITHIN))
boxed("RandomShear", lambda: L.RandomShear(0.2, 0.2, **WITHIN))
boxed("RandomTranslation", lambda: L.RandomTranslation(0.2, 0.2, **WITHIN))
boxed("RandomCrop", lambda: L.RandomCrop(8, 8, **WITHIN))
boxed("RandomAspectRatio", lambda: L.RandomAspectRatio((0.8, 1.2), **WITHIN))
boxed("JitteredResize", lambda: L.JitteredResize((8, 8), (0.8, 1.2), **WITHIN))
boxed("Mosaic", lambda: L.Mosaic(**WITHIN))
boxed("MixUp", lambda: L.MixUp())
segmented("RandomFlip", lambda: L.RandomFlip("horizontal_and_vertical"))
segmented("RandomRotation", lambda: L.RandomRotation(0.2, segmentation_classes=3))
segmented("RandomTranslation", lambda: L.RandomTranslation(0.2, 0.2, fill_mode="constant"))
segmented("RandomZoom", lambda: L.RandomZoom(0.2))
segmented("RandomCropAndResize", lambda: L.RandomCropAndResize((8, 8), (0.5, 1.0), (0.8, 1.2)))
segmented("GridMask", lambda: L.GridMask())
segmented("CutMix", lambda: L.CutMix())
segmented("MixUp", lambda: L.MixUp())
segmented("Mosaic", lambda: L.Mosaic())
segmented("RandomCutout", lambda: L.RandomCutout(0.3, 0.3, fill_mode="gaussian_noise"))
segmented("AugMix", lambda: L.AugMix([0, 255], severity=0.5))
segmented("Resizing", lambda: L.Resizing(8, 8))
for written, make in {
    "RandAugment": lambda: L.RandAugment([0, 255], augmentations_per_image=2, magnitude=0.5),
    "RandAugment geometric off": lambda: L.RandAugment([0, 255], geometric=False),
    "RandomAugmentationPipeline": lambda: L.RandomAugmentationPipeline(
        [L.Grayscale(3), L.AutoContrast([0, 255])], 2, rate=0.8
    ),
    "RandomChoice": lambda: L.RandomChoice([L.Grayscale(3), L.AutoContrast([0, 255])]),
    "RandomChoice batchwise": lambda: L.RandomChoice(
        [L.Grayscale(3), L.AutoContrast([0, 255])], batchwise=True
    ),
    "RandomSaturation": lambda: L.RandomSaturation(0.3),
    "RandomSharpness": lambda: L.RandomSharpness(0.3, [0, 255]),
    "RandomColorJitter": lambda: L.RandomColorJitter([0, 255], 0.2, 0.2, 0.2, 0.1),
    "RandomColorDegeneration": lambda: L.RandomColorDegeneration(0.3),
    "RandomChannelShift": lambda: L.RandomChannelShift([0, 255], 0.3),
    "RepeatedAugmentation": lambda: L.RepeatedAugmentation([L.RandomFlip(), L.Grayscale(3)]),
    "Rescaling": lambda: L.Rescaling(1 / 255.0),
    "RandomTranslation": lambda: L.RandomTranslation(0.2, 0.2, fill_mode="reflect"),
    "RandomZoom": lambda: L.RandomZoom(0.2, 0.2),
}.items():
    beside(written, make)


def ragged(name: str, make: Callable[[], Any]) -> None:
    """A program that augments pictures of several sizes."""

    def build() -> Call:
        made = make()
        pictures = tf.ragged.stack([floats(16, 16, 3) * 255, floats(12, 14, 3) * 255])
        return Call(
            lambda values: made({"images": values}, training=True)["images"],
            [pictures],
            check_shape=False,
        )

    programs(f"ragged {name}")(build)


ragged("Resizing", lambda: L.Resizing(8, 8))
ragged("JitteredResize", lambda: L.JitteredResize((8, 8), (0.8, 1.2)))
ragged("RandomCropAndResize", lambda: L.RandomCropAndResize((8, 8), (0.5, 1.0), (0.8, 1.2)))

DENSE = np.sort(floats(2, 5, 4) * 15, axis=-1)
for source, target in (
    ("xyxy", "rel_xyxy"),
    ("xywh", "center_xywh"),
    ("yxyx", "rel_yxyx"),
    ("rel_xywh", "xyxy"),
    ("center_yxhw", "xyxy"),
):
    plain(
        programs,
        f"convert_format {source} {target}",
        lambda boxes, source=source, target=target: keras_cv.bounding_box.convert_format(
            boxes, source=source, target=target, images=tf.constant(PICTURES)
        ),
        DENSE,
        gradient=True,
    )
plain(
    programs,
    "clip_to_image",
    lambda boxes, classes, images: keras_cv.bounding_box.clip_to_image(
        {"boxes": boxes, "classes": classes}, "xyxy", images=images
    ),
    BOXES,
    CLASSES,
    PICTURES,
    gradient=True,
)
plain(
    programs,
    "compute_iou masked",
    lambda a, b: keras_cv.bounding_box.compute_iou(a, b, "xywh", use_masking=True, mask_val=-1),
    DENSE,
    DENSE,
    gradient=True,
)
layer(programs, "BoxMatcher", lambda: L.BoxMatcher([0.3, 0.6], [-1, -2, 1]), floats(2, 6, 3))
layer(
    programs,
    "BoxMatcher force",
    lambda: L.BoxMatcher([0.3, 0.6], [-1, -2, 1], force_match_for_each_col=True),
    floats(2, 6, 3),
)
layer(
    programs,
    "BoxMatcher one",
    lambda: L.BoxMatcher([0.5], [0, 1], force_match_for_each_col=True),
    floats(6, 3),
)
plain(
    programs,
    "AnchorGenerator image",
    lambda image: L.AnchorGenerator(
        "xyxy",
        sizes=[4.0, 8.0],
        scales=[1.0, 1.5],
        aspect_ratios=[0.5, 1.0],
        strides=[4, 8],
        clip_boxes=True,
    )(image=image),
    PICTURES[0],
)


@programs("NonMaxSuppression")
def _() -> Call:
    made = L.NonMaxSuppression("xyxy", from_logits=True, max_detections=4)
    return Call(
        lambda boxes, scores: made(boxes, scores),
        [np.sort(floats(2, 8, 4) * 15, axis=-1), floats(2, 8, 3)],
    )


SOLID = np.concatenate([floats(2, 3, 3), floats(2, 3, 3) + 0.5, floats(2, 3, 1)], axis=-1)


@programs("CenterNetLabelEncoder")
def _() -> Call:
    made = L.CenterNetLabelEncoder(
        voxel_size=[1.0, 1.0, 1000],
        max_radius=[2.0, 2.0, 0.0],
        spatial_size=[-4, 4, -4, 4, -20, 20],
        num_classes=2,
        top_k_heatmap=[0, 0],
    )
    inputs = {
        "3d_boxes": {
            "boxes": SOLID * 2,
            "classes": np.array([[1, 2, 1], [2, 1, 1]], "int32"),
            "mask": np.ones([2, 3], bool),
        }
    }
    return Call(lambda values: tf.nest.flatten(made(values)), [inputs])


CLOUD = {
    "point_clouds": np.concatenate([floats(2, 10, 4), np.ones([2, 10, 1], "float32")], axis=-1)[
        None
    ],
    "bounding_boxes": np.concatenate([SOLID, np.ones([2, 3, 2], "float32")], axis=-1)[None],
}


def cloud(name: str, make: Callable[[], Any]) -> None:
    """A program that augments clouds of points with boxes around some of them."""

    def build() -> Call:
        made = make()
        made(tf.nest.map_structure(tf.constant, CLOUD), training=True)
        return Call(lambda values: made(values, training=True), [CLOUD], check_shape=False)

    programs(f"3d {name}")(build)


SEEN = {"r_distance": 0.1, "theta_width": 1.0, "phi_width": 1.0}
cloud("FrustumRandomDroppingPoints", lambda: L.FrustumRandomDroppingPoints(drop_rate=0.5, **SEEN))
cloud(
    "FrustumRandomPointFeatureNoise",
    lambda: L.FrustumRandomPointFeatureNoise(max_noise_level=0.5, **SEEN),
)
cloud("GlobalRandomDroppingPoints", lambda: L.GlobalRandomDroppingPoints(drop_rate=0.5))
cloud("GlobalRandomFlip", lambda: L.GlobalRandomFlip())
cloud("GlobalRandomRotation", lambda: L.GlobalRandomRotation(0.5, 0.5, 0.5))
cloud("GlobalRandomScaling", lambda: L.GlobalRandomScaling((0.5, 1.5), (0.5, 1.5), (0.5, 1.5)))
cloud("GlobalRandomTranslation", lambda: L.GlobalRandomTranslation(0.5, 0.5, 0.5))
cloud("RandomDropBox", lambda: L.RandomDropBox(max_drop_bounding_boxes=2))
SIDES = (np.sort(floats(6, 4), axis=-1), np.sort(floats(6, 4), axis=-1))
for written, make, given in (
    ("GIoULoss", lambda: keras_cv.losses.GIoULoss("xyxy"), SIDES),
    ("IoULoss", lambda: keras_cv.losses.IoULoss("xyxy", mode="quadratic"), SIDES),
    ("SmoothL1Loss", lambda: keras_cv.losses.SmoothL1Loss(l1_cutoff=0.5), SIDES),
    ("SimCLRLoss", lambda: keras_cv.losses.SimCLRLoss(0.5), (floats(4, 8), floats(4, 8))),
    (
        "BinaryPenaltyReducedFocal",
        lambda: keras_cv.losses.BinaryPenaltyReducedFocalCrossEntropy(),
        (floats(4, 8), floats(4, 8)),
    ),
    (
        "CenterNetBoxLoss",
        lambda: keras_cv.losses.CenterNetBoxLoss(num_heading_bins=4, anchor_size=[1.0, 2.0, 1.0]),
        (floats(2, 5, 7), floats(2, 5, 14)),
    ),
):
    plain(
        programs,
        f"losses {written}",
        lambda a, b, make=make: make()(a, b),
        *given,
        gradient=True,
    )
