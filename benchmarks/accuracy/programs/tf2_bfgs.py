"""Calls of tf2_bfgs 0.1.0: the objective that its optimizers minimize, and a whole run.

Labelled with beside Keras 3.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from program import Call, Programs
from tf2_bfgs import bfgs

keras.src.backend.common.variables.KerasVariable = keras.Variable
programs = Programs("tf2_bfgs")
POINT = np.asarray([0.5, -1.0, 2.0, 0.1, 0.3], "float32")


def _optimizer(kind: Any) -> Any:
    first, second = tf.Variable(tf.ones([3])), tf.Variable(tf.zeros([2]))
    made = kind(
        lambda: tf.reduce_sum(tf.square(first - 1.0)) + tf.reduce_sum(tf.square(second)),
        [first, second],
        {"max_iterations": 3},
    )
    made.loss_arguments = ()
    return made


for _kind in (bfgs.BFGS, bfgs.LBFGS):

    @programs(f"{_kind.__name__}.func")
    def _objective(kind: Any = _kind) -> Call:
        return Call(_optimizer(kind).func, [POINT])

    @programs(f"{_kind.__name__}.assign_new_model_parameters")
    def _assignment(kind: Any = _kind) -> Call:
        made = _optimizer(kind)

        def function(point: Any) -> Any:
            made.func.assign_new_model_parameters(point)
            return tf.concat(made.var_list, axis=0)

        return Call(function, [POINT])

    @programs(f"{_kind.__name__}.minimize")
    def _run(kind: Any = _kind) -> Call:
        made = _optimizer(kind)
        return Call(lambda x: made.minimize().position + x, [np.float32(0)])
