"""Calls of pdfflow 1.2.2: parton densities and the strong coupling, interpolated in grids."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf
from pdfflow import (
    alphas_region_interpolator,
    functions,
    interpolations,
    neighbour_knots,
    region_interpolator,
)
from pdfflow.subgrid import Subgrid
from program import Call, Programs

from programs.made import floats

programs = Programs("pdfflow")
# Logarithms, with one more knot than the grid has at each end.
KNOTS_X = np.log(np.array([0.99e-3, 1e-3, 1e-2, 0.1, 0.5, 1, 1.01]))
KNOTS_Q2 = np.log(np.array([1.5, 1.5, 2, 4, 8, 16, 17]))
X, Q2 = np.array([-6.5, -5, -2, -1]), np.array([0.6, 1, 2, 2.5])
GRID = floats(49, 2).astype("float64") + 0.1
COUPLING = floats(7).astype("float64") * 0.2 + 0.1
VALUES = floats(4, 2).astype("float64")


def add(name: str, function: Callable[..., Any], *inputs: Any, gradient: bool = False) -> None:
    """A program whose inputs have the lengths of a grid."""
    programs(name)(lambda: Call(function, inputs, gradient, check_shape=False))


def _in_zone(zone: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, q2, grid: zone(
        x, q2, tf.constant(KNOTS_X), tf.constant(5), tf.constant(KNOTS_Q2), tf.constant(5), grid
    )


for _zone in (
    "interpolate",
    "lowx_extrapolation",
    "lowq2_extrapolation",
    "highq2_extrapolation",
    "lowx_highq2_extrapolation",
    "lowx_lowq2_extrapolation",
):
    add(_zone, _in_zone(getattr(region_interpolator, _zone)), X, Q2, GRID, gradient=True)
add(
    "four_neighbour_knots",
    lambda x, q2, grid: neighbour_knots.four_neighbour_knots(
        x, q2, tf.constant(KNOTS_X), tf.constant(KNOTS_Q2), grid
    ),
    X,
    Q2,
    GRID,
)
add(
    "alphas_neighbour_knots",
    lambda q2, grid: neighbour_knots.alphas_neighbour_knots(q2, tf.constant(KNOTS_Q2), grid),
    Q2,
    COUPLING,
)
add(
    "alphas_interpolate",
    lambda q2, grid: alphas_region_interpolator.alphas_interpolate(
        q2, tf.constant(KNOTS_Q2), tf.constant(5), grid
    ),
    Q2,
    COUPLING,
    gradient=True,
)
add(
    "extrapolate_linear",
    lambda x, low, high: interpolations.extrapolate_linear(
        x, tf.constant(-6, tf.float64), tf.constant(-5, tf.float64), low, high
    ),
    X,
    VALUES,
    VALUES + 1,
    gradient=True,
)
add(
    "_condition_to_idx",
    functions._condition_to_idx,
    np.array([True, False, True]),
    np.array([True, True, False]),
)


def _subgrid(place: int, values: Any, coupling: bool) -> Any:
    """The `place`th of three grids, as read from the files of a set."""
    grid = SimpleNamespace(
        x=np.array([1e-3, 1e-2, 0.1, 0.5, 1]),
        q2=np.array([1.5, 2, 4, 8, 16]),
        flav=np.array([1, 2, 21]),
        grid=values,
    )
    return Subgrid(grid, place, 3, alpha_s=coupling)


def _of_place(place: int, name: str) -> None:
    @programs(f"Subgrid {name}")
    def _density() -> Call:
        made = _subgrid(place, floats(25, 3).astype("float64"), False)
        return Call(
            lambda x, q2: made(tf.constant([4, 2]), q2, pids=tf.constant([0, 2]), arr_x=x),
            [X, Q2],
            check_shape=False,
        )

    @programs(f"Subgrid of alpha_s {name}")
    def _coupling() -> Call:
        made = _subgrid(place, floats(5).astype("float64"), True)
        return Call(lambda q2: made(tf.constant(4), q2), [Q2], check_shape=False)


for _place, _name in enumerate(("first", "inner", "last")):
    _of_place(_place, _name)
