"""Modules that a function of the project hands out: `tf1, tf, tfv = try_import_tf()`, `nn = _clone_module(nn)`.

What it returns where TensorFlow is not there, None or a stand-in, says nothing of code that runs with it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import canonical
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, NOTHING_KNOWN, SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

_ROOTS = frozenset({"tf", "keras", "tf_keras", "tensorflow_probability"})


def of_assigned(target: ast.expr, call: ast.Call, value: Value, frame: Frame) -> Value:
    """What a call that a module's body assigns gives, with the modules in their places; `value` as it is, of any other call."""
    if not call.args:
        called = frame.analysis.evaluate(call.func, frame)
        is_own = called.kind is FUNCTION and isinstance(called.ref, FunctionInfo)
        return _with_modules(value, _names(called.ref)) if is_own else value
    given = call.args[0]
    if value != NOTHING_KNOWN or not (isinstance(target, ast.Name) and isinstance(given, ast.Name)):
        return value
    # What wraps a module is as good as what was imported under its name.
    if given.id != target.id or len(call.args) != 1:
        return value
    wrapped = frame.analysis.evaluate(given, frame)
    return wrapped if wrapped.kind is EXTERNAL else value


def _with_modules(value: Value, names: tuple[str | None, ...]) -> Value:
    if not any(names):
        return value
    if len(names) == 1:
        return value if value.kind is EXTERNAL else _module(names[0]) or value
    items = value.ref if value.kind is SEQUENCE and len(value.ref) == len(names) else ()
    items = items or (Value(),) * len(names)
    return Value(SEQUENCE, ref=tuple(_module(n) or item for n, item in zip(names, items)))


def _module(name: str | None) -> Value | None:
    return None if name is None else Value(EXTERNAL, ref=canonical(name))


def _names(info: FunctionInfo) -> tuple[str | None, ...]:
    """By place in what the function returns last, the module of TensorFlow that it imports under the name that stands there."""
    imported: dict[str, str] = {}
    made: dict[str, ast.expr] = {}
    returned: list[ast.expr] = []
    for node in nodes_of(info.body, into_functions=False):
        if isinstance(node, ast.Import):
            imported |= {each.asname: each.name for each in node.names if each.asname}
            imported |= {each.name: each.name for each in node.names if "." not in each.name}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.Attribute):
                made.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.Return) and node.value is not None:
            returned.append(node.value)
    if not any(canonical(name).partition(".")[0] in _ROOTS for name in imported.values()):
        return ()
    last = max(returned, key=lambda value: value.lineno, default=None)
    if last is None:
        return ()
    parts = last.elts if isinstance(last, ast.Tuple) else [last]
    return tuple(_dotted(part, imported, made) for part in parts)


def _dotted(node: ast.expr, imported: dict[str, str], made: dict[str, ast.expr]) -> str | None:
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, imported, {})
        return None if owner is None else f"{owner}.{node.attr}"
    if not isinstance(node, ast.Name):
        return None
    if node.id in imported:
        found = imported[node.id]
        return found if canonical(found).partition(".")[0] in _ROOTS else None
    return _dotted(made[node.id], imported, {}) if node.id in made else None
