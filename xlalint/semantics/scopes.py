"""Where a name of a function is read and bound: comprehensions, lambdas and inner functions may have others called the same.

AutoGraph tells them apart as Python does: fixtures/XLA106/near_names_of_inner_scopes.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from xlalint.semantics.syntax import found_in, nodes_of

_COMPREHENSIONS = frozenset((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
_FUNCTIONS = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
_INNER = _COMPREHENSIONS | _FUNCTIONS


def reads_of(roots: Sequence[ast.AST], name: str) -> list[ast.Name]:
    """Reads of the name, those of functions defined here included, unless it is theirs."""
    found = [node for node in _named(roots, name) if isinstance(node.ctx, ast.Load)]
    return _outside(found, roots, name) if found else found


def binds(root: ast.AST, name: str) -> bool:
    """Whether a statement, or the target of one, gives the name a value in the scope that it stands in."""
    if isinstance(root, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return root.name == name
    stores = [
        node
        for node in nodes_of([root], into_functions=False)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    return bool(stores and _outside(stores, [root], name))


def _outside(found: list[ast.Name], roots: Sequence[ast.AST], name: str) -> list[ast.Name]:
    inside = {node for scope in found_in(roots, _INNER) for node in _named(_own(scope, name), name)}
    return [node for node in found if node not in inside] if inside else found


def _own(scope: ast.AST, name: str) -> Sequence[ast.AST]:
    """The parts of an inner scope in which the name is its own; none where it is that of the function around it."""
    if isinstance(scope, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        # A walrus in it binds the name around it.
        if not any(_named([each.target], name) for each in scope.generators):
            return ()
        first, *others = scope.generators
        made = (scope.key, scope.value) if isinstance(scope, ast.DictComp) else (scope.elt,)
        # What is gone through first is asked for outside.
        return (*made, first.target, *first.ifs, *others)
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return ()
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    return body if _takes(scope.args, name) or _makes(body, name) else ()


def _takes(given: ast.arguments, name: str) -> bool:
    named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return any(argument is not None and argument.arg == name for argument in named)


def _makes(body: Sequence[ast.AST], name: str) -> bool:
    shared = any(
        isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names
        for node in nodes_of(body, into_functions=False)
    )
    return not shared and any(binds(statement, name) for statement in body)


def _named(roots: Iterable[ast.AST], name: str) -> list[ast.Name]:
    return [node for node in nodes_of(roots) if isinstance(node, ast.Name) and node.id == name]
