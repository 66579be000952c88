"""Calls of niceml 0.16.0: losses and metrics of detection and segmentation."""

from __future__ import annotations

import inspect

import numpy as np
from niceml.dlframeworks.keras.losses import categoricalfocalloss, objdetlosses, semseglosses
from niceml.dlframeworks.keras.metrics import objdetmetrics, semsegmetrics
from program import Call, Programs

from programs.made import floats

programs = Programs("niceml")


def anchors():
    mark = np.array([1.0, 0.0, -1.0, 1.0, 1.0])[:, None]
    one = np.concatenate([np.random.rand(5, 4), mark, np.eye(3)[[0, 1, 2, 0, 1]]], axis=-1)
    return np.stack([one, one]).astype("float32")


def add(name, item, y, p):
    programs(name)(lambda: Call(lambda a, b: item(a, b), [y, p], True))


for module in (objdetlosses, objdetmetrics):
    for name, kind in inspect.getmembers(module, inspect.isclass):
        if kind.__module__ == module.__name__:
            item = (
                kind([objdetlosses.RetinaNetBoxLoss(), objdetlosses.RetinaNetClsLoss()])
                if name == "CombinationLoss"
                else kind()
            )
            add(name, item, anchors(), floats(2, 5, 7))
for module in (semseglosses, semsegmetrics, categoricalfocalloss):
    for name, kind in inspect.getmembers(module):
        if getattr(kind, "__module__", "") == module.__name__:
            try:
                item = kind() if inspect.isclass(kind) else kind
            except TypeError:
                continue
            add(
                name,
                item,
                np.eye(3, dtype="float32")[np.random.randint(3, size=(2, 4, 4))],
                floats(2, 4, 4, 3) + 0.1,
            )
