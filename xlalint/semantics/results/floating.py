"""Expressions that make floating numbers, whatever the dtype of what they are made of: `x * 2.0`, `a / b`, `tf.exp(x)`.

TensorFlow multiplies no whole numbers by 2.0, takes no logarithm of them, and divides none but by making floating ones of them (2.15
and 2.21): whatever the tensor holds, the result is floating or complex, or the expression fails by itself.
"""

from __future__ import annotations

import ast

from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.control_flow import growth
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL

_WITH_A_NUMBER = (ast.Add, ast.Sub, ast.Mult, ast.Pow)
# Functions and names that are followed.
_MOST_STEPS = 6
# A number among their operands is of the dtype of the others.
_OF_ONE_DTYPE = ("broadcast", "matmul")


def is_floating(node: ast.expr | None, frame: Frame) -> bool:
    """`x * 2.0`, `1.0 - x`, `(x - 0.5) / n`, `tf.exp(x)`, and what sums, reshapes, joins or picks items of these.

    Names of the function that it stands in are followed to the one place that assigns them.
    """
    return _is_floating(node, frame, 0, frame.function)


def takes_floats(called: ast.expr, frame: Frame) -> bool:
    """Whether what is called takes no whole numbers: `tf.exp`, `tf.sqrt`. `tf.divide` does."""
    target = frame.analysis.evaluate(called, frame)
    if target.kind is not EXTERNAL:
        return False
    api = frame.analysis.catalog.api(api_name(str(target.ref)))
    return api is not None and api.floating and api.result_dtype == "same"


def _is_floating(
    node: ast.expr | None, frame: Frame, depth: int, inside: FunctionInfo | None
) -> bool:
    if isinstance(node, ast.Name):
        made = _assigned_in(inside, node) if depth < _MOST_STEPS else None
        return made is not None and _is_floating(made, frame, depth + 1, inside)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return True
        sides = (node.left, node.right) if isinstance(node.op, _WITH_A_NUMBER) else ()
        return any(_is_float(side) or _is_floating(side, frame, depth, inside) for side in sides)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_floating(node.operand, frame, depth, inside)
    if isinstance(node, ast.Subscript):
        return _is_floating(node.value, frame, depth, inside)
    return isinstance(node, ast.Call) and _returns_floating(node, frame, depth, inside)


def _assigned_in(inside: FunctionInfo | None, name: ast.Name) -> ast.expr | None:
    if inside is None or name.id in inside.parameter_names or isinstance(inside.node, ast.Lambda):
        return None
    statements = [part for part in nodes_of(inside.node.body) if isinstance(part, ast.stmt)]
    made = growth.assigned_once(name, statements, inside)
    return None if made is name else made


def _returns_floating(
    node: ast.Call, frame: Frame, depth: int, inside: FunctionInfo | None
) -> bool:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    target = frame.analysis.evaluate(node.func, frame)
    if target.kind is EXTERNAL:
        return _api_returns_floating(api_name(str(target.ref)), node, frame, depth, inside)
    callee = only_callee(target, frame.analysis) if depth < _MOST_STEPS else None
    info = callee.function if callee is not None else None
    if info is None or (isinstance(info.node, ast.FunctionDef) and info.node.decorator_list):
        return False
    home = frame.analysis.modules.closures.home(info)
    return _is_floating(growth.returned(info, None), home, depth + 1, info)


def _api_returns_floating(
    name: str, node: ast.Call, frame: Frame, depth: int, inside: FunctionInfo | None
) -> bool:
    api = frame.analysis.catalog.api(name)
    if api is None or not name.startswith("tf."):
        return False
    if api.floating and _has_usual_dtype(api, node):
        return True
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if api.shape in _OF_ONE_DTYPE and api.result_dtype == "same":
        return any(_is_float(one) or _is_floating(one, frame, depth, inside) for one in given)
    if api.name == "tf.where":
        return any(_is_float(one) or _is_floating(one, frame, depth, inside) for one in given[1:])
    return _keeps_dtype(api, node) and _is_floating(node.args[0], frame, depth, inside)


def _keeps_dtype(api: Api, node: ast.Call) -> bool:
    """Whether an API returns numbers of its first argument's dtype."""
    return api.result_dtype == "same" and bool(node.args) and _has_usual_dtype(api, node)


def _has_usual_dtype(api: Api, node: ast.Call) -> bool:
    """Whether a call surely says nothing of the dtype that comes out; pixels that `method="nearest"` picks keep theirs."""
    settings = {api.dtype_arg, "method"}.intersection(api.params)
    places = [api.params.index(setting) for setting in settings]
    is_open = any(isinstance(one, ast.Starred) for one in node.args)
    named = {keyword.arg for keyword in node.keywords}
    return not (
        is_open
        or None in named
        or settings & named
        or any(place < len(node.args) for place in places)
    )


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
