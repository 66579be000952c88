"""Calls of tf.image."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tools.catalog.arguments import (
    IMAGE,
    MATRIX,
    Call,
    f32,
    i32,
    ones,
)

_BOXES = f32([0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.6, 0.6])
_SCORES = f32(0.9, 0.8)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    suppression = {"boxes": _BOXES, "scores": _SCORES, "max_output_size": 2}
    return {
        "tf.image.adjust_hue": [{"image": IMAGE, "delta": 0.1}],
        "tf.image.adjust_jpeg_quality": [{"image": IMAGE[0], "jpeg_quality": 50}],
        "tf.image.combined_non_max_suppression": [
            {
                "boxes": _BOXES.reshape(1, 2, 1, 4),
                "scores": _SCORES.reshape(1, 2, 1),
                "max_output_size_per_class": 2,
                "max_total_size": 2,
            }
        ],
        "tf.image.crop_and_resize": [
            {
                "image": IMAGE,
                "boxes": f32([0.0, 0.0, 0.5, 0.5]),
                "box_indices": i32(0),
                "crop_size": [2, 2],
            }
        ],
        "tf.image.crop_to_bounding_box": [
            {
                "image": IMAGE,
                "offset_height": 0,
                "offset_width": 0,
                "target_height": 2,
                "target_width": 2,
            }
        ],
        "tf.image.pad_to_bounding_box": [
            {
                "image": IMAGE,
                "offset_height": 0,
                "offset_width": 0,
                "target_height": 8,
                "target_width": 8,
            }
        ],
        "tf.image.draw_bounding_boxes": [
            {
                "images": IMAGE,
                "boxes": f32([[0.0, 0.0, 1.0, 1.0]]),
                "colors": f32([1.0, 0.0, 0.0]),
            }
        ],
        "tf.image.extract_glimpse": [
            {"input": IMAGE, "size": [2, 2], "offsets": f32([0.0, 0.0])},
        ],
        "tf.image.generate_bounding_box_proposals": [
            {
                "scores": ones(1, 4, 4, 1),
                "bbox_deltas": ones(1, 4, 4, 4),
                "image_info": ones(1, 5),
                "anchors": ones(1, 4),
            }
        ],
        "tf.image.non_max_suppression": [dict(suppression)],
        "tf.image.non_max_suppression_padded": [dict(suppression)],
        "tf.image.non_max_suppression_with_scores": [dict(suppression)],
        "tf.image.non_max_suppression_overlaps": [
            {
                "overlaps": f32([1.0, 0.1], [0.1, 1.0]),
                "scores": _SCORES,
                "max_output_size": 2,
            }
        ],
        "tf.image.resize": [{"images": IMAGE, "size": [8, 8]}],
        "tf.image.resize_with_pad": [{"image": IMAGE, "target_height": 8, "target_width": 8}],
        "tf.image.resize_with_crop_or_pad": [
            {"image": IMAGE, "target_height": 8, "target_width": 8}
        ],
        "tf.image.rot90": [{"image": IMAGE}],
        "tf.image.sample_distorted_bounding_box": [
            {"image_size": [4, 4, 3], "bounding_boxes": f32([[0.0, 0.0, 1.0, 1.0]])}
        ],
        "tf.image.stateless_sample_distorted_bounding_box": [
            {
                "image_size": [4, 4, 3],
                "bounding_boxes": f32([[0.0, 0.0, 1.0, 1.0]]),
                "seed": i32(1, 2),
            }
        ],
        "tf.image.random_crop": [{"value": MATRIX, "size": [2, 2]}],
        "tf.image.stateless_random_crop": [{"value": MATRIX, "size": [2, 2], "seed": i32(1, 2)}],
        "tf.image.random_hue": [{"image": IMAGE, "max_delta": 0.2}],
        "tf.image.random_contrast": [{"image": IMAGE, "lower": 0.2, "upper": 0.5}],
        "tf.image.random_saturation": [{"image": IMAGE, "lower": 0.2, "upper": 0.5}],
        "tf.image.stateless_random_saturation": [
            {"image": IMAGE, "lower": 0.2, "upper": 0.5, "seed": i32(1, 2)}
        ],
        "tf.image.random_jpeg_quality": [
            {"image": IMAGE[0], "min_jpeg_quality": 50, "max_jpeg_quality": 60}
        ],
        "tf.image.ssim": [{"img1": ones(1, 16, 16, 1), "img2": ones(1, 16, 16, 1), "max_val": 1.0}],
        "tf.image.ssim_multiscale": [
            {"img1": ones(1, 192, 192, 1), "img2": ones(1, 192, 192, 1), "max_val": 1.0}
        ],
        "tf.image.psnr": [{"a": IMAGE, "b": IMAGE, "max_val": 1.0}],
        "tf.image.grayscale_to_rgb": [{"images": ones(1, 4, 4, 1)}],
        "tf.image.encode_jpeg": [{"image": (IMAGE[0] * 255).astype(np.uint8)}],
        "tf.image.encode_png": [{"image": (IMAGE[0] * 255).astype(np.uint8)}],
        "tf.raw_ops.ImageProjectiveTransformV3": [
            {
                "images": IMAGE,
                "transforms": f32([1, 0, 0, 0, 1, 0, 0, 0]),
                "output_shape": [4, 4],
                "fill_value": 0.0,
                "interpolation": "NEAREST",
            }
        ],
    }
