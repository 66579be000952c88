"""Calls of keras-tcn 3.5.7 (Keras 2)."""

from __future__ import annotations

from program import Programs
from tcn import TCN

from programs.made import floats, layer

programs = Programs("tcn")
SERIES = floats(2, 8, 3)

layer(programs, "TCN", lambda: TCN(4, dilations=(1, 2)), SERIES)
layer(programs, "TCN sequences", lambda: TCN(4, dilations=(1, 2), return_sequences=True), SERIES)
layer(programs, "TCN same", lambda: TCN(4, dilations=(1, 2), padding="same"), SERIES)
layer(
    programs,
    "TCN batch norm",
    lambda: TCN(4, dilations=(1, 2), use_batch_norm=True),
    SERIES,
    training=True,
)
layer(programs, "TCN layer norm", lambda: TCN(4, dilations=(1, 2), use_layer_norm=True), SERIES)
layer(programs, "TCN weight norm", lambda: TCN(4, dilations=(1, 2), use_weight_norm=True), SERIES)
layer(
    programs,
    "TCN stacks",
    lambda: TCN(4, nb_stacks=2, dilations=(1, 2), dropout_rate=0.2),
    SERIES,
    training=True,
)
