"""Calls of distnet2d 0.2.6 (Keras 2): what it computes per object of a label image, and its losses."""

from __future__ import annotations

import numpy as np
from distnet_2d.utils import image_derivatives_tf as derivatives
from distnet_2d.utils import lovasz_loss, metrics_tf
from distnet_2d.utils import objectwise_computation_tf as objectwise
from program import Programs

from programs.made import floats, integers, plain

programs = Programs("distnet_2d")
IMAGE = floats(8, 8)
LABELS = np.zeros((1, 8, 8), "int32")
LABELS[0, 1:3, 1:4], LABELS[0, 5:7, 2:7] = 1, 2
IDS, SIZES = np.asarray([1, 2], "int32"), np.asarray([6, 10], "int32")
MASK = (LABELS[0] == 1).astype("float32")
FRONT, PREDICTED = LABELS > 0, floats(1, 8, 8) > 0.5

plain(programs, "get_label_size", objectwise.get_label_size, LABELS)
plain(programs, "get_label_size bounded", lambda x: objectwise.get_label_size(x, 4), LABELS)
SIZE = np.asarray(6, "int32")
for name, made, data in (
    ("spatial mean", lambda: objectwise.get_spatial_wmean_by_object_fun(8, 8), IMAGE),
    ("soft argmax", lambda: objectwise.get_soft_argmax_2d_by_object_fun(8, 8), IMAGE),
    ("argmax", objectwise.get_argmax_2d_by_object_fun, IMAGE),
    ("mean", objectwise.get_mean_by_object_fun, floats(8, 8, 3)),
    ("mean dense", lambda: objectwise.get_mean_by_object_fun(channel_axis=False), IMAGE),
    ("max", objectwise.get_max_by_object_fun, floats(8, 8, 3)),
    ("max dense", lambda: objectwise.get_max_by_object_fun(channel_axis=False), IMAGE),
):
    plain(programs, name, lambda d, m, s, made=made: made()(d, m, s), data, MASK, SIZE)
plain(
    programs,
    "objectwise_compute",
    lambda d, lab, i, s: objectwise.objectwise_compute(
        d, objectwise.get_max_by_object_fun(channel_axis=False), lab, i, s
    ),
    IMAGE,
    LABELS[0],
    IDS,
    SIZES,
    gradient=True,
)
plain(
    programs,
    "objectwise_compute_channel",
    lambda d, lab, i, s: objectwise.objectwise_compute_channel(
        d, objectwise.get_mean_by_object_fun(), lab, i, s
    ),
    floats(2, 8, 8, 2),
    LABELS[0],
    IDS,
    SIZES,
)
for name, options in (("", {}), (" mean", {"max": False}), (" max", {"pop_fraction": 0})):
    plain(
        programs,
        f"coord_distance_fun{name}",
        lambda t, p, options=options: objectwise.coord_distance_fun(**options)(t, p),
        floats(2, 9, 2),
        floats(2, 9, 2),
    )
plain(programs, "reduce_pop_size", objectwise.reduce_pop_size, floats(9), np.asarray(9, "int32"))
for name, options in (("", {}), (" tolerant", {"tolerance_radius": 1.5})):
    plain(
        programs,
        f"IoU{name}",
        lambda t, p, options=options: objectwise.IoU(t, p, **options),
        FRONT,
        PREDICTED,
    )
    plain(
        programs,
        f"FP{name}",
        lambda t, p, options=options: objectwise.FP(t, p, **options),
        FRONT,
        PREDICTED,
    )
plain(programs, "FP rate", lambda t, p: objectwise.FP(t, p, rate=True), FRONT, PREDICTED)
plain(programs, "contours", lambda m: objectwise._compute_contours(m), LABELS)
plain(
    programs,
    "contours 3d",
    lambda m: objectwise._compute_contours(m),
    np.repeat(LABELS[:, None], 3, 1),
)
plain(
    programs,
    "slice-wise",
    lambda m: objectwise._dilate_mask(m, mode=objectwise.CONV_2D_SLICEWISE),
    np.repeat(LABELS[:, None], 3, 1),
)
plain(programs, "lovasz_grad", lovasz_loss.lovasz_grad, np.asarray([1, 1, 0, 1, 0], "float32"))
BINARY = (LABELS > 0).astype("float32")
for name, options in (
    ("", {}),
    (" whole batch", {"per_image": False}),
    (" ignoring", {"ignore": 0}),
    (" per label", {"per_label": True}),
):
    plain(
        programs,
        f"lovasz_hinge{name}",
        lambda x, y, options=options: lovasz_loss.lovasz_hinge(x, y, **options),
        floats(1, 8, 8),
        BINARY,
        gradient=True,
    )
plain(
    programs,
    "lovasz_hinge channels",
    lambda x, y: lovasz_loss.lovasz_hinge(x, y, channel_axis=True),
    floats(1, 8, 8, 2),
    np.repeat(BINARY[..., None], 2, -1),
    gradient=True,
)
plain(
    programs,
    "lovasz_hinge objects",
    lambda x, y: lovasz_loss.lovasz_hinge(x, y, per_object=True),
    floats(1, 8, 8, 2, 2),
    np.repeat(np.repeat(BINARY[..., None], 2, -1)[..., None], 2, -1),
)
plain(programs, "laplacian", derivatives.laplacian, floats(1, 8, 8, 2), gradient=True)
plain(programs, "smooth", derivatives.smooth, floats(1, 8, 8, 1))
PLANE = floats(1, 8, 8, 1)
for number in (0, 3):
    plain(
        programs,
        f"metrics {number}",
        lambda *a, number=number: metrics_tf.get_metrics_fun(2.0, number, tracking=False)(
            *a[:2], None, a[2], None, *a[3:]
        ),
        PLANE,
        PLANE + 0.5,
        PLANE,
        LABELS[..., None],
        floats(1, 3, 2),
    )
    plain(
        programs,
        f"metrics tracking {number}",
        lambda edm, gcdm, dy, lm, tlm, labels, centers, number=number: metrics_tf.get_metrics_fun(
            2.0, number
        )(edm, gcdm, None, None, dy, dy, lm, edm, None, None, dy, dy, tlm, labels, labels, centers),
        PLANE,
        PLANE + 0.5,
        floats(1, 8, 8, 2),
        floats(1, 8, 8, 6),
        integers(3, 1, 8, 8, 2).astype("float32"),
        LABELS[..., None],
        floats(1, 3, 2),
    )
