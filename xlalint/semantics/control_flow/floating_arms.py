"""Arms that make floating numbers of a tensor whose dtype nobody knows: `x * 2.0` beside `tf.cast(x, tf.int32)`.

TensorFlow multiplies no whole numbers by 2.0, and divides none but by making floating ones of them (2.15 and 2.21): whatever the
tensor holds, such an arm returns floating or complex numbers, or fails by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.control_flow.chosen import dtype_in_graph
from xlalint.semantics.values import Value

_WHOLE = ("int", "uint", "bool", "string")
_WITH_A_NUMBER = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def dtypes_of(
    values: tuple[Value, Value], expressions: tuple[ast.expr | None, ast.expr | None]
) -> tuple[str, str] | None:
    """The dtypes of two arms in words, where one is whole numbers, and what the other is made of says that it is not."""
    if not all(value.is_tensor for value in values):
        return None
    known = [dtype_in_graph(value) for value in values]
    for here, there in ((0, 1), (1, 0)):
        dtype = known[there]
        if known[here] is None and values[here].dtype is None and dtype is not None:
            if dtype.startswith(_WHOLE) and _is_floating(expressions[here]):
                words = ("a floating dtype", f"dtype {dtype}")
                return words if here == 0 else (words[1], words[0])
    return None


def assigned(name: str, block: Sequence[ast.stmt]) -> ast.expr | None:
    """What an arm assigns to a name, where it does so once."""
    found: list[ast.expr | None] = []
    for statement in block:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
                found.append(_value_of(statement, part))
    return found[0] if len(found) == 1 else None


def _value_of(statement: ast.stmt, name: ast.Name) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and statement.targets == [name]:
        return statement.value
    return None


def _is_floating(node: ast.expr | None) -> bool:
    """`x * 2.0`, `1.0 - x`, `(x - 0.5) / n`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, _WITH_A_NUMBER):
        return False
    sides = (node.left, node.right)
    return any(_is_float(side) or _is_floating(side) for side in sides)


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
