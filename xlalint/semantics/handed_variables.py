"""Variables that a constructor is handed: nothing says that `self.step` is one but that a method counts it up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from xlalint.semantics.index import ClassInfo, FunctionInfo

_ASSIGN = frozenset({"assign", "assign_add", "assign_sub"})


def of_class(line: Iterable[ClassInfo]) -> frozenset[str]:
    """The attributes that a class, of which `line` are itself and its bases, is handed and assigns to as to variables."""
    methods = [method for cls in line for method in cls.methods.values()]
    assigned = {
        name
        for method in methods
        if method.module.mentions(".assign")
        for name in _assigned_to(method.calls)
    }
    if not assigned:
        return frozenset()
    handed: dict[str, bool] = {}
    for method in methods:
        for name, value in _set_in(method):
            is_handed = method.name == "__init__" and isinstance(value, ast.Name)
            handed[name] = handed.get(name, True) and is_handed
    return frozenset(name for name in assigned if handed.get(name))


def _assigned_to(calls: Iterable[ast.Call]) -> Iterator[str]:
    for call in calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _ASSIGN and len(call.args) == 1:
            if _is_own(func.value):
                yield func.value.attr


def _set_in(method: FunctionInfo) -> Iterator[tuple[str, ast.expr]]:
    for statement in method.telling:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if _is_own(target):
                    yield target.attr, statement.value


def _is_own(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )
