"""Calls of TensorFlow Lattice 2.1.1 (TensorFlow 2.15): its calibration, lattice and ensemble layers."""

from __future__ import annotations

import numpy as np
import tensorflow_lattice as tfl
from program import Programs

from programs.made import floats, integers, layer

programs = Programs("tensorflow_lattice")
L = tfl.layers

layer(
    programs,
    "PWLCalibration",
    lambda: L.PWLCalibration(np.linspace(0, 1, 4), units=3),
    floats(4, 3),
)
layer(
    programs,
    "PWLCalibration learned",
    lambda: L.PWLCalibration(np.linspace(0, 1, 4), input_keypoints_type="learned_interior"),
    floats(4, 1),
)
layer(
    programs,
    "PWLCalibration monotonic",
    lambda: L.PWLCalibration(
        np.linspace(0, 1, 4), monotonicity="increasing", output_min=0.0, output_max=1.0
    ),
    floats(4, 1),
)
layer(
    programs,
    "PWLCalibration missing",
    lambda: L.PWLCalibration(np.linspace(0, 1, 4), impute_missing=True, missing_input_value=-1.0),
    floats(4, 1),
)
layer(
    programs,
    "CategoricalCalibration",
    lambda: L.CategoricalCalibration(3, units=2),
    integers(3, 4, 2),
)
layer(
    programs,
    "CategoricalCalibration default",
    lambda: L.CategoricalCalibration(3, default_input_value=-1),
    integers(3, 4, 1),
)
layer(programs, "Lattice", lambda: L.Lattice([2, 2, 2]), floats(4, 3))
layer(
    programs,
    "Lattice sizes",
    lambda: L.Lattice([2, 3, 4], units=1, monotonicities=["increasing", "none", "none"]),
    floats(4, 3),
)
layer(
    programs, "Lattice simplex", lambda: L.Lattice([2, 2, 2], interpolation="simplex"), floats(4, 3)
)
layer(programs, "Lattice units", lambda: L.Lattice([2, 2], units=3), floats(4, 3, 2))
layer(
    programs,
    "KroneckerFactoredLattice",
    lambda: L.KroneckerFactoredLattice(2, num_terms=2),
    floats(4, 3),
)
layer(programs, "Linear", lambda: L.Linear(3, monotonicities=["increasing"] * 3), floats(4, 3))
layer(programs, "Linear normalized", lambda: L.Linear(3, normalization_order=1), floats(4, 3))
layer(
    programs,
    "ParallelCombination",
    lambda: L.ParallelCombination([L.PWLCalibration(np.linspace(0, 1, 3)) for _ in range(3)]),
    floats(4, 3),
)
layer(programs, "RTL", lambda: L.RTL(num_lattices=3, lattice_rank=2), floats(4, 5))
layer(programs, "CDF", lambda: L.CDF(num_keypoints=5, units=2), floats(4, 4))
layer(
    programs,
    "CDF relu6",
    lambda: L.CDF(num_keypoints=5, activation="relu6", reduction="geometric_mean"),
    floats(4, 4),
)
