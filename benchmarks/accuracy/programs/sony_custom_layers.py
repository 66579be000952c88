"""Calls of sony-custom-layers 0.3.0: decoding of boxes and detections."""

from __future__ import annotations

from typing import Any

from program import Programs
from sony_custom_layers.keras import FasterRCNNBoxDecode, ScoreConverter, SSDPostProcess

from programs.made import floats, layer

programs = Programs("sony_custom_layers")
CODES, SCORES = floats(2, 6, 4), floats(2, 6, 3)
ANCHORS = floats(6, 4)


def _process(converter: Any, background: bool) -> Any:
    return SSDPostProcess(ANCHORS, (10, 10, 5, 5), (1, 1), converter, 0.01, 0.6, 5, background)


layer(
    programs,
    "FasterRCNNBoxDecode",
    lambda: FasterRCNNBoxDecode(ANCHORS, (10, 10, 5, 5), (0, 0, 1, 1)),
    CODES,
)
layer(programs, "SSDPostProcess", lambda: _process(ScoreConverter.SIGMOID, False), [CODES, SCORES])
layer(programs, "SSDPostProcess b", lambda: _process(ScoreConverter.LINEAR, True), [CODES, SCORES])
