"""Questions about the TensorFlow in use that have one answer for all that the product knows (2.12 and later)."""

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

# `tf.__version__`, and what packages that compare versions make of it.
TENSORFLOW = "tf.__version__"
_OLDEST = (2, 12)
_MAJOR = constant("2")
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
    return value.kind is EXTERNAL and value.ref == TENSORFLOW


def parsed(name: str, first: Value) -> Value | None:
    """`version.parse(v)` stands for what it is made of; None when `name` is no such function."""
    return first if name in _PARSERS else None


def attribute(attr: str) -> Value | None:
    """`version.parse(tf.__version__).major`."""
    return constant(2) if attr == "major" else None


def method(attr: str, arguments: tuple[Value, ...]) -> Value:
    """`tf.__version__.startswith("2")`, `tf.__version__.split(".")`."""
    known = arguments[0].constant() if arguments else None
    if known is None or not isinstance(known.value, str):
        return NOTHING_KNOWN
    if attr == "startswith":
        if known.value in ("2", "2."):
            return TRUE
        return SOME_PYTHON if known.value.startswith("2") else FALSE
    if attr == "split" and known.value == ".":
        return Value(SEQUENCE, ref=(_MAJOR, SOME_PYTHON, SOME_PYTHON))
    return NOTHING_KNOWN


def item(index: ast.expr) -> Value:
    """`tf.__version__[0]`."""
    is_first = isinstance(index, ast.Constant) and index.value == 0
    return _MAJOR if is_first else SOME_PYTHON


def compared(op: ast.cmpop, left: Value, right: Value) -> Value | None:
    """Whether `tf.__version__ < "2.4"` holds; None where that depends on the version."""
    if is_version(right):
        flipped = _FLIPPED.get(type(op))
        return compared(flipped(), right, left) if flipped is not None else None
    known = right.constant()
    if not is_version(left) or known is None or not isinstance(known.value, str):
        return None
    numbers = re.match(r"(\d+)(?:\.(\d+))?", known.value)
    if numbers is None:
        return None
    if (int(numbers[1]), int(numbers[2] or 0)) >= _OLDEST:
        return None
    if isinstance(op, (ast.Gt, ast.GtE, ast.NotEq)):
        return TRUE
    return FALSE if isinstance(op, (ast.Lt, ast.LtE, ast.Eq)) else None


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
