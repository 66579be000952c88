"""What one pass of a loop hands to the next: the names that its body may read before it binds them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xlalint.semantics.control_flow.loops import Loop
from xlalint.semantics.syntax import found_in

_NAMES = frozenset({ast.Name, ast.AugAssign})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Names(NamedTuple):
    """The names that a loop's body binds, and those that some way through a pass reads before that pass binds them."""

    bound: frozenset[str]
    read_first: frozenset[str]


class Carried:
    """The names of loops, each read once."""

    def __init__(self) -> None:
        self._known: dict[Loop, Names] = {}

    def hands_on(self, loop: Loop, changed: Iterable[str]) -> bool:
        """Whether a pass may see what the one before it left in one of these names."""
        known = self.names(loop)
        # What changes and is not bound here, functions that are called have changed, and may read; so do attributes.
        return any(name in known.read_first or name not in known.bound for name in changed)

    def names(self, loop: Loop) -> Names:
        """What the loop's body binds and reads."""
        known = self._known.get(loop)
        if known is None:
            known = self._known[loop] = _names_of(loop)
        return known


def _names_of(loop: Loop) -> Names:
    reader = _Reader()
    if isinstance(loop, ast.While):
        reader.read([loop.test], set())
        reader.block(loop.body, set())
        return Names(frozenset(_bound_by(loop.body)), frozenset(reader.found))
    reader.block(loop.body, _bound_by([loop.target]))
    return Names(frozenset(_bound_by([loop.target, *loop.body])), frozenset(reader.found))


class _Reader:
    """Goes through statements in their order; what is bound on some ways alone does not count as bound."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def read(self, roots: Iterable[ast.AST], bound: set[str]) -> set[str]:
        """Note what expressions read, and functions that are defined here whenever they run; what they bind is returned."""
        binds: set[str] = set()
        for node in found_in(roots, _NAMES):
            if isinstance(node, ast.AugAssign):
                if isinstance(node.target, ast.Name) and node.target.id not in bound:
                    self.found.add(node.target.id)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                binds.add(node.id)
            elif isinstance(node, ast.Name) and node.id not in bound:
                self.found.add(node.id)
        return binds

    def block(self, statements: Sequence[ast.stmt], bound: set[str]) -> None:
        """Read statements one after the other, adding to `bound` what they bind."""
        for statement in statements:
            self._statement(statement, bound)

    def _statement(self, node: ast.stmt, bound: set[str]) -> None:
        if isinstance(node, ast.If):
            self.read([node.test], bound)
            arms = [set(bound), set(bound)]
            self.block(node.body, arms[0])
            self.block(node.orelse, arms[1])
            bound |= arms[0] & arms[1]
        elif isinstance(node, ast.While):
            self.read([node.test], bound)
            self.block([*node.body, *node.orelse], set(bound))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.read([node.iter], bound)
            self.block(node.body, bound | _bound_by([node.target]))
            self.block(node.orelse, set(bound))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.read([item.context_expr], bound)
                if item.optional_vars is not None:
                    bound |= _bound_by([item.optional_vars])
            self.block(node.body, bound)
        elif isinstance(node, (ast.Try, ast.Match)):
            # On which way one comes here is not known: whatever they read may be read first.
            self.read([node], bound)
        else:
            binds = self.read([node], bound)
            bound |= {node.name} if isinstance(node, _FUNCTIONS) else binds


def _bound_by(roots: Iterable[ast.AST]) -> set[str]:
    names = found_in(roots, _NAMES)
    return {n.id for n in names if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
