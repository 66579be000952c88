"""What a conditional does to gradients: an arm that is not taken gives zero for what it reads, and zero times infinity is NaN.

Eager code runs one arm alone, and what only the other reads has no gradient at all. In a graph it has one, of zeros, and where it
was made by something whose derivative is infinite or NaN (`n = tf.norm(x)` at zero) these become NaN (measured, TF 2.21, tf.where,
tf.cond and AutoGraph alike). Harmless is what every arm has a gradient for in any case, and what was made by linear operations.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xlalint.fixes.asts import Function, Source, names_bound, names_read
from xlalint.fixes.numerics import (
    LIKE_BOTH,
    LIKE_FIRST,
    LINEAR,
    LINEAR_MOVES,
    LINEAR_PAIRS,
    function_name,
    has_no_gradient,
    literal,
)
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, PROJECT_MODULE

# The statements of an arm, and the expressions that it gives after them.
Arm = tuple[Sequence[ast.stmt], Sequence[ast.expr]]

# Functions that let no gradient through.
_CUT = frozenset(
    "zeros_like ones_like stop_gradient sign floor ceil round shape size rank range zeros ones constant cast".split()
)
_CONNECT = (LIKE_FIRST | LIKE_BOTH | LINEAR_MOVES | {"reduce_max", "reduce_min", "norm"}) - _CUT


def leak(source: Source, statement: ast.stmt, arms: Sequence[Arm]) -> str | None:
    """What may become of a gradient where these are the arms of a conditional at a statement, in words; None where nothing may."""
    if all(
        has_no_gradient(source, node)
        for _, results in arms
        for node in results
        if hasattr(node, "lineno")
    ):
        if all(hasattr(node, "lineno") for _, results in arms for node in results):
            return None
    somewhere = set().union(*(_may_reach(arm) for arm in arms))
    everywhere = set.intersection(*(_reaches(source, arm) for arm in arms))
    for name in sorted(somewhere - everywhere):
        nodes = [
            n
            for statements, results in arms
            for n in nodes_of([*statements, *results])
            if isinstance(n, ast.Name) and n.id == name and hasattr(n, "lineno")
        ]
        if nodes and all(_carries_none(source, n) for n in nodes):
            continue
        if may_leak(source, statement, name):
            return f"where the gradient of `{name}` is not finite, all becomes NaN, even if the arm that uses it is not taken"
    return None


def _carries_none(source: Source, node: ast.Name) -> bool:
    no_data = (FUNCTION, EXTERNAL, PROJECT_MODULE)
    return has_no_gradient(source, node) or source.value(node).kind in no_data


def _may_reach(arm: Arm) -> set[str]:
    """The names, as they were before an arm, that a gradient may flow to through it; some may be too many."""
    statements, results = arm
    bound: set[str] = set()
    found: set[str] = set()
    for statement in statements:
        found |= names_read([statement]) - bound
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            bound |= set(names_bound([statement]))
        elif isinstance(statement, ast.AugAssign):
            found |= set(names_bound([statement])) - bound
            bound |= set(names_bound([statement]))
    return found | (names_read(results) - bound)


def _reaches(source: Source, arm: Arm) -> set[str]:
    """The names, as they were before an arm, that a gradient surely flows to through it; some may be missing."""
    statements, results = arm
    wanted = set().union(*(_connected(source, node) for node in results)) if results else set()
    for statement in reversed(statements):
        bound = set(names_bound([statement]))
        if not bound & wanted:
            continue
        is_plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if (
            is_plain
            and isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
        ):
            wanted = (wanted - bound) | _connected(source, statement.value)
        elif isinstance(statement, ast.AugAssign) and not isinstance(
            statement.op, (ast.FloorDiv, ast.Mod)
        ):
            wanted |= _connected(source, statement.value)
        else:
            wanted -= bound
    return wanted


def _connected(source: Source, node: ast.expr) -> set[str]:
    """The names that an expression has a gradient for, whatever that is."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _connected(source, node.operand)
    if isinstance(node, ast.BinOp) and isinstance(
        node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult)
    ):
        return _connected(source, node.left) | _connected(source, node.right)
    if isinstance(node, ast.Subscript):
        return _connected(source, node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return (
            set().union(*(_connected(source, item) for item in node.elts)) if node.elts else set()
        )
    if isinstance(node, ast.Call) and function_name(source, node) in _CONNECT and node.args:
        first = node.args[:2] if function_name(source, node) in LIKE_BOTH else node.args[:1]
        return set().union(*(_connected(source, argument) for argument in first))
    return set()


# --- where names come from ------------------------------------------------------------------------------------------


def may_leak(source: Source, statement: ast.stmt, name: str) -> bool:
    """Whether a gradient of zero for `name` may become NaN on its way back to the parameters of the function.

    It does where the name was made by something whose derivative may be infinite or NaN; not where all that it was ever made of
    are parameters, numbers and whole numbers, by linear operations with finite factors.
    """
    function = source.function(statement)
    if function is None:
        return True
    loops = [
        at.owner for at in source.path(statement) if isinstance(at.owner, (ast.For, ast.While))
    ]
    # In a loop, what stands below has run before, too.
    end = max([statement.lineno, *(loop.end_lineno or loop.lineno for loop in loops)])
    return not _is_linear_name(source, _Scope(function, end), name, frozenset())


class _Scope(NamedTuple):
    """A function, and the line that what has run so far stands above."""

    function: Function
    end: int


def _is_linear_name(source: Source, scope: _Scope, name: str, seen: frozenset[str]) -> bool:
    if name in seen:
        return True
    for made in _made_of(scope, name):
        if made is None or not _is_linear(source, made, scope, seen | {name}):
            return False
    return True


def _made_of(scope: _Scope, name: str) -> list[ast.expr | None]:
    """All expressions that a name has been assigned so far; None for what is no plain assignment."""
    found: list[ast.expr | None] = []
    for node in nodes_of(scope.function.body):
        if getattr(node, "lineno", 0) >= scope.end:
            continue
        if isinstance(node, ast.Assign) and name in names_bound([node]):
            found += _made_by(node, name)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and name in names_bound([node]):
            if isinstance(node, ast.AugAssign):
                left = ast.copy_location(ast.Name(name, ast.Load()), node.target)
                found.append(ast.copy_location(ast.BinOp(left, node.op, node.value), node))
            else:
                found.append(node.value)
        elif isinstance(node, (ast.For, ast.With, ast.NamedExpr, ast.comprehension)):
            targets = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
            is_target = any(not isinstance(n.ctx, ast.Load) for n in targets)
            if (
                (is_target and not isinstance(node, (ast.For, ast.With)))
                or (isinstance(node, ast.For) and name in names_bound([node.target]))
                or (
                    isinstance(node, ast.With)
                    and name
                    in names_bound([i.optional_vars for i in node.items if i.optional_vars])
                )
            ):
                found.append(None)
    return found


def _made_by(node: ast.Assign, name: str) -> list[ast.expr | None]:
    found: list[ast.expr | None] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            found += [node.value] if target.id == name else []
        elif name in names_bound([target]):
            pair = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            if pair and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                if len(target.elts) == len(node.value.elts):
                    both = zip(target.elts, node.value.elts)
                    found += [v for t, v in both if isinstance(t, ast.Name) and t.id == name]
                    continue
            found.append(None)
    return found


def _is_linear(source: Source, node: ast.expr, scope: _Scope, seen: frozenset[str]) -> bool:
    def all_linear(nodes: Iterable[ast.expr]) -> bool:
        return all(_is_linear(source, inner, scope, seen) for inner in nodes)

    if isinstance(node, ast.Constant) or has_no_gradient(source, node):
        return True
    if isinstance(node, ast.Name):
        return _is_linear_name(source, scope, node.id, seen)
    if isinstance(node, ast.Attribute):
        return True  # a variable of the object, or a number
    if isinstance(node, ast.UnaryOp):
        return all_linear([node.operand])
    if isinstance(node, (ast.Tuple, ast.List)):
        return all_linear(node.elts)
    if isinstance(node, ast.Subscript):
        return all_linear([node.value])
    if isinstance(node, ast.BinOp):
        return _is_linear_operation(source, node) and all_linear([node.left, node.right])
    if isinstance(node, ast.Call):
        name = function_name(source, node)
        if name in ("stop_gradient", "zeros_like", "ones_like", "zeros", "ones"):
            return True
        if name == "where":
            return all_linear(node.args[1:])
        if name in LINEAR or name in LINEAR_PAIRS or name in LINEAR_MOVES:
            settings = ("axis", "dtype", "name", "keepdims")
            return all_linear(
                [*node.args, *(k.value for k in node.keywords if k.arg not in settings)]
            )
    return False


def _is_linear_operation(source: Source, node: ast.BinOp) -> bool:
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return True
    left, right = literal(source, node.left), literal(source, node.right)
    if isinstance(node.op, ast.Mult):
        return any(number is not None and math.isfinite(number) for number in (left, right))
    return (
        isinstance(node.op, ast.Div) and right is not None and right != 0 and math.isfinite(right)
    )
