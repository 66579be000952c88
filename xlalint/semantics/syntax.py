"""Walking syntax trees quickly: `ast.walk` spends most of its time asking each node for its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def nodes_of(roots: Iterable[ast.AST], *, into_functions: bool = True) -> Iterator[ast.AST]:
    """Every node under `roots`, in no particular order; without the insides of functions and classes if so asked."""
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        if not into_functions and isinstance(node, _SCOPES):
            continue
        for value in node.__dict__.values():
            if value.__class__ is list:
                pending.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST):
                pending.append(value)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
