"""A single number where a shape belongs: `tf.reshape(x, -1)` works eagerly, and no graph takes it.

The kernels accept a scalar for the shape; the shape inference that every graph runs asks for a vector ("Shape must be rank 1 but is
rank 0", TF 2.12 to 2.21). `tf.zeros(3)`, `tf.ones(3)` and Keras 3's `keras.ops.reshape(x, -1)` make a vector of it themselves.
"""

from __future__ import annotations

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import Verdict
from xlalint.semantics.values import Value

REASON = "scalar-shape"
_PARAMETERS = {
    "tf.reshape": "shape",
    "tf.compat.v1.reshape": "shape",
    "keras.backend.reshape": "shape",
    "tf.raw_ops.Reshape": "shape",
    "tf.fill": "dims",
    "tf.raw_ops.Fill": "dims",
}


def verdict(api: Api, bound: dict[str, Value]) -> Verdict | None:
    """What becomes of a call that gives one number for a shape; None where it gives a shape, or where that is not known."""
    parameter = _PARAMETERS.get(api.name)
    given = bound.get(parameter) if parameter is not None else None
    if given is None or not _is_single_number(given):
        return None
    return Verdict("fails", (), REASON, (), ())


def _is_single_number(value: Value) -> bool:
    if value.is_tensor:
        return (
            value.shape == ()
            and value.sure
            and not (value.guess or value.structured or value.optional)
        )
    known = value.constant()
    return known is not None and type(known.value) is int
