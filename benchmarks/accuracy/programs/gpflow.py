"""Calls of GPflow 2.9.2: densities, gradients and predictions of its models, kernels and likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import plain

programs = Programs("gpflow")

gpflow.config.set_default_float(np.float32)
gpflow.config.set_default_jitter(1e-2)
_RANDOM = np.random.RandomState(3)


def floats(*shape: int) -> Any:
    """float32 values in [0, 1)."""
    return _RANDOM.rand(*shape).astype("float32")


X, Y, NEW, Z = floats(6, 2), floats(6, 1), floats(4, 2), floats(3, 2)
LABELS = np.array([[0], [1], [1], [0], [1], [0]], "float32")
K, L, M = gpflow.kernels, gpflow.likelihoods, gpflow.models


def kernel(name: str, make: Callable[[], Any], x: Any = X, y: Any = NEW) -> None:
    """Programs that take a kernel's matrix and its diagonal."""

    def matrix() -> Call:
        made = make()
        return Call(lambda a, b: made(a, b), [x, y], True)

    def diagonal() -> Call:
        made = make()
        return Call(lambda a: made(a, full_cov=False), [x], True)

    programs(f"kernels.{name}")(matrix)
    programs(f"kernels.{name}.diagonal")(diagonal)


for _name in "RBF Matern12 Matern32 Matern52 Exponential RationalQuadratic Cosine Linear Polynomial ArcCosine White Constant".split():
    kernel(_name, getattr(K, _name))
kernel("Periodic", lambda: K.Periodic(K.RBF()))
kernel("Sum", lambda: K.RBF() + K.Linear())
kernel("Product", lambda: K.RBF() * K.Linear())
kernel(
    "Coregion",
    lambda: K.Coregion(3, 2, active_dims=[0]),
    np.array([[0], [1], [2]], "float32"),
    np.array([[1], [2]], "float32"),
)
kernel(
    "ChangePoints",
    lambda: K.ChangePoints([K.RBF(), K.Linear()], [0.5], 2.0),
    floats(5, 1),
    floats(4, 1),
)
kernel(
    "Convolutional", lambda: K.Convolutional(K.RBF(), [4, 4], [2, 2]), floats(3, 16), floats(2, 16)
)


def model(
    name: str, make: Callable[[], Any], objective: Callable[[Any], Callable[..., Any]]
) -> None:
    """Programs that take a model's objective, and predict."""

    def density() -> Call:
        made = make()
        return Call(lambda x, y: objective(made)(x, y), [X, Y], True)

    def predict() -> Call:
        made = make()
        return Call(lambda x: made.predict_f(x), [NEW], True)

    def covariance() -> Call:
        made = make()
        return Call(lambda x: made.predict_f(x, full_cov=True), [NEW])

    def measured() -> Call:
        made = make()
        return Call(lambda x: made.predict_y(x), [NEW])

    def drawn() -> Call:
        made = make()
        return Call(lambda x: made.predict_f_samples(x, 2), [NEW])

    programs(f"models.{name}.objective")(density)
    programs(f"models.{name}.predict_f")(predict)
    programs(f"models.{name}.predict_f full")(covariance)
    programs(f"models.{name}.predict_y")(measured)
    programs(f"models.{name}.predict_f_samples")(drawn)


def _own(made: Any) -> Any:
    return lambda x, y: made.maximum_log_likelihood_objective() + 0 * tf.reduce_sum(x)


def _given(made: Any) -> Any:
    return lambda x, y: made.elbo((x, y))


model("GPR", lambda: M.GPR((X, Y), K.RBF()), _own)
model("SGPR", lambda: M.SGPR((X, Y), K.RBF(), Z), _own)
model("GPRFITC", lambda: M.GPRFITC((X, Y), K.RBF(), Z), _own)
model("VGP", lambda: M.VGP((X, Y), K.RBF(), L.StudentT()), _own)
model("VGP Bernoulli", lambda: M.VGP((X, LABELS), K.RBF(), L.Bernoulli()), _own)
model("VGPOpperArchambeau", lambda: M.VGPOpperArchambeau((X, Y), K.RBF(), L.Gaussian()), _own)
model("SVGP", lambda: M.SVGP(K.RBF(), L.Gaussian(), Z), _given)
model("SVGP diagonal", lambda: M.SVGP(K.RBF(), L.Gaussian(), Z, q_diag=True, whiten=False), _given)
model("SVGP Poisson", lambda: M.SVGP(K.Matern32(), L.Poisson(), Z), _given)
model("GPMC", lambda: M.GPMC((X, Y), K.RBF(), L.Gaussian()), _own)
model("SGPMC", lambda: M.SGPMC((X, Y), K.RBF(), L.Gaussian(), inducing_variable=Z), _own)
model(
    "BayesianGPLVM",
    lambda: M.BayesianGPLVM(
        Y, X_data_mean=X, X_data_var=X + 0.1, kernel=K.RBF(), inducing_variable=Z
    ),
    _own,
)
model("CGLB", lambda: M.CGLB((X, Y), K.RBF(), Z), _own)


def likelihood(name: str, make: Callable[[], Any], y: Any) -> None:
    """Programs that take what a likelihood makes of a latent function."""
    mean, variance = floats(6, 1), floats(6, 1) + 0.1

    def expected() -> Call:
        made = make()
        return Call(
            lambda x, m, v, t: made.variational_expectations(x, m, v, t),
            [X, mean, variance, y],
            True,
        )

    def density() -> Call:
        made = make()
        return Call(lambda x, m, v, t: made.predict_log_density(x, m, v, t), [X, mean, variance, y])

    def moments() -> Call:
        made = make()
        return Call(lambda x, m, v: made.predict_mean_and_var(x, m, v), [X, mean, variance])

    programs(f"likelihoods.{name}.variational_expectations")(expected)
    programs(f"likelihoods.{name}.predict_log_density")(density)
    programs(f"likelihoods.{name}.predict_mean_and_var")(moments)


for _name in "Gaussian StudentT Gamma Beta Exponential".split():
    likelihood(_name, getattr(L, _name), Y * 0.8 + 0.1)
likelihood("Poisson", L.Poisson, LABELS)
likelihood("Bernoulli", L.Bernoulli, LABELS)
likelihood("Ordinal", lambda: L.Ordinal(np.array([0.2, 0.6], "float32")), LABELS)
plain(
    programs,
    "conditionals.conditional",
    lambda x, f: gpflow.conditionals.conditional(
        x, gpflow.inducing_variables.InducingPoints(Z), K.RBF(), f
    ),
    NEW,
    floats(3, 1),
    gradient=True,
)
plain(
    programs,
    "kullback_leiblers.gauss_kl",
    lambda m, s: gpflow.kullback_leiblers.gauss_kl(m, s),
    floats(3, 1),
    np.eye(3, dtype="float32")[None],
)
plain(
    programs,
    "quadrature",
    lambda m, v: gpflow.quadrature.ndiagquad([lambda x: x**2], 5, m, v),
    floats(4, 1),
    floats(4, 1),
)
plain(
    programs,
    "expectations",
    lambda m, v: gpflow.expectations.expectation(
        gpflow.probability_distributions.DiagonalGaussian(m, v), K.RBF()
    ),
    X,
    X + 0.1,
)
plain(
    programs,
    "utilities.multivariate_normal",
    lambda x, m, s: gpflow.logdensities.multivariate_normal(x, m, s),
    floats(3, 1),
    floats(3, 1),
    np.eye(3, dtype="float32"),
)
