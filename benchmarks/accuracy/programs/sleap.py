"""Calls of sleap 1.3.3 (tf_keras): finding peaks, grouping by part affinity fields, inference layers, maps."""

from __future__ import annotations

import numpy as np
import sleap.nn.inference as inf
import tensorflow as tf
from program import Call, Programs
from sleap.nn import losses
from sleap.nn import paf_grouping as pg
from sleap.nn import peak_finding as pf
from sleap.nn.architectures import hourglass, leap, unet
from sleap.nn.data import (
    augmentation,
    identity,
    resizing,
    utils,
)
from sleap.nn.data import (
    confidence_maps as cm,
)
from sleap.nn.data import (
    edge_maps as em,
)
from sleap.nn.data import (
    instance_centroids as ic,
)
from sleap.nn.data import (
    instance_cropping as crop,
)
from sleap.nn.data import (
    normalization as norm,
)
from sleap.nn.data import (
    offset_regression as off,
)

from programs.made import floats, integers, short

# Of NumPy before 2.
np.NaN = np.nan
programs = Programs("sleap")
p = short(programs)
CMS = floats(2, 12, 12, 3)
OFFS = floats(2, 12, 12, 6)
XV = np.arange(0, 12, dtype="float32")
PTS = floats(3, 2) * 10
INST = floats(2, 3, 2) * 10
p.no("make_gaussian_kernel", lambda x: x * pf.make_gaussian_kernel(5, 1.0), floats(5, 5))
p("smooth_imgs", lambda x: pf.smooth_imgs(x, 5, 1.0), CMS)
p("find_offsets_local_direction", lambda x: pf.find_offsets_local_direction(x), floats(4, 3, 3, 1))
p(
    "crop_bboxes",
    lambda i, b, s: pf.crop_bboxes(i, b, s),
    CMS,
    np.array([[1, 1, 5, 5], [3, 2, 7, 6], [0, 0, 4, 4]], "float32"),
    np.array([0, 1, 1], "int32"),
)
p.no("find_global_peaks_rough", lambda x: pf.find_global_peaks_rough(x, 0.1), CMS)
p.no("find_local_peaks_rough", lambda x: pf.find_local_peaks_rough(x, 0.2), CMS)
p(
    "integral_regression",
    lambda x, a, b: pf.integral_regression(x, a, b),
    floats(2, 5, 5, 3),
    np.arange(-2, 3, dtype="float32"),
    np.arange(-2, 3, dtype="float32"),
)
for _r in (None, "local", "integral"):
    p.no(f"find_global_peaks {_r}", lambda x, _r=_r: pf.find_global_peaks(x, refinement=_r), CMS)
    p.no(f"find_local_peaks {_r}", lambda x, _r=_r: pf.find_local_peaks(x, refinement=_r), CMS)
p.no("find_global_peaks_integral", lambda x: pf.find_global_peaks_integral(x), CMS)
p.no("find_local_peaks_integral", lambda x: pf.find_local_peaks_integral(x), CMS)
p.no(
    "find_global_peaks_with_offsets",
    lambda x, o: pf.find_global_peaks_with_offsets(x, o),
    CMS,
    OFFS,
)
p.no(
    "find_local_peaks_with_offsets", lambda x, o: pf.find_local_peaks_with_offsets(x, o), CMS, OFFS
)
EDGES = np.array([[0, 1], [1, 2]], "int32")
CH = np.array([0, 1, 2, 0, 1], "int32")
p.no("get_connection_candidates", lambda c, e: pg.get_connection_candidates(c, e, 3), CH, EDGES)
EP = np.array([[0, 1], [0, 4], [1, 2], [4, 2]], "int32")
EI = np.array([0, 0, 1, 1], "int32")
PEAKS = floats(5, 2) * 10
PAFS = floats(12, 12, 4) - 0.5
p.no("make_line_subs", lambda a, b, c: pg.make_line_subs(a, b, c, 4, 1), PEAKS, EP, EI)
p("get_paf_lines", lambda x, a, b, c: pg.get_paf_lines(x, a, b, c, 4, 1), PAFS, PEAKS, EP, EI)
p("compute_distance_penalty", lambda x: pg.compute_distance_penalty(x, 3.0), floats(4) * 5)
p("score_paf_lines", lambda x, a, b: pg.score_paf_lines(x, a, b, 3.0), floats(4, 4, 2), PEAKS, EP)


def ragged(v):
    return tf.RaggedTensor.from_row_lengths(v, np.array([3, 2], "int64"))


p.no(
    "score_paf_lines_batch",
    lambda x, a, c, e: tuple(
        y.values for y in pg.score_paf_lines_batch(x, a, c, e, 4, 1, 0.25, 1.0, 3)
    ),
    np.stack([PAFS, PAFS]),
    ragged(PEAKS),
    ragged(CH),
    EDGES,
)
p.no(
    "match_candidates_sample",
    lambda a, b, c: pg.match_candidates_sample(a, b, c, 2),
    EI,
    EP,
    floats(4),
)
p(
    "distance_to_edge",
    lambda x, a, b: em.distance_to_edge(x, a, b),
    floats(12, 12, 2) * 12,
    floats(2, 2) * 10,
    floats(2, 2) * 10,
)
p(
    "make_edge_maps",
    lambda a, b, c, d: em.make_edge_maps(a, b, c, d, 2.0),
    XV,
    XV,
    floats(2, 2) * 10,
    floats(2, 2) * 10,
)
p(
    "make_pafs",
    lambda a, b, c, d: em.make_pafs(a, b, c, d, 2.0),
    XV,
    XV,
    floats(2, 2) * 10,
    floats(2, 2) * 10,
)
p(
    "make_multi_pafs",
    lambda a, b, c, d: em.make_multi_pafs(a, b, c, d, 2.0),
    XV,
    XV,
    floats(3, 2, 2) * 10,
    floats(3, 2, 2) * 10,
)
p("get_edge_points", lambda i, e: em.get_edge_points(i, e), INST, EDGES)
p("make_confmaps", lambda x, a, b: cm.make_confmaps(x, a, b, 1.5), PTS, XV, XV)
p("make_multi_confmaps", lambda x, a, b: cm.make_multi_confmaps(x, a, b, 1.5), INST, XV, XV)
p(
    "make_multi_confmaps_with_offsets",
    lambda x, a, b: cm.make_multi_confmaps_with_offsets(x, a, b, 1, 1.5, 0.2),
    INST,
    XV,
    XV,
)
p("expand_to_rank", lambda x: utils.expand_to_rank(x, 4), PTS)
p("gaussian_pdf", lambda x: utils.gaussian_pdf(x, 1.0), PTS)
p.no(
    "make_grid_vectors",
    lambda x: (x + utils.make_grid_vectors(12, 12, 2)[0], utils.make_grid_vectors(12, 12, 2)[1]),
    floats(6),
)
p("unrag_tensor", lambda x: utils.unrag_tensor(x, 4, 1), ragged(PEAKS))
p("make_offsets", lambda x, a, b: off.make_offsets(x, a, b), PTS, XV, XV)
p("mask_offsets", lambda o, c: off.mask_offsets(o, c), floats(12, 12, 3, 2), floats(12, 12, 3))
p("find_points_bbox_midpoint", lambda x: ic.find_points_bbox_midpoint(x), INST)
p(
    "get_instance_anchors",
    lambda x, a: ic.get_instance_anchors(x, a),
    INST,
    np.array([0, 1], "int32"),
)
p("normalize_bboxes", lambda b: crop.normalize_bboxes(b, 12, 12), floats(3, 4) * 10)
p("unnormalize_bboxes", lambda b: crop.unnormalize_bboxes(b, 12, 12), floats(3, 4))
p("make_centered_bboxes", lambda b: crop.make_centered_bboxes(b, 4, 4), floats(3, 2) * 10)
p(
    "instance crop_bboxes",
    lambda i, b: crop.crop_bboxes(i, b),
    floats(12, 12, 3),
    np.array([[1, 1, 5, 5], [3, 2, 7, 6]], "float32"),
)
for _n in (
    "ensure_min_image_rank",
    "ensure_float",
    "ensure_int",
    "ensure_grayscale",
    "ensure_rgb",
    "convert_rgb_to_bgr",
    "scale_to_imagenet_tf_mode",
    "scale_to_imagenet_caffe_mode",
    "scale_to_imagenet_torch_mode",
):
    p.no(_n, getattr(norm, _n), floats(12, 12, 3))
    p.no(f"{_n} gray", getattr(norm, _n), floats(12, 12, 1))
p.no("ensure_float uint8", norm.ensure_float, integers(255, 12, 12, 3).astype("uint8"))
p("scale_image_range", lambda x: norm.scale_image_range(x, -1.0, 1.0), floats(12, 12, 3))
p("pad_to_stride", lambda x: resizing.pad_to_stride(x, 8), floats(12, 12, 3))
p("resize_image", lambda x: resizing.resize_image(x, 0.5), floats(12, 12, 3))
p("flip_instances_lr", lambda x: augmentation.flip_instances_lr(x, 12), INST)
p(
    "flip_instances_lr symmetric",
    lambda x, s: augmentation.flip_instances_lr(x, 12, s),
    INST,
    np.array([[0, 1]], "int32"),
)
p(
    "flip_instances_ud",
    lambda x, s: augmentation.flip_instances_ud(x, 12, s),
    INST,
    np.array([[0, 1]], "int32"),
)
p.no(
    "make_class_vectors", lambda c: identity.make_class_vectors(c, 3), np.array([0, 2, -1], "int32")
)
p.no(
    "make_class_maps",
    lambda c, i: identity.make_class_maps(c, i, 3),
    floats(12, 12, 2),
    np.array([0, 2], "int32"),
)
p("compute_ohkm_loss", lambda y, x: losses.compute_ohkm_loss(y, x), CMS, floats(2, 12, 12, 3))
p(
    "compute_ohkm_loss max",
    lambda y, x: losses.compute_ohkm_loss(y, x, max_hard_keypoints=2),
    CMS,
    floats(2, 12, 12, 3),
)
p("OHKMLoss", lambda y, x: losses.OHKMLoss()(y, x), CMS, floats(2, 12, 12, 3))


@programs("PartLoss")
def _part():
    m = losses.PartLoss(1)
    m.update_state(CMS, CMS)

    def run(y, x):
        m.update_state(y, x)
        return m.result()

    return Call(run, [CMS, floats(2, 12, 12, 3)])


def _model(channels, size=16, outs=1, stride=1):
    i = tf.keras.Input((size, size, 1))
    h = tf.keras.layers.Conv2D(4, 3, strides=stride, padding="same", activation="relu")(i)
    return tf.keras.Model(
        i,
        [
            tf.keras.layers.Conv2D(c, 3, padding="same", activation="sigmoid", name=n)(h)
            for n, c in channels
        ],
    )


IMGS = floats(2, 16, 16, 1)


def infer(name, make, output, inputs):
    def build():
        made = make()
        made(inputs)
        return Call(lambda v: output(made(v)), [inputs], False)

    programs(name)(build)


def _flat(o):
    return [y.values if isinstance(y, tf.RaggedTensor) else y for y in tf.nest.flatten(o)]


for _r in (None, "local", "integral"):
    infer(
        f"SingleInstanceInferenceLayer {_r}",
        lambda _r=_r: inf.SingleInstanceInferenceLayer(
            _model([("SingleInstanceConfmapsHead", 3)]), refinement=_r, output_stride=1
        ),
        _flat,
        IMGS,
    )
infer(
    "SingleInstanceInferenceLayer scale",
    lambda: inf.SingleInstanceInferenceLayer(
        _model([("SingleInstanceConfmapsHead", 3)], 8),
        input_scale=0.5,
        output_stride=1,
        return_confmaps=True,
    ),
    _flat,
    IMGS,
)
infer(
    "SingleInstanceInferenceModel",
    lambda: inf.SingleInstanceInferenceModel(
        inf.SingleInstanceInferenceLayer(
            _model([("SingleInstanceConfmapsHead", 3)]), output_stride=1
        )
    ),
    _flat,
    IMGS,
)
infer(
    "CentroidCrop",
    lambda: inf.CentroidCrop(
        _model([("CentroidConfmapsHead", 1)]), crop_size=4, output_stride=1, peak_threshold=0.1
    ),
    _flat,
    {"image": IMGS},
)
infer(
    "CentroidCrop max",
    lambda: inf.CentroidCrop(
        _model([("CentroidConfmapsHead", 1)]),
        crop_size=4,
        output_stride=1,
        peak_threshold=0.1,
        max_instances=2,
    ),
    _flat,
    {"image": IMGS},
)
infer(
    "FindInstancePeaks",
    lambda: inf.FindInstancePeaks(_model([("CenteredInstanceConfmapsHead", 3)]), output_stride=1),
    _flat,
    IMGS,
)
infer(
    "TopDownInferenceModel",
    lambda: inf.TopDownInferenceModel(
        inf.CentroidCrop(
            _model([("CentroidConfmapsHead", 1)]), crop_size=4, output_stride=1, peak_threshold=0.1
        ),
        inf.FindInstancePeaks(_model([("CenteredInstanceConfmapsHead", 3)], 4), output_stride=1),
    ),
    _flat,
    {"image": IMGS},
)


def scorer():
    return pg.PAFScorer(part_names=["a", "b", "c"], edges=[("a", "b"), ("b", "c")], pafs_stride=1)


def bottom_up(**k):
    return inf.BottomUpInferenceLayer(
        _model([("MultiInstanceConfmapsHead", 3), ("PartAffinityFieldsHead", 4)]),
        scorer(),
        cm_output_stride=1,
        paf_output_stride=1,
        **k,
    )


@programs("BottomUpInferenceLayer.forward_pass")
def _forward():
    made = bottom_up()
    return Call(lambda x: made.forward_pass({"image": x})[:2], [IMGS])


@programs("BottomUpInferenceLayer.find_peaks")
def _bottom():
    made = bottom_up()
    return Call(lambda x: [y.values for y in made.find_peaks(x, None)], [floats(2, 16, 16, 3)])


infer("BottomUpInferenceModel", lambda: inf.BottomUpInferenceModel(bottom_up()), _flat, IMGS)


def _arch(name, make):
    def build():
        i = tf.keras.Input((32, 32, 1))
        out = make()(i)
        m = tf.keras.Model(i, out[0] if isinstance(out, tuple) else out)
        return Call(lambda x: m(x, training=True), [floats(2, 32, 32, 1)], True)

    programs(name)(build)


_arch("UNet", lambda: lambda i: unet.UNet(filters=4, down_blocks=2, up_blocks=2).make_backbone(i))
_arch(
    "LeapCNN",
    lambda: lambda i: leap.LeapCNN(filters=4, down_blocks=2, up_blocks=2).make_backbone(i),
)
_arch(
    "Hourglass",
    lambda: (
        lambda i: [
            hourglass.Hourglass(
                down_blocks=2,
                up_blocks=2,
                stem_filters=4,
                filters=4,
                filter_increase=2,
                stem_stride=4,
            ).make_backbone(i)[0]
        ][0]
    ),
)
