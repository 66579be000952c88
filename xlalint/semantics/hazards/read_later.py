"""Whether what the body of a loop or conditional puts into a list or dictionary around it is read there afterwards.

A tensor made in the body is out of reach then; another item of the same dictionary is not, and neither is the same item once
it has been assigned anew (measured, TensorFlow 2.21: fixtures/XLA107/near_items_of_one_dictionary.py).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.scopes import reads_of
from xlalint.semantics.syntax import nodes_of

# Methods that read one item of a dictionary.
_OF_ONE_ITEM = ("get", "pop", "setdefault")


def item_of(node: ast.AST) -> Hashable | None:
    """`"targets"` of `features["targets"] = ...`; None where the key is not written there."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value
    return None


def is_read(
    outer: FunctionInfo,
    body: FunctionInfo | None,
    node: ast.AST,
    name: str,
    item: Hashable | None,
) -> bool:
    """Whether `outer` reads `name` below the last call that is handed the body, in which `node` puts something into it.

    With `item`, whether it reads that item of the dictionary `name`, or all of them.
    """
    after = _end_of_calls(outer, body, node)
    statements = outer.node.body if isinstance(outer.node.body, list) else [outer.node.body]
    if item is None:
        return any(part.lineno > after for part in reads_of(statements, name))
    return is_item_read(statements, name, item, after)


def is_item_read(
    statements: Sequence[ast.stmt | ast.expr], name: str, item: Hashable, after: int
) -> bool:
    """Whether statements below the line `after` read an item of the dictionary `name`, or all of them, before it is assigned anew."""
    for statement in statements:
        if (statement.end_lineno or statement.lineno) <= after:
            continue
        if any(line > after for line in _reads_of_item([statement], name, item)):
            return True
        if isinstance(statement, ast.Assign) and any(
            _is_of(target, name) and item_of(target) == item for target in statement.targets
        ):
            return False
    return False


def _end_of_calls(outer: FunctionInfo, body: FunctionInfo | None, node: ast.AST) -> int:
    """The line where the last call ends that is handed a body by its name: what stands above it was read before the body ran."""
    lines = [getattr(node, "lineno", 0)]
    for passed, _, callee in outer.uses.passed:
        if body is not None and passed == body.name:
            lines.append(_end_of_call(callee, outer))
    return max(lines)


def _end_of_call(callee: ast.expr, outer: FunctionInfo) -> int:
    call = next((call for call in outer.calls if call.func is callee), None)
    return 0 if call is None else call.end_lineno or call.lineno


def _reads_of_item(statements: Sequence[ast.AST], name: str, item: Hashable) -> Iterator[int]:
    """The lines that read an item of a dictionary, or all of it. What a function does that is handed it is not known."""
    others: set[ast.AST] = set()
    for part in nodes_of(statements):
        if isinstance(part, ast.Subscript) and _is_of(part, name):
            is_another = isinstance(part.slice, ast.Constant) and item_of(part) != item
            if is_another or not isinstance(part.ctx, ast.Load):
                others.add(part.value)
        elif isinstance(part, ast.Call):
            others.update(part.args)
            others.update(keyword.value for keyword in part.keywords if keyword.arg)
            if isinstance(part.func, ast.Attribute) and part.func.attr in _OF_ONE_ITEM:
                first = part.args[0] if part.args else None
                if isinstance(first, ast.Constant) and first.value != item:
                    others.add(part.func.value)
        elif isinstance(part, ast.Compare):
            others.update(part.comparators)
    for read in reads_of(statements, name):
        if read not in others:
            yield read.lineno


def _is_of(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )
