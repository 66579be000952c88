"""Calls of xplique 2.0.2 (tf_keras): operators, masks of attributions, feature visualisation on tensors."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Call, Programs
from xplique.attributions import kernel_shap, lime, occlusion, rise
from xplique.attributions.grad_cam import GradCAM
from xplique.attributions.grad_cam_pp import GradCAMPP
from xplique.commons import operators as op
from xplique.commons import tf_operations as to
from xplique.features_visualizations import (
    losses as fl,
)
from xplique.features_visualizations import (
    preconditioning as pc,
)
from xplique.features_visualizations import (
    regularizers as fr,
)
from xplique.features_visualizations import (
    transformations as ft,
)
from xplique.utils_functions import segmentation as sg

from programs.made import floats, integers, short

programs = Programs("xplique")
p = short(programs)
NET = tf.keras.Sequential(
    [
        tf.keras.Input((16, 16, 3)),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(3),
    ]
)
SEG = tf.keras.Sequential([tf.keras.Input((16, 16, 3)), tf.keras.layers.Conv2D(3, 1)])
X, Y = floats(2, 16, 16, 3), np.eye(3, dtype="float32")[[0, 2]]
p("predictions_operator", lambda x, y: op.predictions_operator(NET, x, y), X, Y)
p("regression_operator", lambda x, y: op.regression_operator(NET, x, y), X, floats(2, 3))
p(
    "semantic_segmentation_operator",
    lambda x, y: op.semantic_segmentation_operator(SEG, x, y),
    X,
    floats(2, 16, 16, 3) - 0.5,
)
p("repeat_labels", lambda y: to.repeat_labels(y, 3), Y)
p(
    "Rise._get_masks",
    lambda x: x[:, :, :, :1] * rise.Rise._get_masks((16, 16), 2, 4, 0.5),
    floats(2, 16, 16, 1),
)
p("Rise._apply_masks", lambda x, m: rise.Rise._apply_masks(x, m), X[0], floats(4, 16, 16, 1))
p(
    "Occlusion._apply_masks",
    lambda x, m: occlusion.Occlusion._apply_masks(x, m, 0.0),
    X,
    floats(4, 16, 16) > 0.5,
)
p(
    "Occlusion._compute_sensitivity",
    lambda a, b, m: occlusion.Occlusion._compute_sensitivity(a, b, m),
    floats(2),
    floats(2, 4),
    floats(4, 16, 16) > 0.5,
)
p("Lime._get_masks", lambda s, m: lime.Lime._get_masks(s, m), integers(2, 4, 5), integers(5, 8, 8))
p(
    "Lime._apply_masks",
    lambda x, m, r: lime.Lime._apply_masks(x, m, r),
    X[0],
    floats(4, 16, 16) > 0.5,
    floats(3),
)
p(
    "Lime._broadcast_explanation",
    lambda e, m: lime.Lime._broadcast_explanation(e, m),
    floats(5),
    integers(5, 8, 8),
)
for _m in ("cosine", "euclidean"):
    p(
        f"Lime kernel {_m}",
        lambda a, b, c, _k=lime.Lime._get_exp_kernel_func(_m, 45.0): _k(a, b, c),
        X[0],
        integers(2, 4, 5),
        floats(4, 16, 16, 3),
    )
p.no(
    "Lime perturb",
    lambda n, k, _f=lime.Lime._get_default_pertub_function(0.5): _f(n, k),
    np.int32(5),
    np.int32(4),
)
p.no(
    "KernelShap perturb",
    lambda n, k: kernel_shap.KernelShap._kernel_shap_pertub_func(n, k),
    np.int32(5),
    np.int32(4),
)
p(
    "GradCAM._compute_weights",
    lambda g, f: GradCAM._compute_weights(g, f),
    floats(2, 4, 4, 3),
    floats(2, 4, 4, 3),
)
p(
    "GradCAM._apply_weights",
    lambda w, f: GradCAM._apply_weights(w, f),
    floats(2, 3),
    floats(2, 4, 4, 3),
)
p(
    "GradCAMPP._compute_weights",
    lambda g, f: GradCAMPP._compute_weights(g, f),
    floats(2, 4, 4, 3),
    floats(2, 4, 4, 3),
)


@programs("GradCAM._gradient")
def _gradcam():
    g = GradCAM(NET, conv_layer=0)
    return Call(lambda x, y: g._gradient(x, y), [X, Y], False)


p("cosine_similarity", fl.cosine_similarity, floats(2, 4, 4, 3), floats(2, 4, 4, 3))
p("dot_cossim", lambda a, b: fl.dot_cossim(a, b, 2.0), floats(2, 4, 4, 3), floats(2, 4, 4, 3))
for _n in ("l1_reg", "l2_reg", "l_inf_reg", "total_variation_reg"):
    p(_n, lambda x, _f=getattr(fr, _n)(0.1): _f(x), X)
for _n, _f in (
    ("random_blur", lambda: ft.random_blur((1.0, 2.0), 5)),
    ("random_blur_grayscale", lambda: ft.random_blur_grayscale((1.0, 2.0), 5)),
    ("random_jitter", lambda: ft.random_jitter(4)),
    ("random_scale", lambda: ft.random_scale((0.8, 1.2))),
    ("random_flip", lambda: ft.random_flip(True, True)),
    ("pad", lambda: ft.pad(4, 0.0)),
    ("generate_standard_transformations", lambda: ft.generate_standard_transformations(16)),
):
    p(_n, lambda x, _f=_f(): _f(x), X[..., :1] if "gray" in _n else X)
p("recorrelate_colors", pc.recorrelate_colors, X)
for _n in ("sigmoid", "clip"):
    p(f"to_valid_rgb {_n}", lambda x, _n=_n: pc.to_valid_rgb(x, _n), X)
    p(f"to_valid_grayscale {_n}", lambda x, _n=_n: pc.to_valid_grayscale(x, _n), X[..., :1])
p(
    "fft_to_rgb",
    lambda b: pc.fft_to_rgb((1, 16, 16, 3), b, pc.get_fft_scale(16, 16)),
    floats(2, 1, 3, 16, 9),
)
p(
    "maco_image_parametrization",
    lambda a, b: pc.maco_image_parametrization(a, b, (0.0, 1.0)),
    floats(3, 16, 9),
    floats(3, 16, 9),
)
p.no("get_class_zone", lambda x: sg.get_class_zone(x, 1), floats(8, 8, 3))
p.no("get_in_out_border", lambda x: sg.get_in_out_border(x), floats(8, 8) > 0.5)
p.no(
    "get_common_border",
    lambda a, b: sg.get_common_border(a, b),
    (floats(8, 8) * 3 - 1).round(),
    (floats(8, 8) * 3 - 1).round(),
)
