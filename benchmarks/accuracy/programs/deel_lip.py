"""Calls of deel-lip 1.5.0 (tf_keras): layers of bounded Lipschitz constant, losses, normalizers."""

from __future__ import annotations

import deel.lip as lip
import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, integers, layer, short

programs = Programs("deel")
p = short(programs)
L = lip.layers
IMG, VEC = floats(2, 8, 8, 3), floats(4, 6)
for _training in (False, True):
    for _name, _make, _in in (
        ("SpectralDense", lambda: L.SpectralDense(5), VEC),
        ("SpectralDense no bjorck", lambda: L.SpectralDense(5, eps_bjorck=None), VEC),
        ("FrobeniusDense", lambda: L.FrobeniusDense(5), VEC),
        ("FrobeniusDense joined", lambda: L.FrobeniusDense(5, disjoint_neurons=False), VEC),
        ("SpectralConv2D", lambda: L.SpectralConv2D(4, 3), IMG),
        ("SpectralConv2D strides", lambda: L.SpectralConv2D(4, 3, strides=2), IMG),
        ("SpectralConv2DTranspose", lambda: L.SpectralConv2DTranspose(4, 3, strides=2), IMG),
        ("FrobeniusConv2D", lambda: L.FrobeniusConv2D(4, 3), IMG),
        ("Householder", lambda: L.Householder(), VEC),
        ("GroupSort", lambda: L.GroupSort(n=3), VEC),
        ("GroupSort2", lambda: L.GroupSort2(), VEC),
        ("FullSort", lambda: L.FullSort(), VEC),
        ("MaxMin", lambda: L.MaxMin(), VEC),
        ("PReLUlip", lambda: L.PReLUlip(), VEC),
        ("ScaledAveragePooling2D", lambda: L.ScaledAveragePooling2D((2, 2)), IMG),
        ("ScaledL2NormPooling2D", lambda: L.ScaledL2NormPooling2D((2, 2)), IMG),
        ("ScaledGlobalL2NormPooling2D", lambda: L.ScaledGlobalL2NormPooling2D(), IMG),
        ("ScaledGlobalAveragePooling2D", lambda: L.ScaledGlobalAveragePooling2D(), IMG),
        ("InvertibleDownSampling", lambda: L.InvertibleDownSampling((2, 2)), IMG),
        ("InvertibleUpSampling", lambda: L.InvertibleUpSampling((2, 2)), floats(2, 4, 4, 8)),
    ):
        layer(
            programs,
            f"{_name} training={_training}",
            _make,
            _in,
            **({"training": True} if _training else {}),
        )
for _pad in ("same", "valid", "reflect", "circular", "symmetric"):
    layer(
        programs,
        f"PadConv2D {_pad}",
        lambda _pad=_pad: tf.keras.Sequential(
            [tf.keras.Input((8, 8, 3)), L.unconstrained.PadConv2D(4, 3, padding=_pad)]
        ),
        IMG,
    )
SIGN = np.sign(floats(6, 1) - 0.5).astype("float32")
HOT = np.eye(3, dtype="float32")[[0, 1, 2, 0, 1, 2]]
for _name, _make, _y, _x in (
    ("KR", lambda: lip.losses.KR(), SIGN, floats(6, 1)),
    ("KR multi", lambda: lip.losses.KR(multi_gpu=True), SIGN, floats(6, 1)),
    ("HKR", lambda: lip.losses.HKR(10.0), SIGN, floats(6, 1)),
    ("HKR inf", lambda: lip.losses.HKR(np.inf), SIGN, floats(6, 1)),
    ("HingeMargin", lambda: lip.losses.HingeMargin(), SIGN, floats(6, 1)),
    ("MulticlassKR", lambda: lip.losses.MulticlassKR(), HOT, floats(6, 3)),
    ("MulticlassHinge", lambda: lip.losses.MulticlassHinge(), HOT, floats(6, 3)),
    ("MulticlassHKR", lambda: lip.losses.MulticlassHKR(), HOT, floats(6, 3)),
    ("MultiMargin", lambda: lip.losses.MultiMargin(), HOT, floats(6, 3)),
    ("CategoricalHinge", lambda: lip.losses.CategoricalHinge(1.0), HOT, floats(6, 3)),
    (
        "TauCategoricalCrossentropy",
        lambda: lip.losses.TauCategoricalCrossentropy(2.0),
        HOT,
        floats(6, 3),
    ),
    (
        "TauSparseCategoricalCrossentropy",
        lambda: lip.losses.TauSparseCategoricalCrossentropy(2.0),
        integers(3, 6),
        floats(6, 3),
    ),
    ("TauBinaryCrossentropy", lambda: lip.losses.TauBinaryCrossentropy(2.0), SIGN, floats(6, 1)),
    (
        "CategoricalProvableRobustAccuracy",
        lambda: lip.metrics.CategoricalProvableRobustAccuracy(),
        HOT,
        floats(6, 3),
    ),
    (
        "CategoricalProvableRobustAccuracy joined",
        lambda: lip.metrics.CategoricalProvableRobustAccuracy(disjoint_neurons=False),
        HOT,
        floats(6, 3),
    ),
    (
        "BinaryProvableRobustAccuracy",
        lambda: lip.metrics.BinaryProvableRobustAccuracy(),
        SIGN,
        floats(6, 1),
    ),
    (
        "CategoricalProvableAvgRobustness",
        lambda: lip.metrics.CategoricalProvableAvgRobustness(),
        HOT,
        floats(6, 3),
    ),
    (
        "CategoricalProvableAvgRobustness negative",
        lambda: lip.metrics.CategoricalProvableAvgRobustness(negative_robustness=True),
        HOT,
        floats(6, 3),
    ),
    (
        "BinaryProvableAvgRobustness",
        lambda: lip.metrics.BinaryProvableAvgRobustness(),
        SIGN,
        floats(6, 1),
    ),
):
    (p.no if "Provable" in _name else p)(_name, lambda y, x, _made=_make(): _made(y, x), _y, _x)
n = lip.normalizers
p(
    "reshaped_kernel_orthogonalization",
    lambda w, u: n.reshaped_kernel_orthogonalization(w, u, 1.0, 1e-3, 1e-3, 0.5)[0],
    floats(4, 5),
    floats(1, 5),
)
p(
    "reshaped_kernel_orthogonalization conv",
    lambda w, u: n.reshaped_kernel_orthogonalization(w, u, 1.0)[0],
    floats(3, 3, 2, 5),
    floats(1, 5),
)
p("bjorck_normalization", lambda w: n.bjorck_normalization(w), floats(4, 5) / 5)
p("spectral_normalization", lambda w, u: n.spectral_normalization(w, u), floats(4, 5), floats(1, 5))
p(
    "spectral_normalization_conv",
    lambda k, u: n.spectral_normalization_conv(k, u),
    floats(3, 3, 2, 5),
    floats(1, 8, 8, 2),
)
p(
    "spectral_normalization_conv strides",
    lambda k, u: n.spectral_normalization_conv(k, u, stride=2),
    floats(3, 3, 2, 5),
    floats(1, 8, 8, 2),
)
for _name, _make, _w in (
    ("WeightClipConstraint", lambda: lip.constraints.WeightClipConstraint(0.5), floats(4, 5)),
    (
        "AutoWeightClipConstraint",
        lambda: lip.constraints.AutoWeightClipConstraint(0.5),
        floats(4, 5),
    ),
    ("FrobeniusConstraint", lambda: lip.constraints.FrobeniusConstraint(), floats(4, 5)),
    ("SpectralConstraint", lambda: lip.constraints.SpectralConstraint(), floats(4, 5)),
    (
        "LorthRegularizer",
        lambda: lip.regularizers.LorthRegularizer((3, 3, 2, 4), stride=1),
        floats(3, 3, 2, 4),
    ),
    (
        "LorthRegularizer strides",
        lambda: lip.regularizers.LorthRegularizer((3, 3, 2, 4), stride=2),
        floats(3, 3, 2, 4),
    ),
    ("OrthDenseRegularizer", lambda: lip.regularizers.OrthDenseRegularizer(1.0), floats(4, 5)),
):
    p(_name, lambda w, _make=_make: _make()(w), _w)
p("SpectralInitializer", lambda x: x * lip.initializers.SpectralInitializer()((4, 5)), floats(4, 5))
p("process_labels_for_multi_gpu", lambda y: lip.utils.process_labels_for_multi_gpu(y), HOT)


@programs("training step")
def _step():
    model = lip.Sequential(
        [
            tf.keras.Input((8, 8, 3)),
            L.SpectralConv2D(4, 3, activation=L.GroupSort2()),
            L.ScaledL2NormPooling2D((2, 2)),
            tf.keras.layers.Flatten(),
            L.FrobeniusDense(3),
        ]
    )
    model.compile(
        tf.keras.optimizers.legacy.SGD(0.1),
        lip.losses.MulticlassHKR(10.0),
        metrics=[lip.losses.MulticlassKR()],
    )
    model.fit(IMG, HOT[:2], verbose=0)
    return Call(lambda x, y: model.train_step((x, y))["loss"], [IMG, HOT[:2]], False, False)
