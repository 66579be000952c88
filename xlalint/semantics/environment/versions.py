"""Questions about the TensorFlow in use that have one answer for all that the product knows (2.12 and later), and about its
Keras, which is known to be 2 or 3.
"""

from __future__ import annotations

import ast
import re

from xlalint.semantics.values import (
    EXTERNAL,
    FALSE,
    NOTHING_KNOWN,
    SEQUENCE,
    SOME_PYTHON,
    TRUE,
    Value,
    constant,
)

# `tf.__version__`, `keras.__version__`, and what packages that compare versions make of them.
_KERAS, _TF_KERAS = "keras.__version__", "tf_keras.__version__"
_NAMES = frozenset({"tf.__version__", "tf.version.VERSION", _KERAS, _TF_KERAS})
# A function that returns a version: `keras.version()`, `tf.keras.version()`.
_FUNCTIONS = {"keras.version": _KERAS, "tf_keras.version": _TF_KERAS}
# The first version that may be in use, and the first that is not.
_OF_TWO = ((2, 12), (3, 0))
_OF_THREE = ((3, 0), (4, 0))
_PARSERS = frozenset(
    {
        "packaging.version.parse",
        "packaging.version.Version",
        "distutils.version.LooseVersion",
        "distutils.version.StrictVersion",
        "setuptools._distutils.version.LooseVersion",
        "pkg_resources.parse_version",
    }
)


def is_version(value: Value) -> bool:
    return value.kind is EXTERNAL and value.ref in _NAMES


def asked_for(name: str) -> Value | None:
    """What `keras.version()` returns; None when `name` is no such function."""
    found = _FUNCTIONS.get(name)
    return Value(EXTERNAL, ref=found) if found is not None else None


def _range(name: str, keras: str) -> tuple[tuple[int, int], tuple[int, int]]:
    return _OF_THREE if name == _KERAS and keras == "3" else _OF_TWO


def _major(name: str, keras: str) -> int:
    return _range(name, keras)[0][0]


def parsed(name: str, first: Value) -> Value | None:
    """`version.parse(v)` stands for what it is made of; None when `name` is no such function."""
    return first if name in _PARSERS else None


def attribute(version: Value, attr: str, keras: str) -> Value | None:
    """`version.parse(tf.__version__).major`, with this Keras in use."""
    return constant(_major(version.ref, keras)) if attr == "major" else None


def method(name: str, arguments: tuple[Value, ...], keras: str) -> Value | None:
    """`tf.__version__.startswith("2")`, `tf.__version__.split(".")`; None when `name` is no method of a version."""
    owner, _, attr = name.rpartition(".")
    if owner not in _NAMES:
        return None
    known = arguments[0].constant() if arguments else None
    if known is None or not isinstance(known.value, str):
        return NOTHING_KNOWN
    major = str(_major(owner, keras))
    if attr == "startswith":
        if known.value in (major, f"{major}."):
            return TRUE
        return SOME_PYTHON if known.value.startswith(major) else FALSE
    if attr == "split" and known.value == ".":
        return Value(SEQUENCE, ref=(constant(major), SOME_PYTHON, SOME_PYTHON))
    return NOTHING_KNOWN


def item(version: Value, index: ast.expr, keras: str) -> Value:
    """`tf.__version__[0]`."""
    is_first = isinstance(index, ast.Constant) and index.value == 0
    return constant(str(_major(version.ref, keras))) if is_first else SOME_PYTHON


def compared(op: ast.cmpop, left: Value, right: Value, keras: str) -> Value | None:
    """Whether `tf.__version__ < "2.4"` holds with this Keras in use; None where that depends on the version."""
    if is_version(right):
        flipped = _FLIPPED.get(type(op))
        return compared(flipped(), right, left, keras) if flipped is not None else None
    known = right.constant()
    if not is_version(left) or known is None or not isinstance(known.value, str):
        return None
    numbers = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", known.value)
    if numbers is None:
        return None
    first, beyond = _range(left.ref, keras)
    other = (int(numbers[1]), int(numbers[2] or 0))
    if other < first:
        return _decided(op, _ABOVE)
    if other >= beyond:
        return _decided(op, _BELOW)
    return _decided(op, _AT_LEAST) if other == first and not int(numbers[3] or 0) else None


# What holds of a version above another, below it, and from it on.
_ABOVE: dict[type[ast.cmpop], bool] = {
    ast.Gt: True,
    ast.GtE: True,
    ast.NotEq: True,
    ast.Lt: False,
    ast.LtE: False,
    ast.Eq: False,
}
_BELOW = {op: not holds for op, holds in _ABOVE.items()} | {ast.NotEq: True, ast.Eq: False}
_AT_LEAST = {ast.GtE: True, ast.Lt: False}


def _decided(op: ast.cmpop, holding: dict[type[ast.cmpop], bool]) -> Value | None:
    holds = holding.get(type(op))
    return None if holds is None else TRUE if holds else FALSE


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
