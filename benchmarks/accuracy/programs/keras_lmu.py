"""Calls of keras_lmu 0.9.0: Legendre memory units."""

from __future__ import annotations

import keras_lmu
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, integers, layer

programs = Programs("keras_lmu")
X = floats(2, 7, 3)


def cell():
    return tf.keras.layers.SimpleRNNCell(5)


for _t in (False, True):
    o = {"training": True} if _t else {}
    s = f" {_t}"
    layer(programs, "LMU" + s, lambda: keras_lmu.LMU(2, 4, 7.0, cell(), dropout=0.2), X, **o)
    layer(
        programs,
        "LMU feedback" + s,
        lambda: keras_lmu.LMU(
            2,
            4,
            7.0,
            cell(),
            hidden_to_memory=True,
            memory_to_memory=True,
            input_to_hidden=True,
            return_sequences=True,
            recurrent_dropout=0.2,
        ),
        X,
        **o,
    )
    layer(
        programs,
        "LMU theta" + s,
        lambda: keras_lmu.LMU(2, 4, 7.0, cell(), trainable_theta=True),
        X,
        **o,
    )
    layer(
        programs,
        "LMU euler theta" + s,
        lambda: keras_lmu.LMU(
            2, 4, 7.0, tf.keras.layers.Dense(5), trainable_theta=True, discretizer="euler"
        ),
        X,
        **o,
    )
    layer(
        programs, "LMU no cell" + s, lambda: keras_lmu.LMU(2, 4, 7.0, None, use_bias=True), X, **o
    )
    for _m in ("fft", "raw"):
        layer(
            programs,
            f"LMUFeedforward {_m}" + s,
            lambda _m=_m: keras_lmu.LMUFeedforward(
                2, 4, 7.0, tf.keras.layers.Dense(5), conv_mode=_m, dropout=0.2
            ),
            X,
            **o,
        )
        layer(
            programs,
            f"LMUFeedforward sequences {_m}" + s,
            lambda _m=_m: keras_lmu.LMUFeedforward(
                2, 4, 7.0, cell(), conv_mode=_m, return_sequences=True, input_to_hidden=True
            ),
            X,
            **o,
        )
    layer(
        programs,
        "LMUFeedforward truncated" + s,
        lambda: keras_lmu.LMUFeedforward(2, 4, 7.0, None, conv_mode="raw", truncate_ir=1e-4),
        X,
        **o,
    )


@programs("training step")
def _step():
    m = tf.keras.Sequential(
        [tf.keras.Input((7, 3)), keras_lmu.LMU(2, 4, 7.0, cell()), tf.keras.layers.Dense(3)]
    )
    m.compile(
        tf.keras.optimizers.Adam(1e-3),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    y = integers(3, 2)
    m.train_on_batch(X, y)
    return Call(lambda x, y: m.train_step((x, y))["loss"], [X, y], False, False)
