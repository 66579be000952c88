"""Calls of axelerate 0.7.5: the loss of its YOLO.

Labelled with its packages' `__init__.py` empty.
"""

from __future__ import annotations

import numpy as np
from axelerate.networks.yolo.backend import loss
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("axelerate")
ANCHORS = np.asarray([[[0.2, 0.3], [0.5, 0.4]]], "float32")
PARAMS = loss.Params(0.5, 0.5, 1.0, 1.0, 1.0, [[3, 3]], ANCHORS, 2)
PARAMS.xy_offset = PARAMS.xy_offset.astype("float32")
PARAMS.out_hw = PARAMS.out_hw.astype("float32")
TRUE, PREDICTED = floats(2, 3, 3, 2, 7), floats(2, 3, 3, 2, 7)


@programs("create_loss_fn")
def _loss() -> Call:
    PARAMS.batch_size = 2
    params = loss.Params(0.5, 0.5, 1.0, 1.0, 1.0, [[3, 3]], ANCHORS, 2)
    params.xy_offset = params.xy_offset.astype("float32")
    function = loss.create_loss_fn(params, 0, 2)
    params.out_hw = params.out_hw.astype("float32")
    return Call(function, [TRUE, PREDICTED], True)


plain(
    programs,
    "tf_iou",
    loss.tf_iou,
    floats(3, 3, 2, 2),
    floats(3, 3, 2, 2),
    floats(4, 2),
    floats(4, 2),
)
plain(
    programs,
    "tf_xywh_to_all",
    lambda x, y: loss.tf_xywh_to_all(x, y, 0, PARAMS),
    TRUE[..., :2],
    TRUE[..., 2:4],
)
plain(
    programs,
    "tf_xywh_to_grid",
    lambda x, y: loss.tf_xywh_to_grid(x, y, 0, PARAMS),
    TRUE[..., :2],
    TRUE[..., 2:4],
)
