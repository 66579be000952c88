"""What a graph or a program gets of the arguments that it is called with."""

from __future__ import annotations

from xlalint.semantics.values import (
    ARRIVING,
    COMPUTED,
    NDARRAY,
    TENSOR,
    VARIABLE,
    Value,
    with_items,
)


def traced(value: Value) -> Value:
    """What a tf.function sees of an argument from outside: of tensors and arrays a placeholder, with their dtype and shape."""
    if (value.is_tensor and value.kind is not VARIABLE) or value.kind is NDARRAY:
        is_sized = value.producer is None and value.kind is not NDARRAY
        return Value(
            TENSOR,
            ARRIVING,
            dtype=value.dtype,
            rank=value.rank if is_sized else None,
            shape=value.shape if is_sized else None,
            sure=value.sure,
            optional=value.optional,
            structured=value.structured,
            guess=value.guess,
        )
    return with_items(value, traced)


def arriving(value: Value) -> Value:
    """What a compiled program sees of an argument that a graph around it computes: it has been computed by then."""
    if value.is_tensor and value.dependence >= COMPUTED:
        return value._replace(dependence=ARRIVING)
    return with_items(value, arriving)
