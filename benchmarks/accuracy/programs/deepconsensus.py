"""Calls of deepconsensus 1.2.0 (Keras 2): losses and metrics of aligned sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from deepconsensus.models import attention_layer, ffn_layer
from deepconsensus.models import losses_and_metrics as losses
from program import Call, Programs

from programs.made import floats, layer, plain

programs = Programs("deepconsensus")
TRUE = np.asarray([[1, 2, 0, 3, 4, 0], [4, 0, 0, 2, 1, 3]], "float32")
PREDICTED = tf.nn.softmax(floats(2, 6, 5) * 4).numpy()
for _width in (None, 2):
    for _softness in (None, 0.1):
        plain(
            programs,
            f"AlignmentLoss {_width} {_softness}",
            lambda true, given, _width=_width, _softness=_softness: losses.AlignmentLoss(
                del_cost=10.0, loss_reg=_softness, width=_width
            )(true, given),
            TRUE,
            PREDICTED,
            gradient=True,
        )


def _metric(name: str, make: Any, *inputs: Any) -> None:
    @programs(name)
    def build() -> Call:
        metric = make()

        def function(*given: Any) -> Any:
            metric.update_state(*given)
            return metric.result()

        return Call(function, inputs)


_metric("PerExampleAccuracy", losses.PerExampleAccuracy, TRUE, PREDICTED)
_metric("PerClassAccuracy", lambda: losses.PerClassAccuracy(2), TRUE, PREDICTED)
_metric("AlignmentMetric", losses.AlignmentMetric, TRUE, PREDICTED)
plain(programs, "left_shift_sequence", losses.left_shift_sequence, TRUE)
plain(programs, "wavefrontify", losses.wavefrontify, floats(2, 4, 3))
plain(programs, "wavefrontify_vec", lambda x: losses.wavefrontify_vec(x, 4), floats(2, 3))
plain(programs, "preprocess_y_true_metric", losses.preprocess_y_true_metric, TRUE)
plain(programs, "preprocess_y_pred_metric", losses.preprocess_y_pred_metric, PREDICTED)
plain(
    programs,
    "get_batch_identity_ccs_pred",
    lambda true, ccs, given: losses.get_batch_identity_ccs_pred(
        ccs, given, true, losses.AlignmentMetric()
    ),
    TRUE,
    TRUE[:, ::-1].copy(),
    PREDICTED,
)
layer(
    programs,
    "FeedForwardNetwork",
    lambda: ffn_layer.FeedForwardNetwork(8, 16, 0.1),
    floats(2, 5, 8),
    training=False,
)
for _window in (None, 2):

    @programs(f"SelfAttention {_window}")
    def _attention(window: int | None = _window) -> Call:
        made = attention_layer.SelfAttention(8, 2, 0.1, attn_win_size=window)

        def function(x: Any, bias: Any) -> Any:
            return made(x, bias, training=False)

        function(tf.constant(floats(2, 5, 8)), tf.zeros([2, 1, 1, 5]))
        return Call(function, [floats(2, 5, 8), np.zeros([2, 1, 1, 5], "float32")], True)
