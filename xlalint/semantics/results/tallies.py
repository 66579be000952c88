"""What TensorFlow Probability counts with `tf.math.bincount`, whose number of bins it takes from the data, however many it is told.

XLA needs that number when it compiles (measured, TensorFlow 2.15 and 2.21, TensorFlow Probability 0.23 and 0.25:
fixtures/XLA203/flagged_tallies.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.hazards.noted_calls import note_size
from xlalint.semantics.values import COMPUTED, NOTHING_KNOWN, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
    from xlalint.semantics.frames import Frame

_HOME = "tensorflow_probability.stats."
# By function, the first parameter: what is counted.
_COUNTED = {f"{_HOME}count_integers": "arr", f"{_HOME}histogram": "x"}


def call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """What such a function returns; None for other names."""
    parameter = _COUNTED.get(name)
    if parameter is None:
        return None
    given = arguments.positional[:1] or (arguments.keywords.get(parameter, NOTHING_KNOWN),)
    note_size(name, parameter, given[0], node, frame)
    return Value(TENSOR, COMPUTED)
