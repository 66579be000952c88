"""Conditions that have a name: `is_short = n < 2` and then `if is_short:` asks what `if n < 2:` asks."""

from __future__ import annotations

import ast
from typing import TypeGuard

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of


def written(test: ast.expr, function: FunctionInfo | None) -> ast.expr:
    """What a named condition was assigned last, where nothing that it asks about is bound again until it is asked; any other
    test as it is.
    """
    body = function.node.body if function is not None else None
    if not isinstance(test, ast.Name) or not isinstance(body, list):
        return test
    parts = list(nodes_of(body, into_functions=False))
    before = [part for part in parts if _binds(part, {test.id}) and part.lineno < test.lineno]
    last = max((part.lineno for part in before), default=0)
    made = next((part for part in parts if _assigns(part, test, last)), None)
    if made is None:
        return test
    asked = {part.id for part in ast.walk(made.value) if isinstance(part, ast.Name)}
    is_changed = any(_binds(p, asked) and last <= p.lineno < test.lineno for p in parts)
    return test if is_changed else made.value


def _binds(part: ast.AST, names: set[str]) -> TypeGuard[ast.Name]:
    return isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names


def _assigns(part: ast.AST, test: ast.Name, line: int) -> TypeGuard[ast.Assign]:
    """Whether this is the assignment at that line, in a block around the test."""
    if not isinstance(part, ast.Assign) or part.lineno != line:
        return False
    target = part.targets[0]
    is_around = part.col_offset < test.col_offset
    return isinstance(target, ast.Name) and target.id == test.id and is_around
