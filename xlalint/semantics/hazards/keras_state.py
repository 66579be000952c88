"""Variables that Keras's own classes keep, read by code that inherits from them or is handed one.

`optimizer.iterations` is a scalar variable of int64 in Keras 2 and in Keras 3 on TensorFlow; what metrics count is float32
(measured on Keras 3.15 and tf_keras 2.21).
"""

from __future__ import annotations

import re

from xlalint.semantics.classes import METRIC, OPTIMIZER
from xlalint.semantics.values import ARRIVING, VARIABLE, Value, shaped

_ITERATIONS = shaped(Value(VARIABLE, ARRIVING, dtype="int64"), ())
_COUNTED = Value(VARIABLE, ARRIVING, dtype="float32")
_SCALARS = frozenset({"total", "count"})
_COUNTS = frozenset(
    {"true_positives", "true_negatives", "false_positives", "false_negatives", "total_cm"}
)
_OPTIMIZER_NAME = re.compile(r"(^|_)(optimizer|optim|opt)$")


def of_role(role: str | None, attr: str) -> Value | None:
    """What `self.attr` is in a class of this role that does not make it itself; None where Keras has no such variable."""
    if role == OPTIMIZER:
        return _ITERATIONS if attr == "iterations" else None
    if role == METRIC and attr in _SCALARS:
        return shaped(_COUNTED, ())
    return _COUNTED if role == METRIC and attr in _COUNTS else None


def of_unknown(owner: str, attr: str) -> Value | None:
    """`self.optimizer.iterations` where nothing is known of the optimizer but its name."""
    is_one = attr == "iterations" and _OPTIMIZER_NAME.search(owner.lower()) is not None
    return _ITERATIONS if is_one else None
