"""Modules that a function imports into a global when they are first needed: `global tf; import tensorflow as tf`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def late_imports(tree: ast.Module) -> dict[str, str]:
    """The dotted name of the module that each such global stands for, without the globals that may be one of several."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for function in ast.walk(tree):
        if isinstance(function, _FUNCTIONS):
            for name, dotted in _imported_into_globals(function):
                if found.setdefault(name, dotted) != dotted:
                    several.add(name)
    return {name: dotted for name, dotted in found.items() if name not in several}


def _imported_into_globals(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[str, str]]:
    nodes = [*ast.walk(function)]
    declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    if not declared:
        return
    imported: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                name = alias.asname or first
                imported[name] = alias.name if alias.asname else first
                if name in declared:
                    yield name, imported[name]
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in declared:
                    # Any other object makes it one of several.
                    yield target.id, imported.get(node.value.id, "")
