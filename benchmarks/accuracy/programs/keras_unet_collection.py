"""Calls of keras-unet-collection 0.1.13 (Keras 2): small models of its kinds, and its losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras_unet_collection import losses, models
from program import Programs

from programs.made import floats, layer, plain

programs = Programs("keras_unet_collection")
SIZE, FILTERS = (32, 32, 3), [4, 8, 16]


def model(name: str, make: Callable[[], Any]) -> None:
    """A program that calls a model on two pictures."""
    layer(programs, f"models.{name}", make, floats(2, 32, 32, 3))


model("unet_2d", lambda: models.unet_2d(SIZE, FILTERS, 2))
model(
    "unet_2d pooled",
    lambda: models.unet_2d(SIZE, FILTERS, 2, pool="ave", unpool="nearest", batch_norm=True),
)
model("unet_plus_2d", lambda: models.unet_plus_2d(SIZE, FILTERS, 2))
model("unet_plus_2d deep", lambda: models.unet_plus_2d(SIZE, FILTERS, 2, deep_supervision=True))
model("r2_unet_2d", lambda: models.r2_unet_2d(SIZE, FILTERS, 2))
model("resunet_a_2d", lambda: models.resunet_a_2d(SIZE, FILTERS, [1, 3], 2))
model("u2net_2d", lambda: models.u2net_2d(SIZE, 2, FILTERS, [4, 8]))
model("att_unet_2d", lambda: models.att_unet_2d(SIZE, FILTERS, 2))
model(
    "att_unet_2d GELU",
    lambda: models.att_unet_2d(SIZE, FILTERS, 2, activation="GELU", atten_activation="Sigmoid"),
)
model("vnet_2d", lambda: models.vnet_2d(SIZE, FILTERS, 2))
model("unet_3plus_2d", lambda: models.unet_3plus_2d(SIZE, 2, FILTERS))
model(
    "transunet_2d",
    lambda: models.transunet_2d(
        SIZE, FILTERS, 2, embed_dim=8, num_mlp=8, num_heads=2, num_transformer=1
    ),
)
model(
    "swin_unet_2d",
    lambda: models.swin_unet_2d(
        SIZE, 8, 2, 2, 1, 1, patch_size=(2, 2), num_heads=[2, 2], window_size=[2, 2], num_mlp=8
    ),
)
TRUE, GUESS = floats(2, 8, 8, 3), floats(2, 8, 8, 3)
for _name in "dice_coef dice tversky_coef tversky focal_tversky ms_ssim iou_box_coef iou_box iou_seg crps2d_tf crps2d_np".split():
    if hasattr(losses, _name):
        plain(
            programs,
            f"losses.{_name}",
            lambda y, x, name=_name: getattr(losses, name)(y, x),
            TRUE,
            GUESS,
            gradient=True,
        )
for _name in "triplet_1d triplet_2d".split():
    if hasattr(losses, _name):
        plain(
            programs,
            f"losses.{_name}",
            lambda y, x, name=_name: getattr(losses, name)(y, x, 4),
            floats(6, 4),
            floats(6, 4),
            gradient=True,
        )
