"""Calls of phasespace 1.10.4: kinematics, and the generation of decays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from phasespace import GenParticle, kinematics
from phasespace.phasespace import pdk, process_list_to_tensor
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("phasespace")


def _doubles(*shape: int) -> Any:
    return floats(*shape).astype("float64")


# Four vectors of momentum and energy.
VECTORS = np.concatenate([_doubles(4, 3) * 0.2, _doubles(4, 1) + 2], axis=1)
for _name in (
    "spatial_component",
    "time_component",
    "x_component",
    "y_component",
    "z_component",
    "mass",
    "beta",
    "boost_components",
):
    plain(programs, _name, getattr(kinematics, _name), VECTORS, gradient=True)
for _name, _inputs in {
    "scalar_product": (_doubles(4, 3), _doubles(4, 3)),
    "lorentz_vector": (_doubles(4, 3), _doubles(4, 1)),
    "lorentz_boost": (VECTORS, _doubles(4, 3) * 0.3),
}.items():
    plain(programs, _name, getattr(kinematics, _name), *_inputs, gradient=True)
plain(
    programs,
    "pdk",
    pdk,
    np.array([5.0, 4]),
    np.array([1.0, 1]),
    np.array([1.0, 0.5]),
    gradient=True,
)
plain(programs, "process_list_to_tensor", process_list_to_tensor, VECTORS)
plain(
    programs,
    "GenParticle._get_w_max",
    GenParticle._get_w_max,
    _doubles(4, 1) + 1,
    _doubles(4, 3) * 0.1,
)
plain(
    programs,
    "GenParticle._preprocess",
    lambda momentum: GenParticle._preprocess(momentum, None),
    VECTORS,
)


def _to_three() -> Any:
    return GenParticle("B", 5.0).set_children(
        GenParticle("pi1", 0.14), GenParticle("pi2", 0.14), GenParticle("K", 0.5)
    )


def _in_two_steps(mass: Any) -> Any:
    """A decay to a photon and a particle of this mass, which decays in turn."""
    resonance = GenParticle("K*", mass).set_children(GenParticle("K", 0.5), GenParticle("pi", 0.14))
    return GenParticle("B", 5.0).set_children(resonance, GenParticle("gamma", 0.0))


def _resonant(min_mass: Any, max_mass: Any, n_events: Any) -> Any:
    masses = tf.random.normal([n_events], 0.9, 0.05, tf.float64)
    return tf.clip_by_value(masses, min_mass, max_mass)


def _boosted(name: str, make: Callable[[], Any]) -> None:
    @programs(f"GenParticle._recursive_generate {name}")
    def _weights() -> Call:
        made, random = make(), tf.random.Generator.from_seed(1)
        return Call(
            lambda parent: made._recursive_generate(
                n_events=4,
                boost_to=parent,
                recalculate_max_weights=made.has_grandchildren,
                rng=random,
            )[1],
            [np.tile(np.array([[0.1, 0.2, 0.3, 5.02]]), (4, 1))],
            check_shape=False,
        )


def _at_rest(name: str, make: Callable[[], Any]) -> None:
    @programs(f"GenParticle.generate {name}")
    def _weights() -> Call:
        made, random = make(), tf.random.Generator.from_seed(1)
        return Call(
            lambda scale: scale * made.generate(4, seed=random)[0],
            [np.float64(2)],
            check_shape=False,
        )


_boosted("to three", _to_three)
_boosted("in two steps", lambda: _in_two_steps(0.9))
_at_rest("to three", _to_three)
_at_rest("resonant", lambda: _in_two_steps(_resonant))
