"""What TensorFlow's own modules hold is known under its public name."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

from xlalint import data
from xlalint.semantics.catalog.shipped import load
from xlalint.semantics.names import canonical

TABLE: dict[str, dict[str, str]] = json.loads((data.root() / "private.json").read_bytes())


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("tensorflow.python.framework.constant_op.constant", "tf.constant"),
        ("tensorflow.python.framework.dtypes.float64", "tf.float64"),
        ("tensorflow.python.framework.ops.convert_to_tensor", "tf.convert_to_tensor"),
        ("tensorflow.python.ops.array_ops.where", "tf.compat.v1.where"),
        ("tensorflow.python.ops.array_ops.where_v2", "tf.where"),
        ("tensorflow.python.ops.cond.cond", "tf.compat.v1.cond"),
        ("tensorflow.python.util.nest.map_structure", "tf.nest.map_structure"),
        ("tensorflow.python.ops.gen_array_ops.shape", "tf.shape"),
        ("tensorflow.python.ops.math_ops.of_no_version", "tf.of_no_version"),
        ("tensorflow.python.ops.nothing_known.cond", "tf.python.ops.nothing_known.cond"),
    ],
)
def test_a_private_name_has_a_public_one(private: str, public: str) -> None:
    assert canonical(private) == public


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("tensorflow.compat.v1.Tensor", "tf.Tensor"),
        ("tensorflow.compat.v1.GradientTape", "tf.GradientTape"),
        ("tensorflow.compat.v1.newaxis", "tf.newaxis"),
        ("tensorflow.compat.v1.RaggedTensor.from_row_lengths", "tf.RaggedTensor.from_row_lengths"),
        ("tensorflow.compat.v1.data.Options", "tf.data.Options"),
        ("tensorflow.compat.v1.data.Dataset", "tf.compat.v1.data.Dataset"),
        ("tensorflow.compat.v1.Variable", "tf.compat.v1.Variable"),
        ("tensorflow.compat.v1.cond", "tf.compat.v1.cond"),
    ],
)
def test_what_v1_shares_has_one_name(old: str, name: str) -> None:
    assert canonical(old) == name


@pytest.mark.compiler
def test_what_v1_shares_is_the_same_object() -> None:
    import tensorflow as tf

    checked = 0
    for name in json.loads((data.root() / "names_in_v1.json").read_bytes()):
        found = [_below(root, name) for root in (tf, tf.compat.v1)]
        if found != [None, None]:
            assert found[0] is found[1], name
            checked += 1
    assert checked > 250


def _below(root: Any, dotted: str) -> Any:
    """What a dotted name leads to; None where another version has it."""
    for name in dotted.split("."):
        root = getattr(root, name, None)
    return root


def test_the_public_names_are_those_of_the_catalogue() -> None:
    catalog = load("2.21")
    functions = {
        name
        for module, held in TABLE.items()
        if module.startswith("ops.") and "test" not in module
        for name in held.values()
    }
    unknown = sorted(name for name in functions if catalog.canonical(name) is None)
    # Classes, dtypes, and what 2.15 had and 2.21 has no more.
    assert len(unknown) < len(functions) / 20, unknown


@pytest.mark.parametrize("module", ["sparse_csr_matrix_ops", "gen_sparse_csr_matrix_ops"])
def test_raw_operations_are_known_wherever_they_are_imported_from(module: str) -> None:
    private = f"tensorflow.python.ops.linalg.sparse.{module}.sparse_matrix_sparse_mat_mul"
    assert canonical(private) == "tf.raw_ops.SparseMatrixSparseMatMul"


@pytest.mark.compiler
def test_the_table_says_what_the_installed_modules_hold() -> None:
    import tensorflow as tf

    checked = 0
    for module, held in TABLE.items():
        try:
            holder = importlib.import_module(f"tensorflow.python.{module}")
        except ImportError:
            continue  # of another version
        for private, public in held.items():
            if hasattr(holder, private):
                target = _of_public_name(tf, public)
                if target is not None:
                    assert getattr(holder, private) is target, (module, private, public)
                    checked += 1
    assert checked > 2000


def _of_public_name(tf: Any, name: str) -> Any:
    for part in name.split(".")[1:]:
        tf = getattr(tf, part, None)
    return tf
