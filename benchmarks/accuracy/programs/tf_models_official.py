"""Calls of the TensorFlow Model Garden 2.20.0 (tf_keras)."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf
import tf_keras
from official.nlp.modeling import layers as nlp_layers
from official.nlp.modeling import networks as nlp_networks
from official.vision.losses import (
    focal_loss,
    loss_utils,
    maskrcnn_losses,
    retinanet_losses,
    segmentation_losses,
)
from official.vision.modeling import backbones
from official.vision.modeling.layers import detection_generator, nn_blocks, nn_layers, roi_generator
from official.vision.ops import (
    anchor,
    augment,
    box_ops,
    iou_similarity,
    preprocess_ops,
    sampling_ops,
    spatial_transform_ops,
)
from official.vision.utils.object_detection import box_list, box_list_ops, minibatch_sampler
from official.vision.utils.object_detection import ops as detection_ops
from program import Call, Programs

from programs.made import floats, histogram, integers, layer, plain

programs = Programs("official")


def image(*shape: int) -> Any:
    """uint8 values."""
    return (floats(*shape) * 255).astype("uint8")


def boxes(count: int, size: float = 1.0) -> Any:
    """`count` boxes (ymin, xmin, ymax, xmax) inside a square of `size`."""
    corner = floats(count, 2) * 0.4
    return (np.concatenate([corner, corner + 0.1 + floats(count, 2) * 0.4], 1) * size).astype(
        "float32"
    )


PICTURE = image(32, 32, 3)

plain(
    programs,
    "vision.augment.blend",
    lambda a, b, f: augment.blend(a, b, f),
    PICTURE,
    PICTURE,
    np.float32(0.4),
)
plain(
    programs,
    "vision.augment.blend constant",
    lambda a, b: augment.blend(a, b, 0.4),
    PICTURE,
    PICTURE,
)
plain(programs, "vision.augment.rotate", lambda x: augment.rotate(x, 30.0), PICTURE)
plain(programs, "vision.augment.cutout", lambda x: augment.cutout(x, 4), PICTURE)
plain(
    programs, "vision.augment.cutout_video", lambda x: augment.cutout_video(x), image(4, 16, 16, 3)
)
plain(programs, "vision.augment.equalize", lambda x: augment.equalize(x), PICTURE)


@programs("vision.augment.equalize without its histogram")
def _() -> Call:
    def run(x: Any) -> Any:
        with mock.patch.object(augment.tf, "histogram_fixed_width", histogram):
            return augment.equalize(x)

    return Call(
        run,
        [(np.minimum(floats(64, 64, 3) * 2, 1) * 15).astype("uint8") * 17],
        not_judged=("XLA401",),
    )


plain(programs, "vision.augment.contrast", lambda x: augment.contrast(x, 0.5), PICTURE)
plain(programs, "vision.augment.autocontrast", lambda x: augment.autocontrast(x), PICTURE)
plain(programs, "vision.augment.sharpness", lambda x: augment.sharpness(x, 0.5), PICTURE)
plain(programs, "vision.augment.solarize", lambda x: augment.solarize(x), PICTURE)
plain(programs, "vision.augment.posterize", lambda x: augment.posterize(x, 4), PICTURE)
plain(programs, "vision.augment.color", lambda x: augment.color(x, 0.5), PICTURE)
plain(programs, "vision.augment.translate_x", lambda x: augment.translate_x(x, 3, 0), PICTURE)
plain(
    programs,
    "vision.augment.gaussian_filter2d",
    lambda x: augment.gaussian_filter2d(x, (3, 3)),
    floats(32, 32, 3),
)
plain(
    programs,
    "vision.augment.translate_bbox",
    lambda x, b: augment.translate_bbox(x, b, 3, 0, True),
    PICTURE,
    boxes(3),
)
plain(
    programs,
    "vision.augment._apply_bbox_augmentation",
    lambda x, b: augment._apply_bbox_augmentation(x, b, augment.invert),
    PICTURE,
    boxes(1)[0],
)
programs("vision.augment.RandomErasing")(
    lambda: Call(augment.RandomErasing(probability=1.0).distort, [floats(32, 32, 3)])
)
programs("vision.augment.MixupAndCutmix")(
    lambda: Call(
        lambda x, y: augment.MixupAndCutmix(num_classes=5).distort(x, y),
        [floats(4, 32, 32, 3), integers(5, 4)],
    )
)
programs("vision.augment.SSDRandomCrop")(
    lambda: Call(lambda x, b: augment.SSDRandomCrop().distort_with_boxes(x, b), [PICTURE, boxes(3)])
)

plain(
    programs,
    "vision.preprocess_ops.resize_and_crop_image",
    lambda x: preprocess_ops.resize_and_crop_image(x, [24, 24], [32, 32]),
    floats(40, 30, 3),
)
plain(
    programs,
    "vision.preprocess_ops.resize_and_crop_image jitter",
    lambda x: preprocess_ops.resize_and_crop_image(x, [24, 24], [32, 32], 0.8, 1.2),
    floats(40, 30, 3),
)
plain(
    programs,
    "vision.preprocess_ops.resize_and_crop_image_v2",
    lambda x: preprocess_ops.resize_and_crop_image_v2(x, 24, 30, [32, 32]),
    floats(40, 30, 3),
)
plain(
    programs,
    "vision.preprocess_ops.resize_and_crop_image_v2 jitter",
    lambda x: preprocess_ops.resize_and_crop_image_v2(x, 24.0, 30.0, [32, 32], 0.8, 1.2),
    floats(40, 30, 3),
)
plain(
    programs,
    "vision.preprocess_ops.resize_and_crop_image_v2 area",
    lambda x: preprocess_ops.resize_and_crop_image_v2(
        x, 24, 30, [32, 32], method=tf.image.ResizeMethod.AREA
    ),
    floats(40, 30, 3),
)
plain(
    programs,
    "vision.preprocess_ops.random_crop_image",
    lambda x: preprocess_ops.random_crop_image(x),
    PICTURE,
)
plain(
    programs,
    "vision.preprocess_ops.random_crop",
    lambda x, b, y: preprocess_ops.random_crop(x, b, y),
    PICTURE,
    boxes(3),
    integers(4, 3),
)
plain(
    programs,
    "vision.preprocess_ops.random_crop_image_with_boxes_and_labels",
    lambda x, b, y: preprocess_ops.random_crop_image_with_boxes_and_labels(
        x, b, y, 0.3, [0.5, 2.0], [0.0, 1.4, 0.2, 0.1], 5
    ),
    PICTURE,
    boxes(3),
    integers(4, 3),
)
plain(
    programs,
    "vision.preprocess_ops.random_jpeg_quality",
    lambda x: preprocess_ops.random_jpeg_quality(x),
    PICTURE,
)
plain(
    programs,
    "vision.preprocess_ops.random_horizontal_flip",
    lambda x, b: preprocess_ops.random_horizontal_flip(x, b)[:2],
    PICTURE,
    boxes(3),
)
plain(
    programs,
    "vision.preprocess_ops.center_crop_image",
    lambda x: preprocess_ops.center_crop_image(x),
    PICTURE,
)
plain(
    programs,
    "vision.preprocess_ops.color_jitter",
    lambda x: preprocess_ops.color_jitter(x, 0.2, 0.2, 0.2),
    PICTURE,
)
plain(
    programs,
    "vision.preprocess_ops.clip_or_pad_to_fixed_size",
    lambda x: preprocess_ops.clip_or_pad_to_fixed_size(x, 5),
    floats(3, 4),
)
plain(
    programs,
    "vision.preprocess_ops.resize_image",
    lambda x: preprocess_ops.resize_image(x, 20, 30),
    floats(40, 30, 3),
)

plain(
    programs,
    "vision.sampling_ops.indices_to_dense_vector",
    lambda i: sampling_ops.indices_to_dense_vector(i, 6),
    np.array([1, 3], "int32"),
)
plain(
    programs,
    "vision.sampling_ops.BalancedPositiveNegativeSampler",
    lambda i, y: sampling_ops.BalancedPositiveNegativeSampler().subsample(i, 4, y),
    floats(8) > 0.2,
    floats(8) > 0.5,
)
plain(
    programs,
    "vision.sampling_ops.BalancedPositiveNegativeSampler static",
    lambda i, y: sampling_ops.BalancedPositiveNegativeSampler(is_static=True).subsample(i, 4, y),
    floats(8) > 0.2,
    floats(8) > 0.5,
)
plain(
    programs,
    "vision.minibatch_sampler.subsample_indicator",
    lambda i: minibatch_sampler.MinibatchSampler.subsample_indicator(i, 4),
    floats(8) > 0.2,
)
plain(
    programs,
    "vision.detection_ops.indices_to_dense_vector",
    lambda i: detection_ops.indices_to_dense_vector(i, 6),
    np.array([1, 3], "int32"),
)
plain(
    programs,
    "vision.detection_ops.merge_boxes_with_multiple_labels",
    lambda b, c, s: detection_ops.merge_boxes_with_multiple_labels(b, c, s, 4),
    np.concatenate([boxes(2), boxes(2)]),
    integers(4, 4),
    floats(4),
)
plain(
    programs,
    "vision.detection_ops.matmul_gather",
    lambda p, i: detection_ops.matmul_gather_on_zeroth_axis(p, i),
    floats(4, 3),
    integers(4, 5),
)


def _pruned(prune: Any) -> Any:
    def run(coordinates: Any, window: Any) -> Any:
        kept, indices = prune(box_list.BoxList(coordinates), window)
        return kept.get(), indices

    return run


WINDOW = np.array([0.1, 0.1, 0.8, 0.8], "float32")
plain(
    programs,
    "vision.box_list_ops.prune_outside_window",
    _pruned(box_list_ops.prune_outside_window),
    boxes(6),
    WINDOW,
)
plain(
    programs,
    "vision.box_list_ops.prune_completely_outside_window",
    _pruned(box_list_ops.prune_completely_outside_window),
    boxes(6),
    WINDOW,
)
plain(
    programs,
    "vision.spatial_transform_ops.bilinear_resize_to_bbox",
    lambda x, b: spatial_transform_ops.bilinear_resize_to_bbox(x, b, [6, 7]),
    floats(2, 8, 8, 3),
    boxes(2, 8),
)
plain(
    programs,
    "vision.spatial_transform_ops.bilinear_resize_to_bbox tensor size",
    lambda x, b, s: spatial_transform_ops.bilinear_resize_to_bbox(x, b, s),
    floats(2, 8, 8, 3),
    boxes(2, 8),
    np.array([6, 7], "int32"),
)
plain(
    programs,
    "vision.spatial_transform_ops.bilinear_resize_with_crop_and_pad",
    lambda x: spatial_transform_ops.bilinear_resize_with_crop_and_pad(
        x,
        np.array([[16.0, 16.0]] * 2, "float32"),
        np.array([[12.0, 12.0]] * 2, "float32"),
        np.array([[1.0, 1.0]] * 2, "float32"),
        np.array([[1.0, 1.0]] * 2, "float32"),
        [6, 7],
    ),
    floats(2, 8, 8, 3),
)
plain(
    programs,
    "vision.spatial_transform_ops.nearest_upsampling",
    lambda x: spatial_transform_ops.nearest_upsampling(x, 2),
    floats(2, 8, 8, 3),
    gradient=True,
)
plain(
    programs,
    "vision.spatial_transform_ops.multilevel_crop_and_resize",
    lambda x, b: spatial_transform_ops.multilevel_crop_and_resize({"2": x}, b),
    floats(1, 8, 8, 3),
    boxes(4, 16)[None],
)
plain(
    programs,
    "vision.spatial_transform_ops.crop_mask_in_target_box",
    lambda m, b, t: spatial_transform_ops.crop_mask_in_target_box(m, b, t, 14),
    floats(1, 4, 16, 16),
    boxes(4, 16)[None],
    boxes(4, 16)[None],
)

SCORES = floats(1, 12, 5)
plain(
    programs,
    "vision.detection_generator._generate_detections_v1",
    lambda b, s: detection_generator._generate_detections_v1(b, s),
    boxes(60).reshape(1, 12, 5, 4),
    SCORES,
)
plain(
    programs,
    "vision.detection_generator._generate_detections_v1 soft",
    lambda b, s: detection_generator._generate_detections_v1(b, s, soft_nms_sigma=0.1),
    boxes(60).reshape(1, 12, 5, 4),
    SCORES,
)
plain(
    programs,
    "vision.detection_generator._generate_detections_v2",
    lambda b, s: detection_generator._generate_detections_v2(b, s),
    boxes(60).reshape(1, 12, 5, 4),
    SCORES,
)
plain(
    programs,
    "vision.detection_generator._generate_detections_v3",
    lambda b, s: detection_generator._generate_detections_v3(b, s, 10, 0.05, 0.5, 10),
    boxes(12).reshape(1, 1, 12, 4).repeat(5, 1),
    floats(1, 5, 12),
)
plain(
    programs,
    "vision.detection_generator._generate_detections_batched",
    lambda b, s: detection_generator._generate_detections_batched(b, s, 0.05, 0.5, 10),
    boxes(60).reshape(1, 12, 5, 4),
    SCORES,
)
for _batched in (False, True):
    plain(
        programs,
        f"vision.roi_generator batched={_batched}",
        lambda b, s, a, batched=_batched: roi_generator._multilevel_propose_rois(
            {"2": b}, {"2": s}, {"2": a}, tf.constant([[16.0, 16.0]]), use_batched_nms=batched
        ),
        floats(1, 4, 4, 12),
        floats(1, 4, 4, 3),
        boxes(48, 16).reshape(1, 4, 4, 12),
    )

plain(programs, "vision.box_ops.compute_iou", box_ops.bbox_overlap, boxes(4)[None], boxes(3)[None])
plain(programs, "vision.box_ops.encode_boxes", box_ops.encode_boxes, boxes(4, 16), boxes(4, 16))
plain(
    programs, "vision.box_ops.clip_boxes", lambda b: box_ops.clip_boxes(b, [16, 16]), boxes(4, 20)
)
plain(
    programs,
    "vision.box_ops.get_non_empty_box_indices",
    box_ops.get_non_empty_box_indices,
    boxes(4, 20),
)
plain(
    programs,
    "vision.box_ops.filter_boxes_by_scores",
    lambda b, s: box_ops.filter_boxes_by_scores(b, s, 0.5),
    boxes(4),
    floats(4),
)
plain(
    programs,
    "vision.box_ops.bbox_generalized_overlap",
    box_ops.bbox_generalized_overlap,
    boxes(4)[None],
    boxes(3)[None],
)
plain(
    programs,
    "vision.iou_similarity",
    lambda a, b: iou_similarity.IouSimilarity()(a, b),
    boxes(4),
    boxes(3),
)


@programs("vision.anchor.RpnAnchorLabeler")
def _() -> Call:
    labeler = anchor.RpnAnchorLabeler()
    made = anchor.Anchor(3, 4, 1, [1.0], 4.0, (32, 32)).multilevel_boxes
    return Call(
        lambda b, y: labeler.label_anchors(made, b, y), [boxes(3, 32), np.ones([3, 1], "int32")]
    )


@programs("vision.anchor.AnchorLabeler")
def _() -> Call:
    labeler = anchor.AnchorLabeler()
    made = anchor.Anchor(3, 4, 1, [1.0], 4.0, (32, 32)).multilevel_boxes
    return Call(
        lambda b, y: labeler.label_anchors(made, b, y), [boxes(3, 32), np.ones([3, 1], "int32")]
    )


plain(
    programs,
    "vision.losses.FocalLoss",
    lambda y, p: focal_loss.FocalLoss(0.25, 1.5)(y, p),
    (floats(2, 4, 3) > 0.5).astype("float32"),
    floats(2, 4, 3),
    gradient=True,
)
plain(
    programs,
    "vision.losses.retinanet.RetinanetBoxLoss",
    lambda y, p: retinanet_losses.RetinanetBoxLoss(1)(y, p),
    {"2": floats(2, 4, 4, 4)},
    {"2": floats(2, 4, 4, 4)},
)
plain(
    programs,
    "vision.losses.segmentation",
    lambda p, y: segmentation_losses.SegmentationLoss(0.0, [], 255, True)(p, y),
    floats(2, 8, 8, 3),
    integers(3, 2, 8, 8, 1),
    gradient=True,
)
plain(
    programs,
    "vision.losses.segmentation topk",
    lambda p, y: segmentation_losses.SegmentationLoss(0.0, [], 255, True, top_k_percent_pixels=0.5)(
        p, y
    ),
    floats(2, 8, 8, 3),
    integers(3, 2, 8, 8, 1),
    gradient=True,
)
plain(
    programs,
    "vision.losses.MaskrcnnLoss",
    lambda p, y, c: maskrcnn_losses.MaskrcnnLoss()(p, y, c),
    floats(1, 4, 8, 8),
    floats(1, 4, 8, 8),
    integers(2, 1, 4),
)
plain(
    programs,
    "vision.losses.loss_utils.multi_level_flatten",
    lambda x: loss_utils.multi_level_flatten({"2": x}, 4),
    floats(2, 4, 4, 8),
)

FEATURES = floats(2, 8, 8, 16)
for _name, _make in (
    ("SqueezeExcitation", lambda: nn_layers.SqueezeExcitation(16, 16, 0.25)),
    ("StochasticDepth", lambda: nn_layers.StochasticDepth(0.2)),
    ("Scale", lambda: nn_layers.Scale()),
    ("ResidualBlock", lambda: nn_blocks.ResidualBlock(16, 1)),
    ("BottleneckBlock", lambda: nn_blocks.BottleneckBlock(4, 1, use_projection=True)),
    ("InvertedBottleneckBlock", lambda: nn_blocks.InvertedBottleneckBlock(16, 16, 2, 1)),
    ("DepthwiseSeparableConvBlock", lambda: nn_blocks.DepthwiseSeparableConvBlock(16, 1)),
    ("TuckerConvBlock", lambda: nn_blocks.TuckerConvBlock(16, 16, 0.25, 0.25, 1)),
):
    layer(programs, f"vision.layers.{_name}", _make, FEATURES)
layer(
    programs,
    "vision.layers.Conv3D",
    lambda: nn_layers.Conv3D(4, 3, padding="same"),
    floats(1, 4, 8, 8, 3),
)
layer(
    programs,
    "vision.layers.SpatialAveragePool3D",
    lambda: nn_layers.SpatialAveragePool3D(),
    floats(1, 4, 8, 8, 3),
)
layer(
    programs,
    "vision.layers.GlobalAveragePool3D",
    lambda: nn_layers.GlobalAveragePool3D(),
    floats(1, 4, 8, 8, 3),
)
layer(
    programs,
    "vision.layers.PositionalEncoding",
    lambda: nn_layers.PositionalEncoding(),
    floats(1, 4, 8, 8, 6),
)

TOKENS = floats(2, 6, 8)
MASK = np.ones([2, 6, 6], "float32")
layer(
    programs,
    "nlp.layers.TransformerEncoderBlock",
    lambda: nlp_layers.TransformerEncoderBlock(2, 16, "gelu"),
    [TOKENS, MASK],
)
layer(
    programs,
    "nlp.layers.ReZeroTransformer",
    lambda: nlp_layers.ReZeroTransformer(2, 16, "gelu"),
    [TOKENS, MASK],
)
layer(
    programs,
    "nlp.layers.TalkingHeadsAttention",
    lambda: nlp_layers.TalkingHeadsAttention(2, 4),
    TOKENS,
    TOKENS,
)
layer(programs, "nlp.layers.PositionEmbedding", lambda: nlp_layers.PositionEmbedding(6), TOKENS)
layer(
    programs,
    "nlp.layers.RelativePositionEmbedding",
    lambda: nlp_layers.RelativePositionEmbedding(8),
    TOKENS,
)
layer(
    programs,
    "nlp.layers.RelativePositionBias",
    lambda: nlp_layers.RelativePositionBias(2, 8),
    TOKENS,
    TOKENS,
)
layer(programs, "nlp.layers.MaskedSoftmax", lambda: nlp_layers.MaskedSoftmax(), MASK, MASK)
layer(
    programs,
    "nlp.layers.SelfAttentionMask",
    lambda: nlp_layers.SelfAttentionMask(),
    TOKENS,
    np.ones([2, 6], "int32"),
)
layer(
    programs,
    "nlp.layers.GatedFeedforward",
    lambda: nlp_layers.GatedFeedforward(8, "gelu", 0.1),
    TOKENS,
)
layer(
    programs,
    "nlp.layers.FourierTransformLayer",
    lambda: nlp_layers.FourierTransformLayer(),
    TOKENS,
    TOKENS,
)
layer(
    programs,
    "nlp.layers.HartleyTransformLayer",
    lambda: nlp_layers.HartleyTransformLayer(),
    TOKENS,
    TOKENS,
)
layer(
    programs,
    "nlp.layers.LinearTransformLayer",
    lambda: nlp_layers.LinearTransformLayer(),
    TOKENS,
    TOKENS,
)
layer(
    programs,
    "nlp.layers.OnDeviceEmbedding",
    lambda: nlp_layers.OnDeviceEmbedding(12, 4),
    integers(12, 2, 6),
)
layer(
    programs,
    "nlp.layers.TokenImportanceWithMovingAvg",
    lambda: nlp_layers.TokenImportanceWithMovingAvg(12, 1.0, 0.9),
    integers(12, 2, 6),
)
layer(programs, "nlp.layers.SelectTopK", lambda: nlp_layers.SelectTopK(3), floats(2, 6))
layer(
    programs,
    "nlp.layers.KernelAttention",
    lambda: nlp_layers.KernelAttention(
        num_heads=2, key_dim=4, feature_transform="elu", num_random_features=4
    ),
    TOKENS,
    TOKENS,
)
layer(
    programs,
    "nlp.layers.BlockDiagFeedforward",
    lambda: nlp_layers.BlockDiagFeedforward(8, "gelu", 0.1, num_blocks=2),
    TOKENS,
)
layer(
    programs, "nlp.layers.ClassificationHead", lambda: nlp_layers.ClassificationHead(8, 3), TOKENS
)
layer(
    programs,
    "nlp.layers.GaussianProcessClassificationHead",
    lambda: nlp_layers.GaussianProcessClassificationHead(8, 3),
    TOKENS,
)
layer(
    programs,
    "nlp.layers.MultiQueryAttention",
    lambda: nlp_layers.MultiQueryAttention(num_heads=2, key_dim=4, num_kv_heads=1),
    TOKENS,
    TOKENS,
)


@programs("nlp.layers.MaskedLM")
def _() -> Call:
    made = nlp_layers.MaskedLM(tf.Variable(floats(12, 8)))
    made(tf.constant(TOKENS), tf.constant(integers(6, 2, 3)))
    return Call(lambda x, p: made(x, p), [TOKENS, integers(6, 2, 3)], True)


@programs("nlp.networks.BertEncoderV2")
def _() -> Call:
    made = nlp_networks.BertEncoderV2(20, 8, 2, 2, inner_dim=16)
    words = {name: integers(2, 2, 6) for name in ("input_word_ids", "input_mask", "input_type_ids")}
    made({name: tf.constant(value) for name, value in words.items()})
    return Call(lambda inputs: made(inputs)["sequence_output"], [words], True)


@programs("vision.backbones.MobileNet")
def _() -> Call:
    made = backbones.MobileNet(
        "MobileNetV3Small", input_specs=tf_keras.layers.InputSpec(shape=[None, 32, 32, 3])
    )
    return Call(lambda x: made(x)["2"], [floats(1, 32, 32, 3)], True)


@programs("projects.volumetric_models.SegmentationLossDiceScore")
def _() -> Call:
    from official.projects.volumetric_models.losses import segmentation_losses as volumetric

    return Call(
        lambda p, y: volumetric.SegmentationLossDiceScore("generalized")(p, y),
        [floats(2, 4, 4, 4, 3), (floats(2, 4, 4, 4, 3) > 0.5).astype("float32")],
    )


@programs("projects.volumetric_models.DiceScore")
def _() -> Call:
    from official.projects.volumetric_models.evaluation import segmentation_metrics

    metric = segmentation_metrics.DiceScore(3, "generalized", per_class_metric=True)

    def update(labels: Any, scores: Any) -> Any:
        metric.update_state(labels, scores)
        return metric.result()

    return Call(update, [(floats(2, 4, 4, 4, 3) > 0.5).astype("float32"), floats(2, 4, 4, 4, 3)])


@programs("projects.yolo.preprocessing_ops.pad_max_instances")
def _() -> Call:
    from official.projects.yolo.ops import preprocessing_ops

    return Call(lambda x: preprocessing_ops.pad_max_instances(x, 5), [floats(3, 4)])


@programs("projects.yolo.preprocessing_ops.pad_max_instances of where")
def _() -> Call:
    from official.projects.yolo.ops import preprocessing_ops

    return Call(lambda x: preprocessing_ops.pad_max_instances(tf.where(x > 0.5), 5), [floats(6)])


@programs("projects.yolo.preprocessing_ops.random_scale")
def _() -> Call:
    from official.projects.yolo.ops import preprocessing_ops

    return Call(lambda s: preprocessing_ops.random_scale(s, 0.5), [np.float32(1.0)])


@programs("projects.yolo.YoloAnchorLabeler")
def _() -> Call:
    from official.projects.yolo.ops import anchor as yolo_anchor

    labeler = yolo_anchor.YoloAnchorLabeler(
        anchors={"3": [[4.0, 4.0], [8.0, 8.0]]},
        anchor_free_level_limits=None,
        level_strides={"3": 8},
        center_radius={"3": 0.0},
        max_num_instances=6,
        match_threshold=0.25,
    )
    return Call(lambda b, c: labeler(b, c, 32, 32), [boxes(6), integers(3, 6)])


@programs("projects.yolo.Mosaic._beta")
def _() -> Call:
    from official.projects.yolo.ops import mosaic

    made = mosaic.Mosaic([32, 32])
    return Call(lambda a: made._beta(a, a), [np.float32(1.5)])


@programs("projects.centernet.prune_completely_outside_window")
def _() -> Call:
    from official.projects.centernet.ops import box_list as center_list
    from official.projects.centernet.ops import box_list_ops as center_ops

    def run(coordinates: Any, window: Any) -> Any:
        kept, indices = center_ops.prune_completely_outside_window(
            center_list.BoxList(coordinates), window
        )
        return kept.get(), indices

    return Call(run, [boxes(6), WINDOW])


@programs("projects.centernet.assign_centernet_targets")
def _() -> Call:
    from official.projects.centernet.ops import target_assigner

    labels = {"bbox": boxes(4, 32), "num_detections": np.int32(3), "classes": integers(3, 4)}
    return Call(
        lambda values: target_assigner.assign_centernet_targets(
            values, [32, 32], 8, num_classes=3, max_num_instances=4
        ),
        [labels],
    )


@programs("projects.detr._DETRAdamW")
def _() -> Call:
    from official.projects.detr import optimization

    weights = tf.Variable(floats(4, 3))
    optimizer = optimization._DETRAdamW(learning_rate=0.1, amsgrad=True, gradient_clip_norm=0.0)
    optimizer.apply_gradients([(tf.ones_like(weights), weights)])

    def train(gradient: Any) -> Any:
        optimizer.apply_gradients([(gradient, weights)])
        return weights.read_value()

    return Call(train, [floats(4, 3)])


@programs("projects.triviaqa.decode_answer")
def _() -> Call:
    from official.projects.triviaqa import prediction

    return Call(
        prediction.decode_answer,
        [
            np.array([b"some words here"]),
            np.array([1]),
            np.array([2]),
            np.array([[0, 5, 11]]),
            np.int64(2),
        ],
    )


@programs("recommendation.uplift.split_by_treatment")
def _() -> Call:
    from official.recommendation.uplift import utils

    return Call(lambda v, t: utils.split_by_treatment(v, t), [floats(6, 2), floats(6, 1) > 0.5])


@programs("nlp.segment_extractor.get_sentence_order_labels")
def _() -> Call:
    from official.nlp.modeling.ops import segment_extractor

    words = tf.ragged.constant([[b"a", b"b", b"c"], [b"d", b"e"]])
    return Call(lambda s: segment_extractor.get_sentence_order_labels(s)[1], [words])


@programs("nlp.segment_extractor.get_next_sentence_labels")
def _() -> Call:
    from official.nlp.modeling.ops import segment_extractor

    words = tf.ragged.constant([[b"a", b"b", b"c"], [b"d", b"e"]])
    return Call(lambda s: segment_extractor.get_next_sentence_labels(s)[1], [words])


@programs("legacy.transformer.metrics.padded_cross_entropy_loss")
def _() -> Call:
    from official.legacy.transformer.utils import metrics

    return Call(
        lambda p, y: metrics.padded_cross_entropy_loss(p, y, 0.1, 5),
        [floats(2, 6, 5), integers(5, 2, 4)],
    )


@programs("legacy.transformer.metrics._pad_tensors_to_same_length")
def _() -> Call:
    from official.legacy.transformer.utils import metrics

    return Call(
        lambda p, y: metrics._pad_tensors_to_same_length(p, y), [floats(2, 6, 5), integers(5, 2, 4)]
    )


@programs("legacy.transformer.metrics.bleu_score")
def _() -> Call:
    from official.legacy.transformer.utils import metrics

    return Call(lambda p, y: metrics.bleu_score(p, y)[0], [floats(2, 6, 5), integers(5, 2, 6)])


@programs("legacy.detection.shapemask_parser.pad_to_size")
def _() -> Call:
    from official.legacy.detection.dataloader import shapemask_parser

    return Call(lambda x: shapemask_parser.pad_to_size(x, 5), [floats(3, 4)])


@programs("legacy.detection.roi_ops.multilevel_propose_rois")
def _() -> Call:
    from official.legacy.detection.ops import roi_ops

    return Call(
        lambda b, s, a: roi_ops.multilevel_propose_rois(
            {2: b}, {2: s}, {2: a}, tf.constant([[16.0, 16.0]]), use_batched_nms=True
        ),
        [floats(1, 4, 4, 12), floats(1, 4, 4, 3), boxes(48, 16).reshape(1, 4, 4, 12)],
    )


@programs("legacy.image_classification.augment.cutout")
def _() -> Call:
    from official.legacy.image_classification import augment as old

    return Call(lambda x: old.cutout(x, 4), [PICTURE])


@programs("legacy.image_classification.augment.contrast")
def _() -> Call:
    from official.legacy.image_classification import augment as old

    return Call(lambda x: old.contrast(x, 0.4), [PICTURE])


@programs("legacy.image_classification.augment.equalize")
def _() -> Call:
    from official.legacy.image_classification import augment as old

    return Call(lambda x: old.equalize(x), [PICTURE])


@programs("legacy.detection.input_utils.resize_and_crop_image_v2")
def _() -> Call:
    from official.legacy.detection.utils import input_utils

    return Call(
        lambda x: input_utils.resize_and_crop_image_v2(x, 24.0, 30.0, [32, 32], 0.8, 1.2),
        [floats(40, 30, 3)],
    )
