"""Methods that leave a part to the classes that inherit them (`raise NotImplementedError`): what they do is known of these alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xlalint.semantics.classes import ClassTable
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo


def heirs(
    modules: Iterable[ModuleInfo], classes: ClassTable
) -> dict[FunctionInfo, list[ClassInfo]]:
    """By method that calls a part which its own class leaves open, the classes that inherit it and fill that part in."""
    found: dict[FunctionInfo, list[ClassInfo]] = {}
    for module in modules:
        for cls in module.classes:
            seen = set(cls.methods)
            for ancestor in classes.line(cls)[1:]:
                filled = {
                    name for name, m in ancestor.methods.items() if name in seen and is_open(m)
                }
                for method in ancestor.methods.values() if filled else ():
                    if method.name not in seen and not method.attributes.of_self.isdisjoint(filled):
                        found.setdefault(method, []).append(cls)
                seen.update(ancestor.methods)
    return found


def is_open(method: FunctionInfo) -> bool:
    """Whether a method holds nothing but its description, `pass`, `...`, a `raise` or `return NotImplementedError`."""
    body = method.node.body
    return isinstance(body, list) and all(map(_says_nothing, body))


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return) and statement.value is not None:
        value = statement.value.func if isinstance(statement.value, ast.Call) else statement.value
        return isinstance(value, ast.Name) and value.id in ("NotImplemented", "NotImplementedError")
    return isinstance(statement, (ast.Pass, ast.Raise)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
