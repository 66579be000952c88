"""Calls of best-inference 0.3.4: optimizers of a small likelihood, a tree of clusters and a sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from best import optimisers, tools
from program import Call, Programs

from programs.made import floats, plain

programs = Programs("best")
START, PRECISION = floats(4, 2), np.eye(2, dtype="float32") + 0.1
POINTS = np.concatenate([floats(12, 2), floats(12, 2) + 4.0])


def _likelihood(x: Any) -> Any:
    return tf.reduce_sum(tf.square(x - 0.4), axis=-1)


def _gradient(x: Any) -> Any:
    return _likelihood(x), 2.0 * (x - 0.4)


for _name in (
    "GradientDescent",
    "GradientDescentLineSearch",
    "DiagonalDFP",
    "DiagonalBFGS",
    "DiagonalGaussNewton",
    "DiagonalLevenbergMarquardt",
    "BFGS",
):

    @programs(_name)
    def _minimize(name: str = _name) -> Call:
        function = getattr(optimisers, name)
        return Call(
            lambda x, precision: function(
                _likelihood, _gradient, x, precision, (0.0, 1.0), n_steps=4
            ),
            [START, PRECISION],
        )


_TREE = tools.AdaptiveClusterTree(max_depth=2, min_cluster_size=3)
plain(programs, "get_all_clusters", lambda points: _TREE.get_all_clusters(points), POINTS)
plain(programs, "binary_kmeans", lambda x, m: _TREE.binary_kmeans(x, m), POINTS, POINTS[:, 0] > 0.2)
plain(programs, "get_ellipsoid", lambda x, m: _TREE.get_ellipsoid(x, m), POINTS, POINTS[:, 0] > 0.2)
_CHOLS = np.asarray([np.eye(2)] * 4, "float32")


@programs("slice_sampler.sample")
def _sample() -> Call:
    made = tools.slice_sampler(
        lambda x: -_likelihood(x),
        (tf.zeros(2), tf.ones(2)),
        n_iter=2,
        max_expand=4,
        max_shrink=8,
        buffer_size=4,
    )
    return Call(
        lambda x, chols, chol, worst: made.sample(x, chols, chol, worst),
        [START, _CHOLS, _CHOLS[0], np.full([4], -5.0, "float32")],
    )


plain(
    programs,
    "safe_cholesky",
    lambda c, a: tools.safe_cholesky(c, a, 2),
    _CHOLS,
    np.asarray([True, True, False, True]),
)
