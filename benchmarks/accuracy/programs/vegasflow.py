"""Calls of vegasflow 1.3.0: Monte Carlo integrals, and the grids that they refine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs
from vegasflow import PlainFlow, VegasFlow, VegasFlowPlus, utils, vflow
from vegasflow.vflowplus import generate_samples_in_hypercubes

from programs.made import floats, integers

programs = Programs("vegasflow")
# 50 parts of [0, 1] in each of two dimensions.
DIVISIONS = np.tile(np.linspace(0, 1, 51), (2, 1))
FIRST, SECOND = np.array([True, False, True]), np.array([True, True, False])


def _doubles(*shape: int) -> Any:
    return floats(*shape).astype("float64")


def add(
    name: str, make: Callable[[], Callable[..., Any]], *inputs: Any, gradient: bool = False
) -> None:
    """A program of what `make` gives; the number of events is the integrator's."""
    programs(name)(lambda: Call(make(), inputs, gradient, check_shape=False))


add(
    "consume_array_into_indices",
    lambda: lambda values, indices: utils.consume_array_into_indices(values, indices, 5),
    _doubles(6),
    integers(5, 6, 1),
)
add(
    "generate_condition_function and",
    lambda: utils.generate_condition_function(2, "and"),
    FIRST,
    SECOND,
)
add(
    "generate_condition_function or and",
    lambda: utils.generate_condition_function(3, ["or", "and"]),
    FIRST,
    SECOND,
    np.array([False, True, True]),
)
add(
    "importance_sampling_digest",
    lambda: vflow.importance_sampling_digest,
    _doubles(2, 6) * 49,
    DIVISIONS,
    gradient=True,
)
add("_generate_random_array", lambda: vflow._generate_random_array, _doubles(6, 2), DIVISIONS)
add(
    "refine_grid_per_dimension",
    lambda: vflow.refine_grid_per_dimension,
    _doubles(50),
    DIVISIONS[0],
)
add(
    "generate_samples_in_hypercubes",
    lambda: (
        lambda random, events, cubes, divisions: generate_samples_in_hypercubes(
            random, tf.constant(2), events, cubes, divisions
        )
    ),
    _doubles(8, 2),
    np.array([2, 2, 2, 2], "int32"),
    np.array([[0, 0], [0, 1], [1, 0], [1, 1]], "int32"),
    DIVISIONS,
)


def _integrator(kind: type[Any], **options: Any) -> Any:
    """An integral of x² + y² from 20 events."""
    made = kind(2, 20, verbose=False, list_devices=None, **options)
    made.compile(lambda points: tf.reduce_sum(tf.square(points), axis=1))
    return made


add(
    "VegasFlow._digest_random_generation",
    lambda: _integrator(VegasFlow)._digest_random_generation,
    _doubles(6, 2),
)
add(
    "VegasFlow._importance_sampling_array_filling",
    lambda: _integrator(VegasFlow)._importance_sampling_array_filling,
    _doubles(6),
    integers(50, 6, 2),
)
add(
    "VegasFlowPlus._digest_random_generation",
    lambda: _integrator(VegasFlowPlus)._digest_random_generation,
    _doubles(18, 2),
    np.full(9, 2, "int32"),
)


def _with_parameter(run: Callable[[], Any]) -> Callable[..., Any]:
    """The integral and its error, in a function of a parameter."""
    return lambda z: [z + tf.cast(x, z.dtype) for x in tf.nest.flatten(run()[0])]


for _kind in (VegasFlow, VegasFlowPlus):
    add(
        f"{_kind.__name__}.make_differentiable",
        lambda kind=_kind: _with_parameter(_integrator(kind, train=False).make_differentiable()),
        np.float64(1),
    )
add(
    "PlainFlow.run_event",
    lambda: _with_parameter(_integrator(PlainFlow).run_event),
    np.float64(1),
)
