"""What the names of a module stand for by its imports, wherever in the module these are, read off its syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The dotted name that each imported name stands for; without the names that are bound in another way, too."""
    found: dict[str, str] = {}
    others: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known = {a.asname or a.name.split(".")[0]: a for a in node.names}
            pairs = [(name, a.name if a.asname else name) for name, a in known.items()]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            pairs = [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names]
        else:
            others.update(_bound_by(node))
            continue
        for name, dotted in pairs:
            if found.setdefault(name, dotted) != dotted:
                others.add(name)
    return {name: dotted for name, dotted in found.items() if name not in others}


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
