"""Calls of zoobot 0.0.4: losses, layers and preprocessing."""

from __future__ import annotations

import numpy as np
from program import Call, Programs
from zoobot.tensorflow.estimators import custom_layers
from zoobot.tensorflow.training import losses

from programs.made import floats

programs = Programs("zoobot")
VOTES = np.array([[1, 2, 3, 0, 2], [2, 2, 1, 4, 1]], np.float32)
GROUPS = [(0, 2), (3, 4)]


def add(name, make):
    programs(name)(make)


add(
    "multiquestion",
    lambda: Call(
        lambda y, p: losses.calculate_multiquestion_loss(y, p, GROUPS),
        [VOTES, floats(2, 5) + 1],
        True,
    ),
)
add(
    "MultiquestionLoss",
    lambda: Call(
        lambda y, p: losses.get_multiquestion_loss(GROUPS)(y, p), [VOTES, floats(2, 5) + 1], True
    ),
)
add("dirichlet_loss", lambda: Call(losses.dirichlet_loss, [VOTES, floats(2, 5) + 1], True))


def layer(name, make):
    add(name, lambda: Call(lambda x: make()(x, training=True), [floats(2, 16, 16, 3)], True))


for word in ("PermaDropout", "PermaRandomRotation", "PermaRandomFlip", "PermaRandomCrop"):
    kind = getattr(custom_layers, word, None)
    if kind is not None:
        given = {
            "PermaDropout": (0.5,),
            "PermaRandomRotation": (0.2,),
            "PermaRandomFlip": (),
            "PermaRandomCrop": (8, 8),
        }[word]

        def make(kind=kind, given=given):
            item = kind(*given)
            item(floats(2, 16, 16, 3))
            return Call(lambda x: item(x), [floats(2, 16, 16, 3)])

        add(word, make)
