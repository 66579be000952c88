"""Which dimension of which tensor a size is, as the source says it: `n = tf.shape(x)[0]`, `batch, n = tf.unstack(tf.shape(x))`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name, nodes_of

# The call that asks a tensor for its shape in the graph: `tf.shape`, `K.shape`, `ops.shape`.
_SHAPE = "shape"


class Dimension(NamedTuple):
    """A tensor as it is written, and the place of one of its dimensions."""

    tensor: str
    place: int


def asked_for(size: ast.expr, function: FunctionInfo | None) -> Dimension | None:
    """The dimension that a size is; a name is followed to the one place where the function binds it."""
    if isinstance(size, ast.Subscript):
        tensor = _of_shape(size.value, function)
        place = _number(size.slice)
        return None if tensor is None or place is None else Dimension(tensor, place)
    if not isinstance(size, ast.Name) or (bound := _bound_once(size.id, function)) is None:
        return None
    target, value = bound
    if isinstance(target, ast.Name):
        return None if isinstance(value, ast.Name) else asked_for(value, function)
    if any(isinstance(each, ast.Starred) for each in target.elts):
        return None
    place = next(i for i, each in enumerate(target.elts) if _is_named(each, size))
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        part = value.elts[place]
        return None if isinstance(part, ast.Name) else asked_for(part, function)
    if isinstance(value, ast.Call) and called_name(value) == "unstack" and value.args:
        value = value.args[0]
    tensor = _of_shape(value, function)
    return None if tensor is None else Dimension(tensor, place)


def _of_shape(node: ast.expr, function: FunctionInfo | None) -> str | None:
    """The tensor, as it is written, whose shape this is."""
    if isinstance(node, ast.Call) and called_name(node) == _SHAPE and node.args:
        return ast.unparse(node.args[0])
    bound = _bound_once(node.id, function) if isinstance(node, ast.Name) else None
    if bound is None or not isinstance(bound[0], ast.Name) or isinstance(bound[1], ast.Name):
        return None
    return _of_shape(bound[1], function)


def _bound_once(
    name: str, function: FunctionInfo | None
) -> tuple[ast.Name | ast.Tuple | ast.List, ast.expr] | None:
    """The assignment that binds a name, where one does."""
    if function is None or isinstance(function.node, ast.Lambda):
        return None
    found = [
        (target, part.value)
        for part in nodes_of(function.node.body, into_functions=False)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, (ast.Name, ast.Tuple, ast.List)) and _binds(target, name)
    ]
    return found[0] if len(found) == 1 else None


def _binds(target: ast.Name | ast.Tuple | ast.List, name: str) -> bool:
    if isinstance(target, ast.Name):
        return target.id == name
    return any(isinstance(each, ast.Name) and each.id == name for each in target.elts)


def _is_named(target: ast.expr, name: ast.Name) -> bool:
    return isinstance(target, ast.Name) and target.id == name.id


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
