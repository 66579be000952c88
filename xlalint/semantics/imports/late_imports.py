"""Modules that a function imports into a global when they are first needed: `global tf; import tensorflow as tf`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import found_in

# The statement, not the word in a text: most modules have none, and need no closer look.
_GLOBAL = re.compile(r"global[ \t\\]+[\w, \t]+(?:$|[;#\\])", re.MULTILINE)
_KINDS = frozenset({ast.Global, ast.Import, ast.Assign})


def late_imports(module: ModuleInfo) -> dict[str, str]:
    """The dotted name of the module that each such global stands for, without the globals that may be one of several."""
    if "global" not in module.text or not _has_statement(module.text):
        return {}
    found: dict[str, str] = {}
    several: set[str] = set()
    for function in module.functions:
        for name, dotted in _imported_into_globals(function):
            if found.setdefault(name, dotted) != dotted:
                several.add(name)
    return {name: dotted for name, dotted in found.items() if name not in several}


def _has_statement(text: str) -> bool:
    # What stands before is looked at afterwards: a pattern that begins with it takes ten times as long to find.
    before = (
        text[max(0, match.start() - 200) : match.start()].rstrip(" \t")[-1:]
        for match in _GLOBAL.finditer(text)
    )
    return any(last in "\n:;" for last in before)


def _imported_into_globals(function: FunctionInfo) -> Iterator[tuple[str, str]]:
    nodes = found_in(function.body, _KINDS)
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
