"""Calls of methods: what stands before the dot, and what is passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import MASK, MATRIX, VECTOR, Call, f32, i32, ragged, sparse
from tools.catalog.program import Made

_BINARY = (
    "add",
    "eq",
    "floordiv",
    "ge",
    "gt",
    "le",
    "lt",
    "mod",
    "mul",
    "ne",
    "pow",
    "sub",
    "truediv",
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    return {
        **_of_tensors(),
        **_of_variables(),
        **_of_ragged(),
        **_of_sparse(),
        **_of_tensor_arrays(),
        **_of_generators(),
        **_of_operators(),
        **_of_tables(),
        **_of_shapes(),
    }


def _of_tensors() -> dict[str, list[Call]]:
    logical = {f"__{name}__": [{"*": [MASK, MASK]}] for name in ("and", "or", "xor")}
    binary = {f"__{name}__": [{"*": [MATRIX, MATRIX]}] for name in (*_BINARY, "matmul")}
    return _named(
        "tf.Tensor",
        {
            **logical,
            **binary,
            "__abs__": [{"*": [MATRIX]}],
            "__neg__": [{"*": [MATRIX]}],
            "__invert__": [{"*": [MASK]}],
            "__getitem__": [{"*": [MATRIX, 0]}],
            "__bool__": [{"*": [np.array(True)]}],
            "__iter__": [{"*": [VECTOR]}],
            "__len__": [{"*": [VECTOR]}],
            "get_shape": [{"*": [VECTOR]}],
            "numpy": [{"*": [VECTOR]}],
            "set_shape": [{"*": [VECTOR, [4]]}],
        },
    )


def _of_variables() -> dict[str, list[Call]]:
    def vector() -> Any:
        return tf.Variable(VECTOR)

    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 1]))
    scattered = {
        f"scatter_{name}": [{"self": vector(), "sparse_delta": slices}]
        for name in ("add", "div", "max", "min", "mul", "sub", "update")
    }
    at_points = {
        f"scatter_nd_{name}": [{"self": vector(), "indices": i32([0], [1]), "updates": f32(1, 2)}]
        for name in ("add", "sub", "update")
    }
    return _named(
        "tf.Variable",
        {
            **scattered,
            **at_points,
            "assign": [{"self": vector(), "value": VECTOR}],
            "assign_add": [{"self": vector(), "delta": VECTOR}],
            "assign_sub": [{"self": vector(), "delta": VECTOR}],
            "batch_scatter_update": [{"self": vector(), "sparse_delta": slices}],
            "count_up_to": [{"self": tf.Variable(0), "limit": 5}],
            "gather_nd": [{"self": vector(), "indices": i32([0], [1])}],
            "get_shape": [{"self": vector()}],
            "read_value": [{"self": vector()}],
            "set_shape": [{"self": vector(), "shape": [4]}],
            "sparse_read": [{"self": vector(), "indices": i32(0, 1)}],
            "value": [{"self": vector()}],
        },
    )


def _of_ragged() -> dict[str, list[Call]]:
    mask = tf.ragged.constant([[True], [False, True]])
    binary = {f"__{name}__": [{"*": [ragged(), ragged()]}] for name in _BINARY}
    return _named(
        "tf.RaggedTensor",
        {
            **binary,
            **{f"__{name}__": [{"*": [mask, mask]}] for name in ("and", "or", "xor")},
            "__abs__": [{"*": [ragged()]}],
            "__neg__": [{"*": [ragged()]}],
            "__invert__": [{"*": [mask]}],
            "__getitem__": [{"*": [ragged(), 0]}],
            "from_nested_value_rowids": [
                {"flat_values": VECTOR, "nested_value_rowids": [i32(0, 0, 1, 1)]}
            ],
            "from_sparse": [{"st_input": sparse()}],
            "with_flat_values": [{"self": ragged(), "new_values": f32(4, 5, 6)}],
            "with_row_splits_dtype": [{"self": ragged(), "dtype": tf.int32}],
            **{
                name: [{"self": ragged()}]
                for name in (
                    "get_shape", "nested_row_lengths", "nested_value_rowids", "numpy", "to_list",
                )
            },
        },
    )  # fmt: skip


def _of_sparse() -> dict[str, list[Call]]:
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 1]))
    return {
        **_named(
            "tf.sparse.SparseTensor",
            {
                **{
                    f"__{name}__": [{"*": [sparse(), np.ones((2, 2), np.float32)]}]
                    for name in ("div", "mul", "truediv")
                },
                "get_shape": [{"self": sparse()}],
                "with_values": [{"self": sparse(), "new_values": f32(3, 4)}],
            },
        ),
        "tf.IndexedSlices.__neg__": [{"*": [slices]}],
    }


def _of_tensor_arrays() -> dict[str, list[Call]]:
    empty = Made(lambda: tf.TensorArray(tf.float32, 4, element_shape=[]))
    full = Made(lambda: tf.TensorArray(tf.float32, 4, element_shape=[]).unstack(tf.ones([4])))
    rows = Made(lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).unstack(tf.ones([2, 2])))
    parts = Made(lambda: tf.TensorArray(tf.float32, 2, infer_shape=False))
    return _named(
        "tf.TensorArray",
        {
            "concat": [{"self": rows}],
            "gather": [{"self": full, "indices": i32(0, 1)}],
            "identity": [{"self": full}],
            "read": [{"self": full, "index": np.array(1, np.int32)}],
            "scatter": [{"self": empty, "indices": i32(0, 1, 2, 3), "value": VECTOR}],
            "size": [{"self": full}],
            "split": [{"self": parts, "value": VECTOR, "lengths": [2, 2]}],
            "stack": [{"self": full}],
            "unstack": [{"self": empty, "value": VECTOR}],
            "write": [{"self": empty, "index": np.array(1, np.int32), "value": f32(1.0)[0:1].reshape(())}],
        },
    )  # fmt: skip


def _of_generators() -> dict[str, list[Call]]:
    def generator() -> Any:
        return tf.random.Generator.from_seed(1)

    return _named(
        "tf.random.Generator",
        {
            "binomial": [{"self": generator(), "shape": [4], "counts": 10.0, "probs": 0.5}],
            "make_seeds": [{"self": generator(), "count": 2}],
            "normal": [{"self": generator(), "shape": [4]}],
            "reset": [{"self": generator(), "state": [1, 2, 3]}],
            "reset_from_key_counter": [{"self": generator(), "key": 1, "counter": [1, 2]}],
            "reset_from_seed": [{"self": generator(), "seed": 1}],
            "skip": [{"self": generator(), "delta": 2}],
            "split": [{"self": generator(), "count": 2}],
            "truncated_normal": [{"self": generator(), "shape": [4]}],
            "uniform": [{"self": generator(), "shape": [4]}],
            "uniform_full_int": [{"self": generator(), "shape": [4]}],
        },
    )


def _of_operators() -> dict[str, list[Call]]:
    operator = tf.linalg.LinearOperatorFullMatrix(
        tf.constant(MATRIX), is_self_adjoint=True, is_positive_definite=True, is_non_singular=True
    )
    vector = f32(1, 2, 3)
    return _named(
        "tf.linalg.LinearOperator",
        {
            **{
                name: [{"self": operator}]
                for name in (
                    "adjoint", "cholesky", "cond", "determinant", "diag_part", "eigvals", "inverse", "log_abs_determinant",
                    "shape_tensor", "to_dense", "trace",
                )
            },
            "add_to_tensor": [{"self": operator, "x": MATRIX}],
            "matmul": [{"self": operator, "x": MATRIX}],
            "matvec": [{"self": operator, "x": vector}],
            "solve": [{"self": operator, "rhs": MATRIX}],
            "solvevec": [{"self": operator, "rhs": vector}],
        },
    )  # fmt: skip


def _of_tables() -> dict[str, list[Call]]:
    keys = np.array([1, 2], np.int64)

    def pairs() -> Any:
        return tf.lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(keys))

    tables = {
        "tf.lookup.StaticHashTable": tf.lookup.StaticHashTable(pairs(), -1),
        "tf.lookup.StaticVocabularyTable": tf.lookup.StaticVocabularyTable(pairs(), 1),
        "tf.lookup.experimental.MutableHashTable": tf.lookup.experimental.MutableHashTable(
            tf.int64, tf.int64, -1
        ),
        "tf.lookup.experimental.DenseHashTable": tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2
        ),
    }
    found: dict[str, list[Call]] = {}
    for owner, table in tables.items():
        found |= _named(
            owner,
            {
                "export": [{"self": table}],
                "insert": [{"self": table, "keys": keys, "values": keys}],
                "lookup": [{"self": table, "keys": keys}],
                "remove": [{"self": table, "keys": keys}],
                "size": [{"self": table}],
            },
        )
    return found


def _of_shapes() -> dict[str, list[Call]]:
    shape = tf.TensorShape([2, 3])
    return _named(
        "tf.TensorShape",
        {
            "as_list": [{"self": shape}],
            "assert_has_rank": [{"self": shape, "rank": 2}],
            "assert_is_compatible_with": [{"self": shape, "other": shape}],
            "concatenate": [{"self": shape, "other": shape}],
            "is_fully_defined": [{"self": shape}],
            "merge_with": [{"self": shape, "other": shape}],
            "num_elements": [{"self": shape}],
            "with_rank": [{"self": shape, "rank": 2}],
        },
    )


def _named(owner: str, calls: Mapping[str, list[Call]]) -> dict[str, list[Call]]:
    return {f"{owner}.{name}": tries for name, tries in calls.items()}
