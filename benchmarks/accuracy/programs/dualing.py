"""Calls of dualing 2.0.3 (Keras 2): losses of pairs and triplets, and models that train on them."""

from __future__ import annotations

import numpy as np
from dualing.core import loss
from program import Programs

from programs.made import floats, plain

programs = Programs("dualing")
LABELS, POINTS = np.asarray([0, 1, 0, 2, 1, 2], "int32"), floats(6, 4)
for _kind in (loss.TripletHardLoss, loss.TripletSemiHardLoss):
    for _metric in ("L2", "L1", "angular"):
        for _soft in (False, True):
            plain(
                programs,
                f"{_kind.__name__} {_metric} {_soft}",
                lambda true, given, _kind=_kind, _metric=_metric, _soft=_soft: _kind(
                    1.0, _soft, _metric
                )(true, given),
                LABELS,
                POINTS,
                gradient=True,
            )
for _kind in (loss.BinaryCrossEntropy, loss.ContrastiveLoss):
    plain(
        programs,
        _kind.__name__,
        lambda true, given, _kind=_kind: _kind()(true, given),
        np.asarray([0, 1, 0, 1], "float32"),
        floats(4),
        gradient=True,
    )
