"""Calls of keras_mdn_layer 1.0.0: a mixture density layer, its loss, error and samples."""

from __future__ import annotations

import keras_mdn_layer as mdn
import tensorflow as tf
from program import Programs

from programs.made import floats, layer, plain

programs = Programs("keras_mdn_layer")
DIMENSIONS, MIXTURES = 2, 4
PARAMETERS = floats(3, 2 * DIMENSIONS * MIXTURES + MIXTURES) + 0.1
TRUE = floats(3, DIMENSIONS)
SAMPLE = mdn.get_mixture_sampling_fun(DIMENSIONS, MIXTURES)
SQUARED_ERROR = mdn.get_mixture_mse_accuracy(DIMENSIONS, MIXTURES)

layer(programs, "MDN", lambda: mdn.MDN(DIMENSIONS, MIXTURES), floats(3, 5))
plain(
    programs,
    "get_mixture_loss_func",
    mdn.get_mixture_loss_func(DIMENSIONS, MIXTURES),
    TRUE,
    PARAMETERS,
    gradient=True,
)
plain(
    programs,
    "get_mixture_sampling_fun",
    lambda predicted: tf.shape(SAMPLE(predicted)),
    PARAMETERS,
)
plain(
    programs,
    "get_mixture_mse_accuracy",
    lambda true, predicted: tf.shape(SQUARED_ERROR(true, predicted)),
    TRUE,
    PARAMETERS,
)
