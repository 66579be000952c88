"""A Python number before a tensor of another dtype: `tf.maximum(0, x)` works eagerly, and no graph takes it.

Eagerly, all operands are looked at before a dtype is chosen, and the number follows the tensor. While tracing, each is converted as it
comes: the number becomes int32 or float32, and the tensor after it does not fit ("Input 'y' of 'Maximum' Op has type float32 that does
not match type int32 of argument 'x'", 2.15 and 2.21). The number in second place, operators (`1 - x`), `tf.divide` and keras.ops
work either way; `tf.add` takes the number first neither way. Where the tensor's dtype is not known, how it is written may tell (floating_by_use.py).
"""

from __future__ import annotations

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import Verdict
from xlalint.semantics.results import dtypes
from xlalint.semantics.values import TENSOR, Value

REASON = "number-first"
_ELEMENTWISE = frozenset(
    {"maximum", "minimum", "subtract", "multiply", "pow", "floordiv", "floormod", "mod"}
    | {"squared_difference", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
)
_OF_FLOATS = frozenset({"atan2", "xdivy", "xlogy", "xlog1py"})
_BACKEND = frozenset(
    {"maximum", "minimum", "pow"}
    | {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
)
_HOMES = ("tf.", "tf.math.", "tf.compat.v1.", "tf.compat.v1.math.")
# The parameters of the two operands, in the order in which they are converted.
OPERANDS = {
    **{home + name: ("x", "y") for home in _HOMES for name in _ELEMENTWISE},
    **{home + name: ("y", "x") for home in _HOMES for name in ("atan2",)},
    **{home + name: ("x", "y") for home in _HOMES for name in _OF_FLOATS - {"atan2"}},
    **{f"keras.backend.{name}": ("x", "y") for name in _BACKEND},
    **{f"{home}where": ("x", "y") for home in ("tf.", "tf.compat.v1.")},
}
# What a number becomes when it is converted alone, and what tensors it then does not fit, though eagerly it would become one of them.
_MISSED = {
    int: dtypes.FLOATING | dtypes.COMPLEX | (dtypes.INTEGER - {"int32"}),
    float: (dtypes.FLOATING | dtypes.COMPLEX) - {"float32"},
}


def verdict(api: Api, bound: dict[str, Value]) -> Verdict | None:
    """What becomes of a call that gives the number first; None where it does not, or where the tensor's dtype is not known."""
    names = OPERANDS.get(api.name)
    if names is None:
        return None
    first, second = (bound.get(name) for name in names)
    if first is None or second is None or not _is_misfit(first, second):
        return None
    return Verdict("fails", (), REASON, (), ())


def _is_misfit(number: Value, tensor: Value) -> bool:
    known = number.constant()
    if known is None or tensor.kind is not TENSOR:
        return False
    if tensor.guess or tensor.structured or tensor.optional:
        return False
    return tensor.dtype in _MISSED.get(type(known.value), ())
