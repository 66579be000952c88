"""Tensors of an unknown dtype that an expression shows to be floating: `a / b`, `tf.norm(x)`, or what is asked `tf.math.is_nan(x)`.

`tf.where(tf.math.is_nan(x), 0, x)` is written for floats, and no graph takes the number first (`numbers_first`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.facts import Verdict
from xlalint.semantics.hazards import numbers_first
from xlalint.semantics.results.floating import is_floating
from xlalint.semantics.syntax import called_name
from xlalint.semantics.values import TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.catalog import Api
    from xlalint.semantics.frames import Frame

_ASKED = frozenset({"is_nan", "is_inf", "is_finite"})
_INFINITE = frozenset({"inf", "nan", "NaN", "Inf", "infty", "PINF", "NINF"})


def number_first(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Verdict | None:
    """The verdict on a whole number before what is floating by how it is written; None where that does not show."""
    names = numbers_first.OPERANDS.get(api.name)
    if names is None or not isinstance(node, ast.Call):
        return None
    number, tensor = (bound.get(name) for name in names)
    known = number.constant() if number is not None else None
    if known is None or type(known.value) is not int or tensor is None:
        return None
    if tensor.kind is not TENSOR or tensor.dtype is not None or tensor.structured:
        return None
    parameters = list(api.params)
    written = _given(node, names[1], parameters)
    if written is None:
        return None
    asked = _given(node, "condition", parameters) if "condition" in parameters else None
    if not (is_floating(written, frame) or (asked is not None and _asks(asked, written))):
        return None
    return Verdict("fails", (), numbers_first.REASON, (), ())


def _given(call: ast.Call, parameter: str, parameters: list[str]) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    place = parameters.index(parameter) if parameter in parameters else len(call.args)
    if place >= len(call.args) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return call.args[place]


def _asks(condition: ast.expr, tensor: ast.expr) -> bool:
    """Whether a condition asks of a tensor what only floats are asked: `tf.math.is_nan(x)`, `tf.abs(x) == np.inf`."""
    text = ast.unparse(tensor)
    for part in ast.walk(condition):
        if isinstance(part, ast.Call) and called_name(part) in _ASKED:
            if any(ast.unparse(each) == text for each in part.args):
                return True
        elif isinstance(part, ast.Compare) and any(map(_is_infinite, part.comparators)):
            if any(isinstance(n, ast.expr) and ast.unparse(n) == text for n in ast.walk(part.left)):
                return True
    return False


def _is_infinite(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Call):
        return called_name(node) == "float" and bool(node.args) and _is_word(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr in _INFINITE


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and str(node.value).lstrip("+-").lower() in ("inf", "nan")
