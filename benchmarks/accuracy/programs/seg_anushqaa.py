"""Calls of seg_anushqaa 0.1.0 (Keras 2): losses and metrics of segmentation."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Call, Programs
from seg import losses, metrics

from programs.made import floats, plain

programs = Programs("seg")
MASKS = np.eye(3, dtype="float32")[np.arange(2 * 8 * 8).reshape(2, 8, 8) % 3]
GIVEN = tf.nn.softmax(floats(2, 8, 8, 3)).numpy()
for _kind in (
    losses.BinaryCrossentropy,
    losses.CategoricalCrossentropy,
    losses.DiceLoss,
    losses.IoULoss,
    losses.FocalLoss,
    losses.TverskyLoss,
):
    plain(
        programs,
        _kind.__name__,
        lambda true, given, _kind=_kind: _kind()(true, given),
        MASKS,
        GIVEN,
        gradient=True,
    )
for _kind in (
    metrics.IoU,
    metrics.DiceCoefficient,
    metrics.PixelAccuracy,
    metrics.Precision,
    metrics.Recall,
    metrics.F1Score,
    metrics.Specificity,
):

    @programs(_kind.__name__)
    def _metric(kind: type = _kind) -> Call:
        metric = kind()

        def function(true: tf.Tensor, given: tf.Tensor) -> tf.Tensor:
            metric.update_state(true, given)
            return metric.result()

        return Call(function, [MASKS, GIVEN])


@programs("MeanIoU")
def _mean() -> Call:
    metric = metrics.MeanIoU(num_classes=3)

    def function(true: tf.Tensor, given: tf.Tensor) -> tf.Tensor:
        metric.update_state(true, given)
        return metric.result()

    return Call(function, [MASKS, GIVEN])
