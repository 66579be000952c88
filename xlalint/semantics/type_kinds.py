"""Which kind of value the instances of a class are, as `isinstance` is asked for it."""

from __future__ import annotations

from xlalint.semantics.values import (
    DATASET,
    EXTERNAL,
    MAPPING,
    NDARRAY,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SPARSE,
    STRATEGY,
    TENSOR,
    VARIABLE,
    Value,
)

_TYPE_KINDS = {
    "tf.Tensor": TENSOR,
    "tf.Variable": VARIABLE,
    "keras.KerasTensor": TENSOR,
    "tf.SparseTensor": SPARSE,
    "tf.sparse.SparseTensor": SPARSE,
    "tf.RaggedTensor": RAGGED,
    "tf.IndexedSlices": "slices",
    "np.ndarray": NDARRAY,
    "builtins.list": SEQUENCE,
    "builtins.tuple": SEQUENCE,
    "builtins.dict": MAPPING,
    "collections.abc.Mapping": MAPPING,
    "collections.abc.Sequence": SEQUENCE,
    "typing.Mapping": MAPPING,
    "collections.OrderedDict": MAPPING,
    "builtins.int": PYTHON,
    "builtins.float": PYTHON,
    "builtins.bool": PYTHON,
    "builtins.str": PYTHON,
    "six.integer_types": PYTHON,
    "six.string_types": PYTHON,
    "numbers.Number": PYTHON,
    "numbers.Integral": PYTHON,
    "numbers.Real": PYTHON,
    "tf.data.Dataset": DATASET,
    "tf.distribute.Strategy": STRATEGY,
}


def kind_of_type(value: Value) -> str | None:
    """The kind of the instances of a class; None for a class that says nothing about tensors."""
    if value.kind is EXTERNAL:
        return _TYPE_KINDS.get(str(value.ref))
    return None
