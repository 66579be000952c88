"""Which of these modules knows the method that is called."""

from __future__ import annotations

from xlalint.semantics.methods.concrete_functions import trace
from xlalint.semantics.methods.containers import of_mapping, of_python, of_sequence
from xlalint.semantics.methods.datasets import of_dataset
from xlalint.semantics.methods.handler import Method
from xlalint.semantics.methods.instances import of_instance
from xlalint.semantics.methods.keras_objects import OF_KERAS
from xlalint.semantics.methods.strategies import of_strategy
from xlalint.semantics.methods.tensors import of_array, of_shape, of_tensor
from xlalint.semantics.methods.unknown import OF_UNKNOWN
from xlalint.semantics.results import composites, tensor_arrays
from xlalint.semantics.values import (
    COLLECTION,
    DATASET,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SPARSE,
    STRATEGY,
    TENSOR,
    TENSOR_ARRAY,
    UNKNOWN,
    VARIABLE,
    Value,
    class_name,
)

_BY_KIND: dict[str, Method] = {
    TENSOR: of_tensor,
    VARIABLE: of_tensor,
    SHAPE: of_shape,
    PYTHON: of_python,
    SEQUENCE: of_sequence,
    COLLECTION: of_sequence,
    MAPPING: of_mapping,
    DATASET: of_dataset,
    STRATEGY: of_strategy,
    NDARRAY: of_array,
    TENSOR_ARRAY: tensor_arrays.method,
    SPARSE: composites.method,
    RAGGED: composites.method,
}


def find(base: Value, attr: str) -> Method | None:
    """What handles `base.attr(...)`; None when it is an ordinary attribute that happens to be called."""
    if base.kind is INSTANCE:
        if class_name(base) is not None:
            return of_instance
        return OF_KERAS.get(attr)
    if base.kind is UNKNOWN:
        return OF_UNKNOWN.get(attr)
    if base.kind is FUNCTION:
        return trace if attr == "get_concrete_function" else None
    return _BY_KIND.get(base.kind)
