"""Arms that make floating numbers of a tensor whose dtype nobody knows: `x * 2.0` or `tf.exp(x)` beside `tf.cast(x, tf.int32)` or 0."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.control_flow.chosen import dtype_in_graph
from xlalint.semantics.frames import Frame
from xlalint.semantics.results.floating import is_floating
from xlalint.semantics.values import PYTHON, Value

_WHOLE = ("int", "uint", "bool", "string")


def dtypes_of(
    values: tuple[Value, Value],
    expressions: tuple[ast.expr | None, ast.expr | None],
    frame: Frame,
) -> tuple[str, str] | None:
    """The dtypes of two arms in words, where one is whole numbers, and what the other is made of says that it is not."""
    if not all(value.is_tensor or value.kind is PYTHON for value in values):
        return None
    known = [dtype_in_graph(value) for value in values]
    for here, there in ((0, 1), (1, 0)):
        dtype = known[there]
        if values[here].is_tensor and values[here].dtype is None and dtype is not None:
            if dtype.startswith(_WHOLE) and is_floating(expressions[here], frame):
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
    if isinstance(statement, ast.AugAssign) and statement.target is name:
        return ast.BinOp(ast.Name(name.id, ast.Load()), statement.op, statement.value)
    return None
