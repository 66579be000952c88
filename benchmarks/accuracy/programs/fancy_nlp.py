"""Calls of fancy_nlp 1.0.0 (Keras 2): a conditional random field, layers of matching and of attention.

Labelled with its `__init__.py` empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from fancy_nlp import layers
from program import Call, Programs

from programs.made import floats, integers, layer

programs = Programs("fancy_nlp")
SENTENCE, OTHER = floats(2, 5, 8), floats(2, 5, 8)
MASK = np.asarray([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], "bool")
for _kind in (
    layers.FullMatching,
    layers.MaxPoolingMatching,
    layers.AttentiveMatching,
    layers.MaxAttentiveMatching,
):
    layer(programs, _kind.__name__, lambda _kind=_kind: _kind(3), [SENTENCE, OTHER])
layer(programs, "MultiHeadAttention", lambda: layers.MultiHeadAttention(8, 2), SENTENCE)
for _masked in (False, True):

    @programs(f"CRF {_masked}")
    def _decoded(masked: bool = _masked) -> Call:
        made = layers.CRF(4)
        made(tf.constant(SENTENCE))

        def function(x: Any, mask: Any) -> Any:
            return made(x, mask=mask if masked else None)

        return Call(function, [SENTENCE, MASK])

    @programs(f"CRF.get_loss {_masked}")
    def _loss(masked: bool = _masked) -> Call:
        made = layers.CRF(4)
        made(tf.constant(SENTENCE))

        def function(x: Any, true: Any, mask: Any) -> Any:
            given = made(x, mask=mask if masked else None)
            return made.get_loss(true, given)

        return Call(function, [SENTENCE, np.eye(4, dtype="float32")[integers(4, 2, 5)], MASK], True)

    @programs(f"CRF.get_accuracy {_masked}")
    def _accuracy(masked: bool = _masked) -> Call:
        made = layers.CRF(4)
        made(tf.constant(SENTENCE))

        def function(x: Any, true: Any, mask: Any) -> Any:
            given = made(x, mask=mask if masked else None)
            return made.get_accuracy(true, given)

        return Call(function, [SENTENCE, np.eye(4, dtype="float32")[integers(4, 2, 5)], MASK])
