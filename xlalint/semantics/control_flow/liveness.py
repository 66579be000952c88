"""Whether a name is still read after a statement: AutoGraph carries only live names out of a conditional or a loop.

Measured on TensorFlow 2.21: a name that only one arm binds, or that the arms leave with different dtypes, is an error where it
is read later, and nothing at all where it is not.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xlalint.semantics.scopes import binds, reads_of
from xlalint.semantics.syntax import nodes_of

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Position(NamedTuple):
    """A statement by its block: `block[place]`, and the statement that holds the block (None for a function's body)."""

    block: Sequence[ast.stmt]
    place: int
    owner: ast.stmt | None


def path_to(body: Sequence[ast.stmt], statement: ast.stmt) -> tuple[Position, ...]:
    """The blocks around a statement, innermost last; empty when it is not in `body`.

    An `if` that was joined with the rest of its block (the same test, another node) stands at the end of that block.
    """
    line = statement.lineno
    return _search(body, statement, line, None) or ()


def _search(
    block: Sequence[ast.stmt], wanted: ast.stmt, line: int, owner: ast.stmt | None
) -> tuple[Position, ...] | None:
    for index, statement in enumerate(block):
        if statement is wanted:
            return (Position(block, index, owner),)
        if isinstance(statement, ast.If) and statement.test is getattr(wanted, "test", None):
            return (Position(block, len(block) - 1, owner),)
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            for inner in _blocks(statement):
                found = _search(inner, wanted, line, statement)
                if found is not None:
                    return (Position(block, index, owner), *found)
    return None


def _blocks(statement: ast.stmt) -> list[Sequence[ast.stmt]]:
    found: list[Sequence[ast.stmt]] = [
        getattr(statement, name)
        for name in ("body", "orelse", "finalbody")
        if isinstance(getattr(statement, name, None), list)
    ]
    found += [handler.body for handler in getattr(statement, "handlers", ())]
    found += [case.body for case in getattr(statement, "cases", ())]
    return found


def is_live_after(body: Sequence[ast.stmt], statement: ast.stmt, name: str) -> bool:
    """Whether some way from the end of `statement` reads `name` before it is bound again."""
    leaves: ast.stmt | None = None
    for block, place, owner in reversed(path_to(body, statement)):
        if leaves is None:
            rest, leaves = _until_jump(block[place + 1 :])
            found = _first_use(rest, name)
            if found is not None:
                return found
        if isinstance(owner, _LOOPS) and block is owner.body:
            if not isinstance(leaves, ast.Break) and _read_by_next_pass(owner, name):
                return True
            leaves = None
    return False


def _until_jump(block: Sequence[ast.stmt]) -> tuple[Sequence[ast.stmt], ast.stmt | None]:
    """The statements of a block up to its `break` or `continue`, and that."""
    for place, statement in enumerate(block):
        if isinstance(statement, (ast.Break, ast.Continue)):
            return block[:place], statement
    return block, None


def is_carried(
    body: Sequence[ast.stmt], loop: ast.For | ast.AsyncFor | ast.While, name: str
) -> bool:
    """Whether one step of a loop hands `name` to the next, or to what follows the loop; a name of one step alone may change.

    What a `for` goes over AutoGraph counts as read by the loop, though it is read once: `for x in x` changes the shape of `x`.
    """
    if not isinstance(loop, ast.While) and _reads(loop.iter, name):
        return True
    return _read_by_next_pass(loop, name) or is_live_after(body, loop, name)


def _read_by_next_pass(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> bool:
    if isinstance(loop, ast.While) and _reads(loop.test, name):
        return True
    if not isinstance(loop, ast.While) and binds(loop.target, name):
        return False
    return _first_use(loop.body, name) is True


def _first_use(block: Sequence[ast.stmt], name: str) -> bool | None:
    """True: read first on some way through the block. False: bound first on all, or the block is left. None: neither."""
    for statement in block:
        found = _use_in(statement, name)
        if found is not None:
            return found
    return None


def _use_in(statement: ast.stmt, name: str) -> bool | None:
    if isinstance(statement, ast.If):
        return _either(
            statement.test,
            (_first_use(statement.body, name), _first_use(statement.orelse, name)),
            name,
        )
    if isinstance(statement, ast.While):
        passes = (_first_use(statement.body, name), _first_use(statement.orelse, name), None)
        return _either(statement.test, passes, name)
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        bound = binds(statement.target, name)
        inside = (False if bound else _first_use(statement.body, name), None)
        return _either(statement.iter, inside, name)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        if any(_reads(item.context_expr, name) for item in statement.items):
            return True
        if any(
            i.optional_vars is not None and binds(i.optional_vars, name) for i in statement.items
        ):
            return False
        return _first_use(statement.body, name)
    if isinstance(statement, (ast.Try, ast.Match)):
        ways = [_first_use(inner, name) for inner in _blocks(statement)]
        return True if True in ways else None
    if _reads(statement, name):
        return True
    leaves = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    if isinstance(statement, leaves) or binds(statement, name):
        return False
    return None


def _either(test: ast.expr, ways: Sequence[bool | None], name: str) -> bool | None:
    if _reads(test, name) or True in ways:
        return True
    return False if all(way is False for way in ways) else None


def _reads(root: ast.AST, name: str) -> bool:
    """Whether the name is read, here or in functions defined here; `x += 1` reads `x`, too."""
    if isinstance(root, ast.AugAssign) and isinstance(root.target, ast.Name):
        if root.target.id == name:
            return True
    return bool(reads_of([root], name))


def is_shared(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether the function declares the name `global` or `nonlocal`: AutoGraph leaves such names to Python."""
    return any(
        isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names
        for node in nodes_of(body, into_functions=False)
    )


def binds_in(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether a block binds a name by itself, in whatever way an assignment can."""
    return any(binds(statement, name) for statement in block)


def reads_first(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether some way through a block reads a name before it binds it."""
    return _first_use(block, name) is True
