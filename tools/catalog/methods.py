"""Methods that programs call on values: which of them are measured, by class; `self` is their first parameter.

What a receiver is made of stands beside the calls (`recipes/receivers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

_OPERATORS = (
    "__abs__", "__add__", "__and__", "__eq__", "__floordiv__", "__ge__", "__getitem__", "__gt__", "__invert__",
    "__le__", "__lt__", "__matmul__", "__mod__", "__mul__", "__ne__", "__neg__", "__or__", "__pow__", "__sub__",
    "__truediv__", "__xor__",
)  # fmt: skip
METHODS: Mapping[str, tuple[str, ...]] = {
    "tf.Tensor": (*_OPERATORS, "__bool__", "__iter__", "__len__", "get_shape", "numpy", "set_shape"),
    "tf.Variable": (
        "assign", "assign_add", "assign_sub", "batch_scatter_update", "count_up_to", "gather_nd", "get_shape", "read_value",
        "scatter_add", "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_sub",
        "scatter_nd_update", "scatter_sub", "scatter_update", "set_shape", "sparse_read", "value",
    ),
    "tf.RaggedTensor": (
        *(name for name in _OPERATORS if name not in ("__matmul__",)), "bounding_shape", "flat_values", "from_nested_row_lengths",
        "from_nested_row_splits", "from_nested_value_rowids", "from_row_lengths", "from_row_limits", "from_row_splits",
        "from_row_starts", "from_sparse", "from_tensor", "from_uniform_row_length", "from_value_rowids", "get_shape",
        "merge_dims", "nested_row_lengths", "nested_value_rowids", "nrows", "numpy", "row_lengths", "row_limits", "row_starts",
        "to_list", "to_sparse", "to_tensor", "value_rowids", "with_flat_values", "with_row_splits_dtype", "with_values",
    ),
    "tf.sparse.SparseTensor": (
        "__div__", "__mul__", "__truediv__", "consumers", "from_value", "get_shape", "with_values",
    ),
    "tf.IndexedSlices": ("__neg__", "consumers"),
    "tf.TensorArray": (
        "concat", "gather", "identity", "read", "scatter", "size", "split", "stack", "unstack", "write",
    ),
    "tf.random.Generator": (
        "binomial", "make_seeds", "normal", "reset", "reset_from_key_counter", "reset_from_seed", "skip", "split",
        "truncated_normal", "uniform", "uniform_full_int",
    ),
    "tf.GradientTape": ("batch_jacobian", "gradient", "jacobian"),
    "tf.linalg.LinearOperator": (
        "add_to_tensor", "adjoint", "cholesky", "cond", "determinant", "diag_part", "eigvals", "inverse",
        "log_abs_determinant", "matmul", "matvec", "shape_tensor", "solve", "solvevec", "to_dense", "trace",
    ),
    "tf.lookup.StaticHashTable": ("export", "lookup", "size"),
    "tf.lookup.StaticVocabularyTable": ("lookup", "size"),
    "tf.lookup.experimental.MutableHashTable": ("export", "insert", "lookup", "remove", "size"),
    "tf.lookup.experimental.DenseHashTable": ("export", "insert", "lookup", "remove", "size"),
    "tf.queue.QueueBase": ("close", "dequeue", "dequeue_many", "enqueue", "enqueue_many", "size"),
    "tf.queue.FIFOQueue": ("close", "dequeue", "dequeue_many", "enqueue", "enqueue_many", "size"),
    "tf.TensorShape": ("as_list", "assert_has_rank", "assert_is_compatible_with", "concatenate", "is_fully_defined",
                       "merge_with", "num_elements", "with_rank"),
}  # fmt: skip


def _truth(tensor: Any) -> bool:
    return bool(tensor)


def _rows(tensor: Any) -> list[Any]:
    return list(tensor)


def _length(tensor: Any) -> int:
    return len(tensor)


def _numpy(tensor: Any) -> Any:
    return tensor.numpy()


def _gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def _jacobian(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.jacobian(y, x)


def _batch_jacobian(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.batch_jacobian(y, x)


def _set_shape(tensor: Any, shape: Any) -> None:
    tensor.set_shape(shape)


# What Python itself calls, and what eager tensors do by methods of their own.
_BY_CALLING: Mapping[str, Callable[..., Any]] = {
    "tf.Tensor.__bool__": _truth,
    "tf.Tensor.__iter__": _rows,
    "tf.Tensor.__len__": _length,
    "tf.Tensor.numpy": _numpy,
    "tf.Tensor.set_shape": _set_shape,
    "tf.GradientTape.gradient": _gradient,
    "tf.GradientTape.jacobian": _jacobian,
    "tf.GradientTape.batch_jacobian": _batch_jacobian,
}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public name and function of each method that this version has."""
    for owner, names in METHODS.items():
        cls = _class(owner)
        for name in names:
            full = f"{owner}.{name}"
            target = _BY_CALLING.get(full) or getattr(cls, name, None)
            if callable(target):
                yield full, target


def _class(owner: str) -> Any:
    """The class that has the methods; `tf.Variable` itself only declares them."""
    if owner == "tf.Variable":
        return type(tf.Variable(0.0))
    cls: Any = tf
    for part in owner.split(".")[1:]:
        cls = getattr(cls, part, None)
    return cls
