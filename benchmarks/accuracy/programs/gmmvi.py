"""Calls of gmmvi 1.1: mixtures of Gaussians, and one step of each of the algorithms that fit them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from gmmvi.configs import get_default_algorithm_config
from gmmvi.experiments.target_distributions.lnpdf import LNPDF
from gmmvi.models.diagonal_gmm import DiagonalGMM
from gmmvi.models.full_cov_gmm import FullCovGMM
from gmmvi.models.gmm_wrapper import GmmWrapper
from gmmvi.optimization.gmmvi import GMMVI
from gmmvi.optimization.least_squares import QuadFunc
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("gmmvi")
np.bool = bool  # which numpy had when the package was written
WEIGHTS, MEANS = np.asarray([0.5, 0.3, 0.2], "float32"), floats(3, 2)
POINTS, SQUARES = floats(5, 2), QuadFunc(2)


class _Target(LNPDF):
    """A density that is not the package's own."""

    def log_density(self, x: Any) -> Any:
        return -0.5 * tf.reduce_sum(tf.square(x), axis=-1)

    def get_num_dimensions(self) -> int:
        return 2


def _mixture(diagonal: bool) -> Any:
    if diagonal:
        return DiagonalGMM(tf.constant(WEIGHTS), tf.constant(MEANS), tf.ones([3, 2]))
    return FullCovGMM(tf.constant(WEIGHTS), tf.constant(MEANS), tf.eye(2, batch_shape=[3]))


def _of_mixture(name: str, call: Callable[..., Any], *inputs: Any, gradient: bool = False) -> None:
    for diagonal in (
        (False,) if name.startswith(("marginal", "component_log_density")) else (False, True)
    ):

        def build(diagonal: bool = diagonal) -> Call:
            made = _mixture(diagonal)
            return Call(lambda *given: call(made, *given), inputs, gradient)

        programs(f"{'DiagonalGMM' if diagonal else 'FullCovGMM'}.{name}")(build)


for _name in ("log_density", "density", "component_log_densities", "log_density_and_grad"):
    _of_mixture(_name, lambda made, x, _name=_name: getattr(made, _name)(x), POINTS)
_of_mixture("log_densities", lambda made, x: made.log_densities_also_individual(x), POINTS)
_of_mixture("marginal_log_density", lambda made, x: made.marginal_log_density(x, 0), POINTS)
_of_mixture(
    "component_log_density",
    lambda made, i, x: made.component_log_density(i, x),
    np.int32(1),
    POINTS,
)
_of_mixture(
    "component_log_density_and_grad",
    lambda made, i, x: made.component_log_density_and_grad(i, x),
    np.int32(1),
    POINTS,
)
_of_mixture("component_entropies", lambda made, x: made.component_entropies() + x, np.float32(0))
_of_mixture("get_average_entropy", lambda made, x: made.get_average_entropy() + x, np.float32(0))
_of_mixture("sample", lambda made, x: made.sample(6)[0] + x, np.float32(0))
_of_mixture("sample_categorical", lambda made, x: made.sample_categorical(6) + x, np.int32(0))
_of_mixture(
    "sample_from_components",
    lambda made, counts: made.sample_from_components(counts),
    np.asarray([2, 2, 2], "int32"),
)
_of_mixture(
    "sample_from_components_no_shuffle",
    lambda made, counts: made.sample_from_components_no_shuffle(counts),
    np.asarray([2, 1, 3], "int32"),
)
_of_mixture("replace_weights", lambda made, new: made.replace_weights(new), WEIGHTS)
plain(
    programs,
    "QuadFunc.fit_quadratic",
    lambda x, y: SQUARES.fit_quadratic(1e-6, 5, x, y),
    floats(5, 2),
    floats(5),
)


def _fitting(codes: str) -> Any:
    config = get_default_algorithm_config(codes)
    config |= {
        "temperature": 1.0,
        "use_sample_database": "M" not in codes,
        "max_database_size": 100,
        "model_initialization": {
            "use_diagonal_covs": "Y" in codes,
            "prior_mean": 0.0,
            "initial_cov": 1.0,
        },
    }
    config["sample_selector_config"] = dict.fromkeys(
        config["sample_selector_config"], 6 if "M" in codes else 12
    ) | {"ratio_reused_samples_to_desired": 0.0}
    made = GmmWrapper.build_from_config(_mixture("Y" in codes), config)
    return GMMVI.build_from_config(config, _Target(), made)


def _step(codes: str) -> None:
    @programs(f"GMMVI._run_updates {codes}")
    def _updates() -> Call:
        made = _fitting(codes)
        points = floats(6, 2)
        return Call(
            made._run_updates,
            [points, np.asarray([0, 0, 1, 1, 2, 2], "int32"), floats(6), floats(6), floats(6, 2)],
        )

    @programs(f"SampleSelector.select_samples {codes}")
    def _selection() -> Call:
        made = _fitting(codes)
        return Call(lambda x: made.sample_selector.select_samples()[0] + x, [np.float32(0)])

    @programs(f"GMMVI.train_iter {codes}")
    def _all() -> Call:
        made = _fitting(codes)

        def function(x: Any) -> Any:
            GMMVI.train_iter(made)
            return x

        return Call(function, [np.float32(0)])


for _codes in ("SAMTRON", "SEPIFUX", "ZEMIDOG", "SEMYFUX"):
    _step(_codes)
