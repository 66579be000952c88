"""What the names of a module stand for by its imports, wherever in the module these are, read off its syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

# Where statements, handlers and cases hold other statements, which may be imports.
_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(
        name
        for name in ("body", "orelse", "finalbody", "handlers", "cases")
        if name in kind._fields
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, (ast.stmt, ast.ExceptHandler, ast.match_case))
}


def imports_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each imported name with the dotted name that it stands for. Relative imports are the project's own, and left out."""
    pending: list[ast.AST] = [*tree.body]
    while pending:
        node = pending.pop()
        for block in _BLOCKS[node.__class__]:
            pending += getattr(node, block)
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The dotted name that each imported name stands for; without the names that are bound in another way, too."""
    found: dict[str, str] = {}
    others = {name for node in ast.walk(tree) for name in _bound_by(node)}
    for name, dotted in imports_in(tree):
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


class Names(NamedTuple):
    """What the names of a module were imported as, and what each plain name of it was last assigned."""

    imported: dict[str, str]
    assigned: dict[str, ast.expr]

    def dotted(self, node: ast.AST) -> str:
        """`tensorflow_hub.KerasLayer` for `hub.KerasLayer`; empty for what no import leads to."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imported:
            return ""
        return ".".join((self.imported[node.id], *reversed(tail)))

    def called(self, node: ast.AST) -> str:
        """What was called to make this expression, also by way of a name."""
        if isinstance(node, ast.Name):
            node = self.assigned.get(node.id, node)
        return self.dotted(node.func) if isinstance(node, ast.Call) else ""
