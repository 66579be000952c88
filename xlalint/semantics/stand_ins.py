"""What a function puts in the place of a parameter that nobody gave: `self.fn = fn or helper`, `fn if fn is not None else helper`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def in_place_of(parameters: frozenset[str], telling: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """The names that stand in for parameters; nothing of those for which there are several."""
    found: dict[str, ast.expr] = {}
    several: set[str] = set()
    for node in telling:
        for parameter, other in _written(node):
            if parameter not in parameters or not isinstance(
                other, (ast.Name, ast.Attribute, ast.Call)
            ):
                continue
            if parameter in found and ast.dump(found[parameter]) != ast.dump(other):
                several.add(parameter)
            found[parameter] = other
    return {name: other for name, other in found.items() if name not in several}


def _written(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.BoolOp):
        first = node.values[0]
        if isinstance(node.op, ast.Or) and len(node.values) == 2 and isinstance(first, ast.Name):
            yield first.id, node.values[1]
    elif isinstance(node, ast.IfExp):
        given, missing = _asked(node.test)
        for name, kept, other in (
            (given, node.body, node.orelse),
            (missing, node.orelse, node.body),
        ):
            if name is not None and isinstance(kept, ast.Name) and kept.id == name:
                yield name, other
    elif isinstance(node, ast.If):
        _, missing = _asked(node.test)
        for part in node.body if missing is not None else ():
            if isinstance(part, ast.Assign) and len(part.targets) == 1:
                target = part.targets[0]
                if isinstance(target, ast.Name) and target.id == missing:
                    yield missing, part.value


def _asked(test: ast.expr) -> tuple[str | None, str | None]:
    """The name that a test says is given, or the one that it says is missing."""
    if isinstance(test, ast.Name):
        return test.id, None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return (None, test.operand.id) if isinstance(test.operand, ast.Name) else (None, None)
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return None, None
    other = test.comparators[0]
    if len(test.ops) > 1 or not isinstance(other, ast.Constant) or other.value is not None:
        return None, None
    if isinstance(test.ops[0], (ast.Is, ast.Eq)):
        return None, test.left.id
    return test.left.id, None
