"""Walking syntax trees quickly: `ast.walk` spends most of its time asking each node for its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any


def nodes_of(roots: Iterable[ast.AST], *, into_functions: bool = True) -> Iterator[ast.AST]:
    """Every statement and expression under `roots`, and what is between them (arguments, `except`, comprehensions...).

    In no particular order; without the insides of functions and classes if so asked.
    """
    pending: list[Any] = list(roots)
    while pending:
        node = pending.pop()
        kind = node.__class__
        children = _CHILDREN.get(kind)
        if children is None:
            continue  # an entry of a list that is a name, or nothing: `{**x}` has no key there
        yield node
        if not into_functions and kind in _SCOPES:
            continue
        for name in children:
            value = getattr(node, name)
            if value.__class__ is list:
                pending += value
            elif value is not None:
                pending.append(value)


def found_in(roots: Iterable[ast.AST], kinds: frozenset[type[ast.AST]]) -> list[ast.AST]:
    """Those of the nodes that `nodes_of` passes that are of some kinds, in the same order."""
    found: list[ast.AST] = []
    pending: list[Any] = list(roots)
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind in kinds:
            found.append(node)
        for name in _CHILDREN.get(kind, ()):
            value = getattr(node, name)
            if value.__class__ is list:
                pending += value
            else:
                pending.append(value)
    return found


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes directly under one, of those that `nodes_of` passes, in the order of the text."""
    found: list[ast.AST] = []
    for name in _CHILDREN[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is list:
            found += [child for child in value if child.__class__ in _CHILDREN]
        elif value is not None:
            found.append(value)
    return found


def in_order(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, those of a `with` in its place: what runs once, one after the other."""
    for statement in block:
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from in_order(statement.body)
        else:
            yield statement


def size_up_to(most: int, root: ast.AST) -> int:
    """How many nodes a tree has, as `ast.walk` counts them; `most` where it has more."""
    count = 0
    pending: list[Any] = [root]
    while pending and count < most:
        node = pending.pop()
        count += 1
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                pending.append(value)
    return count


_SCOPES = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
# Fields that hold text, numbers, or nodes that say no more than their parent: operators, and whether a name is read.
_NOT_WALKED = frozenset(
    "arg asname attr cls conversion ctx id is_async kind level lineno module n name op ops rest s simple tag type_comment".split()
)
_CHILDREN = {
    kind: ()
    if issubclass(kind, ast.Constant)
    else tuple(name for name in kind._fields if name not in _NOT_WALKED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def words_of(node: ast.AST) -> tuple[str, ...]:
    """What a single node spells: a name, an attribute, or a text."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ()


def passed_for(node: ast.AST, position: int, *names: str) -> ast.expr | None:
    """The expression that a call passes for a parameter, by position or by one of these names; None where it cannot be told."""
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    return node.args[position] if position < len(node.args) else None


def is_ellipsis(part: ast.expr) -> bool:
    """The `...` of `x[..., 0]`."""
    return isinstance(part, ast.Constant) and part.value is Ellipsis


def called_name(call: ast.Call) -> str:
    """The last part of the name that a call calls: `gather` of `tf.gather(x, i)`, nothing of `f()()`."""
    return last_name(call.func)


def receiver_name(node: ast.AST) -> str:
    """The last part of the name of what a method is called of: `teacher` of `self.teacher.predict(x)`."""
    method = node.func if isinstance(node, ast.Call) else None
    return last_name(method.value) if isinstance(method, ast.Attribute) else ""


def last_name(node: ast.AST) -> str:
    """`kernel` of `self.dense.kernel`, `x` of `x`, nothing of what has no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
