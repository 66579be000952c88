"""Arms of a conditional of the graph of which one returns and the other never does.

AutoGraph makes a name of what is returned and a flag of that something was. Of the statements after a conditional it makes the arm
that does not return, but only of those in the same block, and only where the other arm returns on every way that it reads: a `return` under
one more `if`, in a loop or in `try` is none. Where one arm returns and the other does not, TensorFlow stops while tracing:
`the else branch must also have a return statement`; also where Python's `if` around the `return` is never taken, as the flag is a
tensor from there on (fixtures/XLA106/flagged_returns_of_one_arm.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.control_flow.liveness import path_to
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import nodes_of

_WITH = (ast.With, ast.AsyncWith)


def returns_in_one_arm(node: ast.If, frame: Frame) -> bool:
    """Whether AutoGraph finds a `return` in one arm of this conditional, and none in the other.

    Not where a conditional or a loop of the graph in that arm is what it stands in, or where the other arm raises: then that is said.
    """
    body = frame.function.node.body if frame.function is not None else None
    if not isinstance(body, list) or not _has_return([node]):
        return False
    path = path_to(body, node)
    if not path:
        return False
    rest = path[-1].block[path[-1].place + 1 :]
    first, second = node.body, node.orelse
    if _returns(first):
        second = [*second, *rest]
    elif _returns(second):
        first = [*first, *rest]
    returning, other = (first, second) if _has_return(first) else (second, first)
    if _has_return(other) or any(isinstance(statement, ast.Raise) for statement in other):
        return False
    inside = list(nodes_of(returning, into_functions=False))
    return not any(
        n in frame.one_armed or (n in frame.graph_loops and _may_return(n)) for n in inside
    )


def _may_return(loop: ast.AST) -> bool:
    """Whether a step returns under a condition."""
    inside = nodes_of([loop], into_functions=False)
    return any(isinstance(n, ast.If) and _has_return([n]) for n in inside)


def _returns(block: Sequence[ast.stmt]) -> bool:
    """Whether a block returns on every way, as AutoGraph reads it."""
    return any(_is_return(statement) for statement in block)


def _is_return(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return _returns(statement.body) and _returns(statement.orelse)
    if isinstance(statement, _WITH):
        return _returns(statement.body)
    return isinstance(statement, ast.Return)


def _has_return(block: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for node in nodes_of(block, into_functions=False))
