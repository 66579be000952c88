"""Variables of an open shape that compiled code makes longer: `memory.assign(tf.concat([x, memory], 0))`.

`tf.Variable(..., shape=[None, 8])` may be assigned tensors of other sizes, and tf.function traces that. XLA refuses it: "Shape
of resource ... cannot be changed after initialization" (TensorFlow 2.12 to 2.21: fixtures/XLA205/flagged_longer_variables.py).
"""

from __future__ import annotations

import ast

from xlalint.semantics.control_flow.growth import CONCATENATIONS
from xlalint.semantics.facts import GROWING_ARRAY
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results.variables import EMPTY_AND_OPEN, OPEN
from xlalint.semantics.values import EXTERNAL, VARIABLE, Value

_READS = frozenset({"value", "read_value"})
_STEPS = 6


def note(variable: Value, node: ast.AST, frame: Frame) -> None:
    """What `node`, a call of `assign`, makes of a variable whose shape is open.

    With `[:n]` behind it, only what starts without rows surely grows: the rest may have as many as it keeps.
    """
    if variable.kind is not VARIABLE or variable.ref not in (OPEN, EMPTY_AND_OPEN):
        return
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    given = node.args[0] if node.args else None
    if given is None or frame.function is None:
        return
    made, is_cut = _made(given, node.lineno, frame.function)
    if is_cut and variable.ref != EMPTY_AND_OPEN:
        return
    if _joins(made, ast.dump(node.func.value), frame):
        frame.analysis.note(frame, node, GROWING_ARRAY, variable, "variable")


def _made(given: ast.expr, line: int, function: FunctionInfo) -> tuple[ast.expr, bool]:
    """The expression behind names and slices, and whether a slice cuts it. Names may be those of the functions around."""
    is_cut = False
    home: FunctionInfo | None = function
    for _ in range(_STEPS):
        if isinstance(given, ast.Subscript):
            given, is_cut = given.value, True
        elif isinstance(given, ast.Name) and home is not None:
            found = _last_assigned(given.id, line, home)
            if found is not None:
                given, line = found.value, found.lineno
            elif _stores(given.id, home):
                break
            else:
                line, home = home.node.lineno, home.parent
        else:
            break
    return given, is_cut


def _last_assigned(name: str, line: int, function: FunctionInfo) -> ast.Assign | None:
    """The statement before that line that gives a name its value, where nothing but such statements does so before it."""
    if isinstance(function.node, ast.Lambda):
        return None
    plain = [
        part
        for part in function.node.body
        if isinstance(part, ast.Assign) and [_id(target) for target in part.targets] == [name]
    ]
    before = [part for part in plain if part.lineno < line]
    if len(before) != sum(at < line for at in _stores(name, function)):
        return None
    return before[-1] if before else None


def _stores(name: str, function: FunctionInfo) -> list[int]:
    """The lines of a function that bind a name, its parameters included."""
    return [
        part.lineno
        for part in ast.walk(function.node)
        if (isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store))
        or (isinstance(part, ast.arg) and part.arg == name)
    ]


def _id(target: ast.expr) -> str | None:
    return target.id if isinstance(target, ast.Name) else None


def _joins(node: ast.expr, variable: str, frame: Frame) -> bool:
    """Whether it is `tf.concat` of the variable, as that is written, and something else."""
    if not isinstance(node, ast.Call):
        return False
    values = [*node.args[:1], *(k.value for k in node.keywords if k.arg in ("values", "xs"))]
    joined = values[0] if values else None
    if not isinstance(joined, (ast.List, ast.Tuple)) or len(joined.elts) < 2:
        return False
    if not any(ast.dump(_read(item)) == variable for item in joined.elts):
        return False
    target = frame.analysis.evaluate(node.func, frame)
    return target.kind is EXTERNAL and str(target.ref) in CONCATENATIONS


def _read(item: ast.expr) -> ast.expr:
    """The variable of `variable.read_value()`."""
    if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute):
        return item.func.value if item.func.attr in _READS else item
    return item
