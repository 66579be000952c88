"""Every layer that check says asks `training` in Python does so, and layers that it leaves out take a tensor."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from xlalint.semantics.hazards.training_flags import ASK, ASK_OF_STATES

# What each is made with, and the shapes that it is called with.
_MADE = """
import json
import sys
import tensorflow as tf

layers = tf.keras.layers
OF_IMAGES = {"RandomBrightness": (0.2,), "RandomContrast": (0.2,), "RandomCrop": (4, 4), "RandomErasing": (), "RandomFlip": (),
             "RandomGrayscale": (0.5,), "RandomHue": (0.2,), "RandomRotation": (0.2,), "RandomSaturation": (0.2,),
             "RandomSharpness": (0.5,), "RandomTranslation": (0.2, 0.2), "RandomZoom": (0.2,), "BatchNormalization": (),
             "SpatialDropout2D": (0.5,)}
OTHERS = {"SpatialDropout1D": ((0.5,), [2, 5, 4]), "SpatialDropout3D": ((0.5,), [2, 3, 4, 4, 2]),
          "ConvLSTM1D": ((2, 2), [2, 3, 6, 2]), "ConvLSTM2D": ((2, 2), [2, 3, 4, 4, 2]),
          "ConvLSTM3D": ((2, 2), [2, 2, 4, 4, 4, 1]), "LSTM": ((3,), [2, 5, 4]), "GRU": ((3,), [2, 5, 4]),
          "SimpleRNN": ((3,), [2, 5, 4]), "LayerNormalization": ((), [2, 4]), "Dense": ((3,), [2, 4])}
CELLS = {"LSTMCell": 2, "GRUCell": 1, "SimpleRNNCell": 1}


def call_of(name):
    if name in CELLS:
        layer, states = getattr(layers, name)(3), [tf.zeros([2, 3])] * CELLS[name]
        return lambda training: layer(tf.ones([2, 4]), states, training=training)
    made, shape = OTHERS.get(name) or (OF_IMAGES.get(name, (0.5,)), [2, 8, 8, 3])
    layer = getattr(layers, name)(*made)
    layer(tf.ones(shape), training=False)
    return lambda training: layer(tf.ones(shape), training=training)


said = {}
for name in sys.argv[1:]:
    call = call_of(name)
    try:
        tf.function(call)(tf.constant(True))
        said[name] = "taken"
    except Exception as error:
        said[name] = type(error).__name__
print(json.dumps(said))
"""


@pytest.mark.compiler
def test_layers_ask_for_training_in_python() -> None:
    taking = ["Dense", "LayerNormalization"]
    names = sorted(ASK | ASK_OF_STATES)
    run = subprocess.run(
        [sys.executable, "-c", _MADE, *names, *taking], capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-2000:]
    said = json.loads(run.stdout.splitlines()[-1])
    assert {said[name] for name in taking} == {"taken"}
    assert {name: said[name] for name in names} == dict.fromkeys(
        names, "OperatorNotAllowedInGraphError"
    )
