"""What a graph or a program gets of the arguments that it is called with."""

from __future__ import annotations

from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    MAPPING,
    NDARRAY,
    SEQUENCE,
    TENSOR,
    VARIABLE,
    Value,
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
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(traced(item) for item in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, traced(item)) for key, item in value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=traced(value.ref))
    return value


def arriving(value: Value) -> Value:
    """What a compiled program sees of an argument that a graph around it computes: it has been computed by then."""
    if value.is_tensor and value.dependence >= COMPUTED:
        return value._replace(dependence=ARRIVING)
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(arriving(item) for item in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, arriving(item)) for key, item in value.ref))
    return value
