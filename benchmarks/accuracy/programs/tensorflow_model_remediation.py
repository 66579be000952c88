"""Calls of tensorflow_model_remediation 0.1.7.1 (tf_keras): MinDiff and counterfactual losses, kernels, models' steps."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Call, Programs
from tensorflow_model_remediation import counterfactual as cf
from tensorflow_model_remediation import min_diff as md
from tensorflow_model_remediation.min_diff.losses import adjusted_mmd_loss

from programs.made import floats, short

programs = Programs("tensorflow_model_remediation")
p = short(programs)
MEM = np.array([[1], [0], [1], [0], [1], [0]], "float32")
PR, W = floats(6, 1), floats(6, 1)
for _n, _make in (
    ("MMDLoss gauss", lambda: md.losses.MMDLoss("gaussian")),
    ("MMDLoss laplace", lambda: md.losses.MMDLoss("laplacian")),
    ("MMDLoss transform", lambda: md.losses.MMDLoss(predictions_transform=tf.math.sigmoid)),
    ("AdjustedMMDLoss", lambda: adjusted_mmd_loss.AdjustedMMDLoss()),
    ("AbsoluteCorrelationLoss", lambda: md.losses.AbsoluteCorrelationLoss()),
):
    p(_n, lambda m, x, _l=_make(): _l(m, x), MEM, PR)
    p(_n + " weights", lambda m, x, w, _l=_make(): _l(m, x, w), MEM, PR, W)
p(
    "MMDLoss summary",
    lambda m, x, _l=md.losses.MMDLoss(enable_summary_histogram=True): _l(m, x),
    MEM,
    PR,
)
for _k in ("GaussianKernel", "LaplacianKernel"):
    p(_k, lambda x, y, _k=_k: getattr(md.losses, _k)(0.5)(x, y), PR, floats(5, 1))
for _n in ("PairwiseMSELoss", "PairwiseAbsoluteDifferenceLoss", "PairwiseCosineLoss"):
    if hasattr(cf.losses, _n):
        p(_n, lambda x, y, _l=getattr(cf.losses, _n)(): _l(x, y), floats(6, 3), floats(6, 3))
        p(
            _n + " weights",
            lambda x, y, w, _l=getattr(cf.losses, _n)(): _l(x, y, w),
            floats(6, 3),
            floats(6, 3),
            floats(6),
        )


def _base():
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(4, "relu"),
            tf.keras.layers.Dense(1, "sigmoid"),
        ]
    )


@programs("MinDiffModel step")
def _mindiff():
    m = md.keras.MinDiffModel(_base(), md.losses.MMDLoss(), loss_weight=1.0)
    m.compile(tf.keras.optimizers.legacy.Adam(1e-3), "binary_crossentropy")

    def pack(x, mx, mm):
        return md.keras.utils.MinDiffPackedInputs(
            original_inputs=x, min_diff_data=(mx, mm, tf.ones_like(mm))
        )

    x, y, mx = floats(6, 4), MEM, floats(6, 4)
    m(pack(tf.constant(x), tf.constant(mx), tf.constant(MEM)))
    return Call(
        lambda x, y, mx, mm: m.train_step((pack(x, mx, mm), y))["loss"],
        [x, y, mx, MEM],
        False,
        False,
    )


@programs("MinDiffModel call")
def _mindiff_call():
    m = md.keras.MinDiffModel(_base(), md.losses.AbsoluteCorrelationLoss(), loss_weight=1.0)
    m.compile(tf.keras.optimizers.legacy.Adam(1e-3), "binary_crossentropy")
    m(floats(6, 4))
    return Call(lambda x: m(x), [floats(6, 4)], True)


@programs("MinDiffModel.compute_min_diff_loss")
def _mindiff_loss():
    m = md.keras.MinDiffModel(_base(), md.losses.MMDLoss(), loss_weight=1.0)
    m.compile(tf.keras.optimizers.legacy.Adam(1e-3), "binary_crossentropy")
    m(floats(6, 4))
    return Call(
        lambda x, mm: m.compute_min_diff_loss((x, mm, tf.ones_like(mm)), training=True),
        [floats(6, 4), MEM],
        True,
    )


@programs("CounterfactualModel step")
def _cf():
    m = cf.keras.CounterfactualModel(_base(), cf.losses.PairwiseMSELoss(), loss_weight=1.0)
    m.compile(tf.keras.optimizers.legacy.Adam(1e-3), "binary_crossentropy")

    def pack(x, o, c):
        return cf.keras.utils.CounterfactualPackedInputs(
            original_input=x, counterfactual_data=(o, c, tf.ones([tf.shape(o)[0], 1]))
        )

    x = floats(6, 4)
    m(pack(tf.constant(x), tf.constant(x), tf.constant(x)))
    return Call(
        lambda x, y, o, c: m.train_step((pack(x, o, c), y))["loss"],
        [x, MEM, floats(6, 4), floats(6, 4)],
        False,
        False,
    )
