"""`training` given as a tensor: layers of Keras 3 that do one thing in training and another afterwards ask in Python, `if training:`.

A traced tensor has no answer, and AutoGraph converts nothing that Keras calls: `OperatorNotAllowedInGraphError`, on every target
(measured, Keras 3.15; fixtures/XLA105/flagged_training_as_tensor.py). Keras 2 makes a conditional of it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.hazards import python_arguments
from xlalint.semantics.names import api_name

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
    from xlalint.semantics.frames import Frame

_PREFIX = "keras.layers."
_TRAINING = "training"
# Measured, each called with a tensor for `training`. Attention asks where it has a dropout; LayerNormalization and Dense never do.
ASK = frozenset(
    "AlphaDropout BatchNormalization Dropout GaussianDropout GaussianNoise RandomBrightness RandomContrast RandomCrop RandomErasing "
    "RandomFlip RandomGrayscale RandomHue RandomRotation RandomSaturation RandomSharpness RandomTranslation RandomZoom "
    "SpatialDropout1D SpatialDropout2D SpatialDropout3D".split()
)
# What stands second in their `call` is a state.
ASK_OF_STATES = frozenset(
    "ConvLSTM1D ConvLSTM2D ConvLSTM3D GRU GRUCell LSTM LSTMCell SimpleRNN SimpleRNNCell".split()
)


def note_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note the call of a layer of Keras's own, `layer(x, training=tensor)`."""
    if _asks(name, ASK | ASK_OF_STATES, frame) and _TRAINING in arguments.keywords:
        python_arguments.note_training(arguments.keywords[_TRAINING], node, frame)


def note_super(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note `super().call(x, training)` in a class that inherits from such a layer."""
    note_call(name, arguments, node, frame)
    if _asks(name, ASK, frame) and len(arguments.positional) > 1:
        python_arguments.note_training(arguments.positional[1], node, frame)


def _asks(name: str, layers: frozenset[str], frame: Frame) -> bool:
    plain = api_name(name)
    is_of_keras_3 = frame.analysis.keras == "3" and not name.startswith("tf_keras.")
    return is_of_keras_3 and plain.startswith(_PREFIX) and plain.removeprefix(_PREFIX) in layers
