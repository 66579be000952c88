"""What an expression is where all inputs of the compiled function are 1: what TensorFlow takes sorted values for (sorted_places.py).

Read from the text of the function: names that are bound once, arithmetic with numbers, and functions of one tensor that give each element, or
all of them, the same number. Shares (`tf.nn.softmax`) of two or more are a half at most. Of anything else no level is known.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import called_name, nodes_of

# Names that lead further than this are left alone.
_DEEPEST = 8


class Level(NamedTuple):
    """The least and the most that it may be; the same number where it is known."""

    least: float
    most: float


_ONE = Level(1.0, 1.0)
_SHARES = Level(0.0, 0.5)
_SAME = frozenset(
    "cast identity stop_gradient convert_to_tensor reshape transpose squeeze expand_dims gather reverse reduce_max reduce_min reduce_mean".split()
)
_OF_ONE: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "square": lambda x: x * x,
    "negative": operator.neg,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)),
    "tanh": math.tanh,
    "floor": math.floor,
}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def of_operand(node: ast.AST, frame: Frame) -> Level | None:
    """The level of what a call takes first, in the function that is compiled itself; None where it is not known."""
    function = frame.function
    if function is None or function is not frame.context.root or not isinstance(node, ast.Call):
        return None
    given = next(iter(node.args), None)
    return None if given is None else _level(given, frame, _DEEPEST)


def _level(node: ast.expr, frame: Frame, depth: int) -> Level | None:
    if depth == 0:
        return None
    if isinstance(node, ast.Constant):
        is_number = type(node.value) in (int, float)
        return Level(float(node.value), float(node.value)) if is_number else None  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return _of_name(node.id, frame, depth)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _applied(operator.neg, _level(node.operand, frame, depth - 1))
    if isinstance(node, ast.Subscript):
        return _level(node.value, frame, depth - 1)
    if isinstance(node, ast.BinOp):
        sides = (
            _level(node.left, frame, depth - 1),
            _level(node.right, frame, depth - 1),
        )
        return _combined(_OPERATORS.get(type(node.op)), *sides)
    if isinstance(node, ast.Call):
        return _of_call(node, frame, depth)
    return None


def _of_call(node: ast.Call, frame: Frame, depth: int) -> Level | None:
    name = called_name(node)
    if name == "softmax":
        return _SHARES
    if not node.args or not (name in _SAME or name in _OF_ONE):
        return None
    if name == "cast" and any("int" in ast.unparse(each) for each in _dtypes(node)):
        return None
    inner = _level(node.args[0], frame, depth - 1)
    return inner if name in _SAME else _applied(_OF_ONE[name], inner)


def _dtypes(node: ast.Call) -> list[ast.expr]:
    return [*node.args[1:], *(each.value for each in node.keywords)]


def _of_name(name: str, frame: Frame, depth: int) -> Level | None:
    function = frame.function
    if function is None:
        return None
    nodes = list(nodes_of(function.body))
    stored = [
        part
        for part in nodes
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
    ]
    if name in function.parameter_names:
        # Numbers that a function is handed, and settings, are what they are.
        is_input = not stored and name in frame.names and frame.names[name].is_tensor
        return _ONE if is_input else None
    bound = [
        part
        for part in nodes
        if isinstance(part, ast.Assign)
        and len(part.targets) == 1
        and isinstance(part.targets[0], ast.Name)
        and part.targets[0].id == name
    ]
    if len(stored) != 1 or len(bound) != 1:
        return None
    return _level(bound[0].value, frame, depth - 1)


def _applied(function: Callable[[float], float], given: Level | None) -> Level | None:
    if given is None or given.least != given.most:
        return None
    try:
        value = float(function(given.least))
    except (ArithmeticError, ValueError):
        return None
    return Level(value, value)


def _combined(
    function: Callable[[float, float], float] | None, left: Level | None, right: Level | None
) -> Level | None:
    if function is None or right is None or right.least != right.most:
        return None
    return _applied(lambda x: function(x, right.least), left)
