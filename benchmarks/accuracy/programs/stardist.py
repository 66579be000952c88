"""Calls of stardist 0.9.2 (tf_keras): losses, metrics, the 2D and 3D models, a training step."""

from __future__ import annotations

import tensorflow as tf
from program import Call, Programs
from stardist.models import base as b

from programs.made import floats, short

programs = Programs("stardist")
p = short(programs)
M = (floats(2, 8, 8, 1) > 0.3).astype("float32")
Y, X = floats(2, 8, 8, 6), floats(2, 8, 8, 6) + 0.1
for _n in ("masked_loss_mae", "masked_loss_mse", "masked_loss_iou"):
    for _k in ({}, {"reg_weight": 1e-4}, {"norm_by_mask": False}):
        p(f"{_n} {_k}", lambda m, y, x, _n=_n, _k=_k: getattr(b, _n)(m, **_k)(y, x), M, Y, X)
for _n in ("masked_metric_mae", "masked_metric_mse", "masked_metric_iou"):
    p(_n, lambda m, y, x, _n=_n: getattr(b, _n)(m)(y, x), M, Y, X)
p("kld", b.kld, floats(2, 8, 8, 1), floats(2, 8, 8, 1))
p(
    "weighted_categorical_crossentropy",
    lambda y, x: b.weighted_categorical_crossentropy((1.0, 2.0, 1.0), 2)(y, x),
    floats(2, 8, 8, 3),
    floats(2, 8, 8, 3),
)


def _model(name, classes):
    @programs(name)
    def _build():
        from stardist.models import Config2D, StarDist2D

        m = StarDist2D(
            Config2D(
                n_rays=8,
                unet_n_depth=2,
                unet_n_filter_base=4,
                net_conv_after_unet=8,
                n_classes=classes,
                grid=(2, 2),
            ),
            name=None,
            basedir=None,
        )
        return Call(lambda x: m.keras_model(x), [floats(2, 32, 32, 1)], True)

    @programs(name + " step")
    def _step():
        from stardist.models import Config2D, StarDist2D

        m = StarDist2D(
            Config2D(
                n_rays=8,
                unet_n_depth=2,
                unet_n_filter_base=4,
                net_conv_after_unet=8,
                n_classes=classes,
            ),
            name=None,
            basedir=None,
        )
        m.prepare_for_training(optimizer=tf.keras.optimizers.legacy.Adam(1e-3))
        y = [floats(2, 32, 32, 1), floats(2, 32, 32, 9)] + (
            [floats(2, 32, 32, classes + 1)] if classes else []
        )
        x = floats(2, 32, 32, 1)
        m.keras_model.train_on_batch(x, y)
        return Call(
            lambda x, *y: m.keras_model.train_step((x, tuple(y)))["loss"], [x, *y], False, False
        )


_model("StarDist2D", None)
_model("StarDist2D classes", 2)


@programs("StarDist3D")
def _three():
    from stardist.models import Config3D, StarDist3D

    m = StarDist3D(
        Config3D(
            rays=8, backbone="unet", unet_n_depth=1, unet_n_filter_base=4, net_conv_after_unet=8
        ),
        name=None,
        basedir=None,
    )
    return Call(lambda x: m.keras_model(x), [floats(1, 8, 16, 16, 1)], True)


@programs("StarDist3D resnet step")
def _three_step():
    from stardist.models import Config3D, StarDist3D

    m = StarDist3D(
        Config3D(
            rays=8,
            backbone="resnet",
            resnet_n_blocks=2,
            resnet_n_filter_base=4,
            net_conv_after_resnet=8,
        ),
        name=None,
        basedir=None,
    )
    m.prepare_for_training(optimizer=tf.keras.optimizers.legacy.Adam(1e-3))
    x, y = floats(1, 8, 16, 16, 1), [floats(1, 8, 16, 16, 1), floats(1, 8, 16, 16, 9)]
    m.keras_model.train_on_batch(x, y)
    return Call(
        lambda x, *y: m.keras_model.train_step((x, tuple(y)))["loss"], [x, *y], False, False
    )
