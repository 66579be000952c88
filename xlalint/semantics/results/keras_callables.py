"""What objects of Keras give that compute and are neither layers nor losses: initializers, schedules, regularizers and constraints.

Measured with TensorFlow 2.15 and 2.21 in a traced function: a schedule gives a scalar tensor for a tensor and for a number, and a regularizer
gives one for a variable; `initializers.get(...)` hands on what it is given when that is one already.
"""

from __future__ import annotations

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import COMPUTED, INSTANCE, TENSOR, Value, shaped

_INITIALIZERS = "keras.initializers."
_SCALARS = ("keras.optimizers.schedules.", "keras.regularizers.")
_CONSTRAINTS = "keras.constraints."
_ANY_INITIALIZER = Value(INSTANCE, ref="keras.initializers.Initializer")


def may_make(plain: str) -> bool:
    """Whether calling an API of this name makes an initializer: `keras.initializers.get`, and the functions that they were."""
    return plain.startswith(_INITIALIZERS) or (
        plain.startswith(("tf.", "tf.compat.v1.")) and plain.endswith("_initializer")
    )


def made(plain: str) -> Value | None:
    """The object that such an API makes."""
    return _ANY_INITIALIZER if may_make(plain) else None


def called(plain: str, arguments: Arguments) -> Value | None:
    """What an object gives when it is called, by the canonical name of its class; None where it is of none of these."""
    if plain.startswith(_SCALARS):
        return shaped(Value(TENSOR, COMPUTED), ())
    if plain.startswith(_CONSTRAINTS):
        first = next(iter(arguments.positional), None)
        return (
            Value(TENSOR, COMPUTED)
            if first is None
            else shaped(Value(TENSOR, COMPUTED), first.shape)
        )
    if plain.startswith(_INITIALIZERS):
        size = arguments.keywords.get("shape", next(iter(arguments.positional), None))
        return shaped(
            Value(TENSOR, COMPUTED), None if size is None else result_shapes.numbers(size)
        )
    return None
