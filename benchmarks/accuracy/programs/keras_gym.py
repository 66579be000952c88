"""Calls of keras_gym 0.2.17 (Keras 3): distributions of actions, losses, functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from gym.spaces import Box
from keras_gym import losses
from keras_gym.proba_dists import CategoricalDist, NormalDist
from keras_gym.utils import tensor
from program import Programs

from programs.made import floats, integers, plain

programs = Programs("keras_gym")
# Which the package disables when it is imported.
tf.compat.v1.enable_eager_execution()
SPACE = Box(np.full(3, -2, "float32"), np.full(3, 2, "float32"))


def _differentiable(name: str, function: Callable[..., Any], *inputs: Any) -> None:
    plain(programs, name, function, *inputs, gradient=True)


for _name in (
    "box_to_unit_interval_tf",
    "box_to_reals_tf",
    "reals_to_box_tf",
    "unit_interval_to_box_tf",
):
    _differentiable(_name, lambda x, _name=_name: getattr(tensor, _name)(x, SPACE), floats(4, 3))
for _name in ("clipped_logit_tf", "log_softmax_tf"):
    _differentiable(_name, getattr(tensor, _name), floats(4, 3))
_differentiable(
    "diff_transform_matrix",
    lambda x: tf.matmul(x, tensor.diff_transform_matrix(4)),
    floats(3, 4),
)
_differentiable(
    "project_onto_actions_tf",
    tensor.project_onto_actions_tf,
    floats(4, 3),
    integers(3, 4).astype("int64"),
)
_differentiable("RootMeanSquaredError", losses.RootMeanSquaredError(), floats(4, 1), floats(4, 1))
_differentiable(
    "ProjectedSemiGradientLoss",
    lambda target, action, value: losses.ProjectedSemiGradientLoss(target)(action, value),
    floats(4),
    np.eye(3, dtype="float32")[[0, 1, 2, 0]],
    floats(4, 3),
)
_differentiable("LoglossSign", losses.LoglossSign(), np.array([1, -1, 1], "float32"), floats(3))


def _of_distribution(kind: type[Any], parameters: int) -> None:
    for name in ("sample", "entropy"):
        _differentiable(
            f"{kind.__name__}.{name}",
            lambda *given, name=name: getattr(kind(*given, random_seed=3), name)(),
            *[floats(4, 3) for _ in range(parameters)],
        )
    for name in ("cross_entropy", "kl_divergence"):
        _differentiable(
            f"{kind.__name__}.{name}",
            lambda *given, name=name: getattr(kind(*given[:parameters]), name)(
                kind(*given[parameters:])
            ),
            *[floats(4, 3) for _ in range(2 * parameters)],
        )
    _differentiable(
        f"{kind.__name__}.log_proba",
        lambda x, *given: kind(*given).log_proba(x),
        *[floats(4, 3) for _ in range(1 + parameters)],
    )


_of_distribution(CategoricalDist, 1)
_of_distribution(NormalDist, 2)
