"""What the analysis believes of the dtype, rank and shape of a tensor is what TensorFlow makes: thousands of calls, drawn at random."""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xlalint.engine import Inspection, inspect
from xlalint.project.settings import Settings
from xlalint.semantics.values import TENSOR, Value

pytestmark = pytest.mark.compiler

_DRAWN = 2500
_TENSORS = {
    "x": "tf.ones([4, 3])",
    "y": "tf.ones([4, 3]) * 0.5",
    "i": "tf.constant(2)",
    "v": "tf.constant([0, 1, 2, 1], tf.int64)",
    "k": "tf.constant([0, 1, 2, 1])",
    "m": "tf.constant([True, False, True, True])",
    "d": "tf.ones([4, 3], tf.float64)",
    "h": "tf.ones([4, 3], tf.float16)",
    "z": "tf.complex(tf.ones([4, 3]), tf.ones([4, 3]))",
    "u": "tf.cast(tf.ones([2, 8, 8, 3]) * 9.0, tf.uint8)",
    "g": "tf.ones([2, 8, 8, 3])",
    "b": "tf.constant([[True, False, True]] * 4)",
}
_MODULES = ("", "math", "linalg", "nn", "image", "signal", "keras.ops", "keras.backend", "random")
_MORE = (
    "1", "-1", "axis=0", "axis=1", "axis=-1", "axis=[0, 1]", "keepdims=True", "axis=1, keepdims=True", "2", "2.0",
    "[1]", "[2, 3]", "[4, 3]", "True", "dtype=tf.float64", "dtype='int32'",
)  # fmt: skip
_WHOLE = (
    "x, y, y", "m, x, y", "b, x, y", "x, k, 3", "x, v, 3", "k, x, 3", "[x, y], 0", "[x, y], axis=1", "[x, y], axis=-1", "[x, y]",
    "[k, k]", "g, [4, 4]", "x, 0, 1", "x, [0], [2]", "x, [0, 0], [2, 2]", "x, [[1, 1], [0, 2]]", "[4, 3]", "[4, 3], 1.0",
    "[4, 3], 2", "4", "3, 5", "x, [2, 6]", "x, [-1]", "x, [3, -1]", "k, 5", "v, depth=5", "[0.5, 1]", "[1, 2]",
    "[[1, 2], [3, 4]]", "0.5", "x, k, axis=0", "x, k, batch_dims=0", "x, k, axis=1", "[[0.0]], [tf.shape(x)[0], 5]",
    "[0.1, 0.2, 0.3, 0.4], k",
)  # fmt: skip
# Calls that return several tensors.
_SEVERAL = (
    "tf.nn.moments(x, [0])", "tf.nn.moments(g, [1, 2], keepdims=True)", "tf.nn.moments(g, axes=[-1])", "tf.keras.ops.moments(x, 0)",
    "tf.keras.ops.moments(g, [1, 2], keepdims=True)", "tf.linalg.svd(x)", "tf.linalg.svd(d, full_matrices=True)", "tf.linalg.svd(g)",
    "tf.linalg.qr(x)", "tf.linalg.qr(g, full_matrices=True)", "tf.linalg.qr(tf.transpose(x))", "tf.keras.ops.qr(x)",
    "tf.linalg.eigh(tf.matmul(x, x, transpose_b=True))", "tf.keras.ops.eigh(tf.matmul(x, x, transpose_a=True))",
    "(tf.linalg.svd(x, compute_uv=False), tf.linalg.svd(g, compute_uv=False))", "tf.math.top_k(x, 2)", "tf.keras.ops.top_k(x, 2)",
)  # fmt: skip
_PARTS = (
    "[0]", "[1:]", "[..., 0]", "[:, None]", "[-1]", "[:2]", "[::2]", "[:, 0]", "[:, 1:3]", "[None]", "[i]", "[1:, :2]",
    "[..., None]", "[0, 0]", "[0, :, None]", "[:, -1]", "[-2:]", "[:-1]", "[None, ..., 0]", "[..., :1]", "[::-1]",
)  # fmt: skip
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "&", "|", "@")
# They change TensorFlow for what follows, or run what they are given.
_NOT_CALLED = frozenset(
    "py_function numpy_function Assert print while_loop cond clear_session set_floatx set_image_data_format set_epsilon "
    "set_learning_phase load_library load_op_library".split()
)
# Where a belief is known not to hold, and why that stays so: how such calls begin.
_KNOWN = {
    "tf.keras.ops.irfft(": "takes its two parts as one list, which is no stack",
    "tf.keras.ops.layer_normalization(": "passes any keyword on, `dtype` among them",
    "tf.linalg.matrix_rank(": "of a tolerance for each row",
    "tf.keras.ops.matrix_rank(": "of a tolerance for each row",
    "tf.keras.ops.prod(": "Keras casts back after `dtype`",
    "tf.keras.backend.relu(": "of whole numbers and a slope, which Keras makes fractions of",
    "tf.where([": "of a list of tensors, which is one of more dimensions",
    "tf.keras.ops.bincount(": "of weights that Keras promotes",
    "tf.keras.ops.exp2(": "the catalogue knows it of float32 alone",
    "tf.keras.ops.argsort(": "of one number, which Keras makes a vector",
    **dict.fromkeys(
        (
            "tf.keras.ops.hard_shrink(",
            "tf.keras.ops.squareplus(",
            "tf.keras.ops.psnr(",
            "tf.nn.swish(",
        ),
        "of a vector of settings, where callers give a number",
    ),
    **dict.fromkeys(
        ("tf.keras.backend.random_", "tf.keras.backend.truncated_normal("),
        "with a vector in the place of a number, which widens the shape",
    ),
}


def _expressions(catalogue: dict[str, list[str]]) -> list[str]:
    """Calls of every function in some modules with arguments of all kinds, operators and subscripts."""
    found: list[str] = []
    for module, functions in catalogue.items():
        owner = f"tf.{module}".rstrip(".")
        for name in functions:
            call = f"{owner}.{name}"
            found += [f"{call}({one})" for one in _TENSORS]
            found += [f"{call}({one}, {more})" for one in "xdzkg" for more in _MORE]
            found += [
                f"{call}({one}, {other})"
                for one, other in itertools.product("xdkvgbzm", "xyikvmdzb")
            ]
            found += [f"{call}({whole})" for whole in _WHOLE]
    operands = [*_TENSORS, "2", "0.5", "True", "[1, 2, 3]"]
    # Of truth values, TensorFlow makes `and` of a product.
    numbers = [one for one in _TENSORS if one not in "mb"]
    pairs = itertools.product(numbers, _OPERATORS, [one for one in operands if one not in "mb"])
    found += [f"{a} {o} {c}" for a, o, c in pairs]
    found += [f"{a} {o} {c}" for a, o, c in itertools.product(("2", "0.5"), _OPERATORS, numbers)]
    found += [one + part for one in _TENSORS for part in _PARTS]
    return found


def _functions() -> dict[str, list[str]]:
    """The functions of the modules, by module."""
    script = (
        "import json, sys, tensorflow as tf\n"
        "found = {}\n"
        "for module in json.loads(sys.argv[1]):\n"
        "    owner = tf\n"
        "    for part in filter(None, module.split('.')):\n"
        "        owner = getattr(owner, part)\n"
        "    names = (n for n in sorted(dir(owner)) if not n.startswith('_'))\n"
        "    found[module] = [n for n in names if callable(getattr(owner, n, None)) and not isinstance(getattr(owner, n), type)]\n"
        "print(json.dumps(found))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, json.dumps(_MODULES)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(answer.stdout.splitlines()[-1])
    return {
        module: [name for name in names if name not in _NOT_CALLED]
        for module, names in found.items()
    }


def _in_tensorflow(expressions: list[str], folder: Path) -> dict[int, tuple[str, list[int]]]:
    given, answers = folder / "given.json", folder / "answers.txt"
    given.write_text(json.dumps([_TENSORS, expressions]), encoding="utf-8")
    answers.touch()
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("evaluate.py")), str(given), str(answers)],
        check=True,
        capture_output=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    found: dict[int, tuple[str, list[int]]] = {}
    for line in answers.read_text(encoding="utf-8").splitlines():
        position, _, answer = line.partition(" ")
        if answer != "begins":
            dtype, shape = json.loads(answer)
            found[int(position)] = (dtype, shape)
    return found


def _believed(expressions: list[str], folder: Path) -> dict[int, list[Value]]:
    head = ["import tensorflow as tf", "", "", "@tf.function(jit_compile=True)", "def f():"]
    head += [f"    {name} = {written}" for name, written in _TENSORS.items()]
    path = folder / "program.py"
    path.write_text("\n".join([*head, *(f"    {each}" for each in expressions)]) + "\n")
    inspection = inspect(str(path), (), Settings(root=folder))
    assert isinstance(inspection, Inspection)
    of_node = inspection.beliefs.of(inspection.module)
    return {
        node.lineno - len(head) - 1: [belief.value for belief in of_node.get(node.value, [])]
        for node in ast.walk(inspection.module.tree)
        if isinstance(node, ast.Expr)
    }


def _is_wrong(value: Value, dtype: str, shape: list[int]) -> bool:
    if value.kind is not TENSOR or value.structured:
        return False
    if value.dtype is not None and not dtype.startswith(value.dtype):
        return True  # "complex" is any of them
    if value.shape is not None:
        known: Any = zip(value.shape, shape)
        return len(value.shape) != len(shape) or any(a not in (None, b) for a, b in known)
    return bool(value.rank) and value.rank > len(shape)  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(4))
def test_beliefs_are_what_tensorflow_makes(seed: int, tmp_path: Path) -> None:
    drawn = random.Random(seed).sample(_expressions(_functions()), 3 * _DRAWN)
    expressions = [one for one in drawn if not one.startswith(tuple(_KNOWN))]
    expressions += [f"{several}[{place}]" for several in _SEVERAL for place in (0, 1, -1)]
    made = _in_tensorflow(expressions, tmp_path)
    believed = _believed(expressions, tmp_path)
    wrong = [
        f"{expressions[position]}: {value.dtype} {value.shape}, not {dtype} {shape}"
        for position, (dtype, shape) in sorted(made.items())
        for value in believed.get(position, [])
        if _is_wrong(value, dtype, shape)
    ]
    known = [v for p in made for v in believed.get(p, []) if v.dtype is not None]
    assert len(known) > 500  # else nothing was asked
    assert not wrong, "\n".join(wrong)
