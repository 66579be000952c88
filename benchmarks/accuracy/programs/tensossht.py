"""Calls of tensossht 0.7.0: harmonic transforms on the sphere, special functions."""

from __future__ import annotations

import tensorflow as tf
from program import Programs
from tensossht import sampling, specialfunctions
from tensossht.layers import harmonic_transforms as transforms
from tensossht.layers import wigner
from tensossht.specialfunctions import Methods

from programs.made import floats, layer, plain

programs = Programs("tensossht")
ANGLES = floats(4)
IMAGE = floats(4, 7)
SPINS = tf.complex(floats(3, 4, 7), floats(3, 4, 7)).numpy()
layer(programs, "ForwardLayer real", lambda: transforms.ForwardLayer(True), IMAGE)
layer(programs, "ForwardLayer", transforms.ForwardLayer, SPINS[0])
layer(programs, "ForwardSpinLayer", transforms.ForwardSpinLayer, SPINS)
layer(
    programs,
    "InverseLayer",
    transforms.InverseLayer,
    tf.complex(floats(16), floats(16)).numpy(),
)
layer(
    programs,
    "InverseLayer real",
    lambda: transforms.InverseLayer(True),
    tf.complex(floats(10), floats(10)).numpy(),
)
layer(programs, "ForwardWignerLayer", wigner.ForwardWignerLayer, SPINS)
for _method in (Methods.KOSTELEC, Methods.NUMERICAL_RECIPES):
    plain(
        programs,
        f"legendre {_method.name}",
        lambda x, _method=_method: specialfunctions.legendre(x, lmax=4, method=_method),
        ANGLES,
        gradient=True,
    )
plain(
    programs,
    "spherical_harmonics",
    lambda theta, phi: specialfunctions.spherical_harmonics(theta, phi, lmax=4),
    ANGLES,
    ANGLES + 1,
)


def _coefficients(x: tf.Tensor) -> tf.Tensor:
    return specialfunctions.to_matrix_coefficients(x, lmax=4)


plain(programs, "to_matrix_coefficients", _coefficients, floats(2, 16))
plain(
    programs,
    "legendre_lsum",
    lambda x: specialfunctions.legendre_lsum(x, lmax=4),
    floats(16),
)
plain(
    programs,
    "equiangular",
    lambda x: sampling.equiangular(lmax=4) + x,
    floats(1),
)
