"""Tensors of an unknown dtype that an expression shows to be floating: `a / b`, `tf.norm(x)`, or what is asked `tf.math.is_nan(x)`.

`tf.where(tf.math.is_nan(x), 0, x)` is written for floats, and no graph takes the number first (`numbers_first`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from xlalint.semantics.facts import Verdict
from xlalint.semantics.hazards import numbers_first
from xlalint.semantics.results.floating import is_floating, takes_floats
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.catalog.entries import Api
    from xlalint.semantics.frames import Frame

_WITH_A_NUMBER = (ast.Add, ast.Sub, ast.Mult, ast.Pow)
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
    if not (
        is_floating(written, frame)
        or (asked is not None and _asks(asked, written))
        or _becomes_floating(node, frame)
    ):
        return None
    return Verdict("fails", (), numbers_first.REASON, (), ())


def _becomes_floating(node: ast.Call, frame: Frame) -> bool:
    """Whether what is computed goes where no whole numbers do: `tf.sqrt(tf.maximum(0, x))`, `0.5 * tf.maximum(0, x)`, or
    `x = tf.maximum(-9, x)` and then `tf.exp(-x)`.
    """
    info = frame.function
    if info is None or isinstance(info.node, ast.Lambda):
        return False
    name = next((_only_name(part) for part in info.carrying if _value_of(part) is node), None)
    parts = list(nodes_of(info.body))
    stores = [part.lineno for part in parts if _is_store(part, name)]
    first = node.end_lineno or node.lineno
    for part in parts:
        operands = list(_taking_floats(part))
        if not operands:
            continue
        line = getattr(part, "lineno", 0)
        is_kept = name is not None and not any(first < store < line for store in stores)
        is_named = line > first and any(getattr(one, "id", None) == name for one in operands)
        if any(one is node for one in operands) or (is_named and is_kept):
            if not isinstance(part, ast.Call) or takes_floats(part.func, frame):
                return True
    return False


def _taking_floats(part: ast.AST) -> Iterator[ast.expr]:
    """What is computed with in the first argument of a call, or beside a number such as 0.5: no tensor of whole numbers is."""
    if isinstance(part, ast.Call):
        for argument in part.args[:1]:
            yield from _operands(argument)
    elif isinstance(part, ast.BinOp) and isinstance(part.op, _WITH_A_NUMBER):
        for number, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(number, ast.Constant) and type(number.value) is float:
                yield from _operands(other)


def _is_store(part: ast.AST, name: str | None) -> TypeGuard[ast.Name]:
    return isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)


def _value_of(statement: ast.AST) -> ast.expr | None:
    return statement.value if isinstance(statement, ast.Assign) else None


def _only_name(statement: ast.AST) -> str | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression computes with: of `-c * (x + 1)` the parts `c`, `x` and `1`."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Div):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _operands(node.operand)
    else:
        yield node


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
