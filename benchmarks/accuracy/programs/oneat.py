"""Calls of oneat 6.9.9 (Keras 2): losses of detected cell events.

Labelled with its packages' `__init__.py` empty.
"""

from __future__ import annotations

from oneat.NEATModels import loss
from program import Programs

from programs.made import floats, plain

programs = Programs("oneat")
for _name, _make, _shape in (
    ("dynamic_yolo_loss", lambda e: loss.dynamic_yolo_loss(3, 1, 1, 1, 2, 6, e), (4, 1, 1, 15)),
    ("volume_yolo_loss", lambda e: loss.volume_yolo_loss(3, 1, 1, 1, 2, 8, e), (4, 1, 1, 19)),
    (
        "static_yolo_loss_segfree",
        lambda e: loss.static_yolo_loss_segfree(3, 1, 1, 2, 5, e),
        (4, 1, 1, 13),
    ),
    ("class_yolo_loss", lambda e: loss.class_yolo_loss(3, e), (4, 1, 1, 3)),
):
    for _entropy in ("binary", "notbinary"):
        plain(
            programs,
            f"{_name} {_entropy}",
            _make(_entropy),
            floats(*_shape),
            floats(*_shape),
            gradient=True,
        )
