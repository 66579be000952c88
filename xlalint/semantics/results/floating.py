"""Expressions that make floating numbers, whatever the dtype of what they are made of: `x * 2.0`, `a / b`, `tf.exp(x)`.

TensorFlow multiplies no whole numbers by 2.0, takes no logarithm of them, and divides none but by making floating ones of them (2.15
and 2.21): whatever the tensor holds, the result is floating or complex, or the expression fails by itself.
"""

from __future__ import annotations

import ast

from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.control_flow import growth
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL

_WITH_A_NUMBER = (ast.Add, ast.Sub, ast.Mult, ast.Pow)
# Functions and names that are followed.
_MOST_STEPS = 6
# They take no whole numbers, and return what they take.
_FLOATING = frozenset(
    f"{prefix}{name}"
    for prefix, names in (
        (
            "tf.math.",
            "exp expm1 log log1p log_sigmoid sqrt rsqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
            "sigmoid softplus erf erfc erfinv lgamma digamma reduce_logsumexp l2_normalize ceil floor rint xlogy xdivy",
        ),
        (
            "tf.",
            "exp sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid norm floor",
        ),
        ("tf.nn.", "softmax log_softmax softplus elu selu gelu silu swish softsign tanh sigmoid"),
        ("tf.linalg.", "norm inv det cholesky expm"),
    )
    for name in names.split()
)
# They divide whole numbers by making floating ones of them.
_DIVIDE = frozenset({"tf.divide", "tf.math.divide", "tf.truediv", "tf.math.truediv"})
# The first of the operands that must be of one dtype: of `tf.where(test, a, b)` those behind the test.
_OF_ONE_DTYPE = {
    **dict.fromkeys(
        "add subtract multiply maximum minimum pow squared_difference matmul".split(), 0
    ),
    "where": 1,
}


def is_floating(node: ast.expr | None, frame: Frame) -> bool:
    """`x * 2.0`, `1.0 - x`, `(x - 0.5) / n`, `tf.exp(x)`, and what sums, reshapes, joins or picks items of these.

    Names of the function that it stands in are followed to the one place that assigns them.
    """
    return _is_floating(node, frame, 0, frame.function)


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
        name = api_name(str(target.ref))
        if name in _FLOATING or name in _DIVIDE:
            return True
        operands = _OF_ONE_DTYPE.get(name.rsplit(".", 1)[-1])
        if operands is not None and name.startswith("tf."):
            given = [*node.args, *(keyword.value for keyword in node.keywords)][operands:]
            return any(_is_float(one) or _is_floating(one, frame, depth, inside) for one in given)
        return _keeps_dtype(name, node, frame) and _is_floating(node.args[0], frame, depth, inside)
    callee = only_callee(target, frame.analysis) if depth < _MOST_STEPS else None
    info = callee.function if callee is not None else None
    if info is None or (isinstance(info.node, ast.FunctionDef) and info.node.decorator_list):
        return False
    home = frame.analysis.modules.closures.home(info)
    return _is_floating(growth.returned(info, None), home, depth + 1, info)


def _keeps_dtype(name: str, node: ast.Call, frame: Frame) -> bool:
    """Whether an API returns numbers of its first argument's dtype."""
    api = frame.analysis.catalog.api(name) if name.startswith("tf.") and node.args else None
    if api is None or api.result_dtype != "same":
        return False
    return api.dtype_arg is None or (len(node.args) == 1 and not node.keywords)


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
