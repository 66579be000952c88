"""Calls of tf.random."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tools.catalog.arguments import (
    MATRIX,
    VECTOR,
    Call,
    f32,
    i32,
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    seed = i32(1, 2)
    stateless: dict[str, Call] = {
        "binomial": {"shape": [4, 1], "counts": f32(10.0), "probs": f32(0.5)},
        "categorical": {"logits": MATRIX, "num_samples": 3},
        "gamma": {"shape": [4, 1], "alpha": f32(1.0)},
        "normal": {"shape": [4]},
        "parameterized_truncated_normal": {"shape": [4]},
        "poisson": {"shape": [4, 1], "lam": f32(1.0)},
        "truncated_normal": {"shape": [4]},
        "uniform": {"shape": [4]},
    }
    return {
        **{f"tf.random.stateless_{k}": [{**call, "seed": seed}] for k, call in stateless.items()},
        "tf.random.categorical": [{"logits": MATRIX, "num_samples": 3}],
        "tf.random.gamma": [{"shape": [4], "alpha": f32(1.0)}, {"shape": [4], "alpha": 1.0}],
        "tf.random.normal": [{"shape": [4]}],
        "tf.random.poisson": [{"shape": [4], "lam": f32(1.0)}],
        "tf.random.shuffle": [{"value": MATRIX}],
        "tf.random.experimental.stateless_shuffle": [{"value": VECTOR, "seed": seed}],
        "tf.random.experimental.stateless_fold_in": [{"seed": seed, "data": np.array(3, np.int32)}],
        "tf.random.experimental.stateless_split": [{"seed": seed, "num": 2}],
        "tf.random.fold_in": [{"seed": seed, "data": np.array(3, np.int32)}],
        "tf.random.split": [{"seed": seed, "num": 2}],
        "tf.random_index_shuffle": [
            {
                "index": np.array(1, np.uint32),
                "seed": np.array([1, 2, 3], np.uint32),
                "max_index": np.array(10, np.uint32),
            }
        ],
        "tf.random.experimental.index_shuffle": [
            {"index": np.array(1, np.int32), "seed": seed, "max_index": 10}
        ],
        "tf.random.truncated_normal": [{"shape": [4]}],
        "tf.random.uniform": [{"shape": [4]}],
    }
