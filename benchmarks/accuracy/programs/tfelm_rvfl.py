"""Calls of tfelm-rvfl 1.1.0: what its folder Layers has: the choice of landmarks, and layers that are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from Layers import ELMLayer, KELMLayer, RVFLLayer, WELMLayer
from program import Call, Programs
from Resources.Kernel import Kernel

from programs.made import floats, integers, plain

programs = Programs("Layers")
DATA, LABELS = floats(8, 3) + 0.1, integers(2, 8)
TARGETS = np.eye(2, dtype="float32")[LABELS]

for _name in (
    "random_sampling",
    "uniform_sampling",
    "kmeans_sampling",
    "greedy_sampling",
    "farthest_first_traversal_sampling",
    "spectral_sampling",
):
    plain(programs, _name, lambda x, name=_name: getattr(KELMLayer, name)(x, 3), DATA)
plain(
    programs,
    "stratified_sampling",
    lambda x, y: KELMLayer.stratified_sampling(x, y, 4),
    DATA,
    LABELS,
)
plain(
    programs,
    "joint_entropy_based_sampling",
    lambda x: KELMLayer.joint_entropy_based_sampling(x, 3, 4),
    DATA,
)
plain(programs, "compute_entropy", KELMLayer.compute_entropy, LABELS)
plain(
    programs,
    "compute_information_gain",
    KELMLayer.compute_information_gain,
    DATA[:, 0],
    LABELS,
)
plain(
    programs,
    "information_gain_based_sampling",
    lambda x, y: KELMLayer.information_gain_based_sampling(x, y, 3),
    DATA[:, :, None].repeat(8, 2)[:, 0],
    LABELS,
)

for _kind in (ELMLayer.ELMLayer, RVFLLayer.RVFLLayer, WELMLayer.WELMLayer):

    @programs(f"{_kind.__name__}.fit")
    def _fit(kind: Any = _kind) -> Call:
        made = kind(number_neurons=4, activation="tanh", C=0.1)
        made.build(DATA.shape)

        def function(x: Any, y: Any) -> Any:
            made.fit(x, y)
            return made.predict(x)

        return Call(function, [DATA, TARGETS])


@programs("KELMLayer.fit")
def _kernel() -> Call:
    made = KELMLayer.KELMLayer(Kernel("rbf"), "tanh", C=0.1)
    made.build(DATA.shape)

    def function(x: Any, y: Any) -> Any:
        made.fit(x, y)
        return made.predict(x)

    return Call(function, [DATA, TARGETS])
