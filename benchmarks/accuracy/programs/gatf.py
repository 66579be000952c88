"""Calls of gatf 0.3.2: the steps of its genetic algorithms that it makes graphs of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from gatf import algorithms, operators, population
from program import Programs

from programs.made import floats, plain

programs = Programs("gatf")
INDIVIDUALS = np.concatenate([floats(11, 3), np.zeros((1, 3), "float32")]).astype("float64")
OTHERS = floats(12, 3).astype("float64")
FITNESS = np.stack([INDIVIDUALS[:, 0], 1.0 - INDIVIDUALS[:, 0] + OTHERS[:, 1]], 1)
BEST = FITNESS[:, :1]
BOUNDS = tf.constant([-1.0] * 3, tf.float64), tf.constant([1.0] * 3, tf.float64)


def _objectives(individuals: Any) -> Any:
    return tf.stack([individuals[:, 0], 1.0 - individuals[:, 0] + individuals[:, 1] ** 2], 1)


def _objective(individuals: Any) -> Any:
    return tf.reduce_sum(individuals**2, 1, keepdims=True)


def _step(make: Callable[[], Any], method: str, *inputs: Any) -> None:
    """A program that calls one step of an algorithm, made outside of the compiled function."""
    made: list[Any] = []

    def step(*arguments: Any) -> Any:
        if not made:
            with tf.init_scope():
                made.append(make())
        return getattr(made[0], method)(*arguments)

    plain(programs, f"{make.__name__} {method}", step, *inputs)


def nsga3() -> Any:
    """The multi-objective algorithm."""
    return algorithms.NSGA3(_objectives, 2, 3, population_size=12, verbose=False)


def mu_plus_lambda() -> Any:
    """The algorithm of one objective."""
    return algorithms.muPlusLambda(_objective, 3, population_size=12, verbose=False)


def swarm() -> Any:
    """The particle swarm."""
    return algorithms.PSO(_objective, 3, population_size=12, verbose=False)


for _method in (
    "_calculate_filled_references",
    "_adaptive_normalization",
    "_distance_to_references",
    "_find_nondominated",
):
    _step(nsga3, _method, FITNESS)
_step(nsga3, "_nondominated_comparison", FITNESS, FITNESS[::-1])
_step(nsga3, "_calculate_mdr", FITNESS, FITNESS[::-1] * 0.9)
_step(nsga3, "_drop_duplicates", INDIVIDUALS)
_step(nsga3, "_tournament", FITNESS, INDIVIDUALS)
_step(mu_plus_lambda, "_select_best", BEST, INDIVIDUALS, BEST[:1], INDIVIDUALS[:1])
_step(mu_plus_lambda, "_selection", BEST, INDIVIDUALS)
_step(mu_plus_lambda, "_tournament", BEST, INDIVIDUALS)
_step(swarm, "_set_particle_best", BEST, INDIVIDUALS, BEST[::-1], OTHERS)
_step(swarm, "_set_global_best", BEST, INDIVIDUALS, BEST[:1], INDIVIDUALS[:1])
_step(swarm, "_set_position", INDIVIDUALS, OTHERS)
_step(swarm, "_set_velocity", INDIVIDUALS, OTHERS, OTHERS[::-1], INDIVIDUALS[:1])
MUTATION = operators.PolynomialMutation(*BOUNDS, prob_per_var=0.5)
CROSSOVER = operators.SimulatedBinaryCx(*BOUNDS)
plain(programs, "mutation", MUTATION, INDIVIDUALS)
plain(programs, "crossover", CROSSOVER, INDIVIDUALS, OTHERS)
plain(
    programs,
    "uniform population",
    lambda x: x + population.initialize_uniform_population(12, *BOUNDS),
    INDIVIDUALS,
)
plain(
    programs,
    "normal population",
    lambda x: x + population.initialize_normal_population(12, *BOUNDS),
    INDIVIDUALS,
)
