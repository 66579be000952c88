"""How often a loop may run, where its own code says so: it counts, and stops at a number that Python knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlalint.fixes.asts import Source, assigned_before, names_bound
from xlalint.fixes.numerics import literal
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import PYTHON

_SMALLER = (ast.Lt, ast.LtE)
_LARGER = (ast.Gt, ast.GtE)


@dataclass(frozen=True, slots=True)
class _Limit:
    """`counter < limit` as one of the conditions under which a loop goes on."""

    counter: str
    limit: ast.expr
    is_included: bool


def of_while(source: Source, loop: ast.While) -> str | None:
    """The most steps of a Python `while`, as code; None where it does not say."""
    if any(isinstance(n, ast.Continue) for n in nodes_of(loop.body, into_functions=False)):
        return None
    for limit in _limits(source, loop.test):
        start = assigned_from(source, loop, limit.counter)
        if start is None or not _is_static(source, limit.limit, loop.body):
            continue
        if _counts_up(source, loop.body, limit.counter):
            return steps(source, start, limit)
    return None


def _limits(source: Source, test: ast.expr) -> Iterator[_Limit]:
    """The limits that all have to hold for the loop to go on."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _limits(source, part)
    elif isinstance(test, ast.Call) and (source.api(test) or "").endswith("logical_and"):
        for part in test.args:
            yield from _limits(source, part)
    elif isinstance(test, ast.Call) and len(test.args) == 2:
        name = (source.api(test) or "").rpartition(".")[2]
        if name in ("less", "less_equal") and isinstance(test.args[0], ast.Name):
            yield _Limit(test.args[0].id, test.args[1], name == "less_equal")
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, operation, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(left, ast.Name) and isinstance(operation, _SMALLER):
            yield _Limit(left.id, right, isinstance(operation, ast.LtE))
        elif isinstance(right, ast.Name) and isinstance(operation, _LARGER):
            yield _Limit(right.id, left, isinstance(operation, ast.GtE))


def assigned_from(source: Source, loop: ast.For | ast.While, name: str) -> int | None:
    """The whole number that a name has when a loop begins: of Python, or a constant tensor."""
    for at in source.path(loop)[:-1]:
        if isinstance(at.owner, (ast.For, ast.While)) and name in names_bound([at.owner]):
            # Set anew before each run of the inner loop it still is what it was set to.
            break
    path = source.path(loop)
    if not path:
        return None
    made: ast.expr | None = None
    for before in path[-1].block[: path[-1].place]:
        if name in names_bound([before]):
            is_plain = isinstance(before, ast.Assign) and len(before.targets) == 1
            made = None
            if is_plain and isinstance(before, ast.Assign):
                made = _value_for(before.targets[0], before.value, name)
    made = made or assigned_before(source, loop, name)
    return whole(source, made) if made is not None else None


def _value_for(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    if isinstance(target, ast.Name):
        return value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if len(target.elts) == len(value.elts):
            for one, made in zip(target.elts, value.elts):
                if isinstance(one, ast.Name) and one.id == name:
                    return made
    return None


def whole(source: Source, node: ast.expr) -> int | None:
    """The whole number that an expression is: `0`, `tf.constant(0)`."""
    number = literal(source, node)
    if number is None and isinstance(node, ast.Call) and node.args:
        if source.api(node) in ("tf.constant", "tf.convert_to_tensor"):
            number = literal(source, node.args[0])
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    return number if is_whole and isinstance(number, int) else None


def _is_static(source: Source, limit: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """Whether a limit is a number of Python's that the loop does not change."""
    is_simple = isinstance(limit, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript))
    if not is_simple or source.value(limit).kind != PYTHON:
        return isinstance(limit, ast.Constant) and isinstance(limit.value, int)
    if isinstance(limit, ast.Name) and limit.id in names_bound(body):
        return False
    number = literal(source, limit)
    return number is None or isinstance(number, int)


def _counts_up(source: Source, body: Sequence[ast.stmt], name: str) -> bool:
    """Whether each step adds a whole number to a name, once and in any case."""
    writers = [
        node
        for node in nodes_of(body, into_functions=False)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    return len(writers) == 1 and any(adds(source, statement, name) for statement in body)


def adds(source: Source, statement: ast.stmt, name: str) -> bool:
    """`name += 1`, `name = name + 1`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        is_it = isinstance(statement.target, ast.Name) and statement.target.id == name
        return is_it and _is_step(source, statement.value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return (
            isinstance(target, ast.Name)
            and target.id == name
            and is_next(source, statement.value, name)
        )
    return False


def is_next(source: Source, value: ast.expr, name: str) -> bool:
    """`name + 1`, `1 + name`, `tf.add(name, 1)`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        pair = [value.left, value.right]
    elif isinstance(value, ast.Call) and (source.api(value) or "").endswith(".add"):
        pair = list(value.args[:2])
    else:
        return False
    is_name = [isinstance(part, ast.Name) and part.id == name for part in pair]
    others = [part for part, named in zip(pair, is_name) if not named]
    return len(pair) == 2 and sum(is_name) == 1 and _is_step(source, others[0])


def _is_step(source: Source, node: ast.expr) -> bool:
    number = whole(source, node)
    return number is not None and number >= 1


def steps(source: Source, start: int, limit: _Limit) -> str | None:
    """How many steps lead from a start to a limit, as code."""
    first = start - 1 if limit.is_included else start
    number = literal(source, limit.limit)
    if isinstance(limit.limit, ast.Constant) and isinstance(number, int):
        return str(max(number - first, 0))
    code = source.code(limit.limit)
    return code if first == 0 else f"{code} - {first}" if first > 0 else f"{code} + {-first}"


def of_call(source: Source, call: ast.Call) -> str | None:
    """The most steps of `tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, ...), (0, x))`; None where it does not say."""
    given = {"cond": 0, "body": 1, "loop_vars": 2}
    found: dict[str, ast.expr] = {}
    for name, position in given.items():
        if len(call.args) > position and not any(isinstance(a, ast.Starred) for a in call.args):
            found[name] = call.args[position]
        found.update({k.arg: k.value for k in call.keywords if k.arg == name})
    if len(found) < len(given):
        return None
    test, step = (_function(source, found[name], call) for name in ("cond", "body"))
    state = found["loop_vars"]
    if test is None or step is None or not isinstance(state, (ast.List, ast.Tuple)):
        return None
    names, asked = test
    own, made = step
    if not isinstance(made, (ast.List, ast.Tuple)) or not len(names) == len(own) == len(
        made.elts
    ) == len(state.elts):
        return None
    for limit in _limits(source, asked):
        if limit.counter not in names:
            continue
        index = names.index(limit.counter)
        start = whole(source, state.elts[index])
        is_limit = not isinstance(limit.limit, ast.Name) or limit.limit.id not in names
        if start is None or not is_limit or not _is_static(source, limit.limit, ()):
            continue
        if is_next(source, made.elts[index], own[index]):
            return steps(source, start, limit)
    return None


def _function(source: Source, node: ast.expr, call: ast.Call) -> tuple[list[str], ast.expr] | None:
    """The parameters of a function, and the expression that it returns from what these were."""
    if isinstance(node, ast.Lambda):
        return [a.arg for a in node.args.args], node.body
    holder = source.function(call)
    if not isinstance(node, ast.Name) or holder is None:
        return None
    inner = [
        n for n in nodes_of(holder.body) if isinstance(n, ast.FunctionDef) and n.name == node.id
    ]
    if len(inner) != 1:
        return None
    names = [a.arg for a in inner[0].args.args]
    returns = [n for n in nodes_of(inner[0].body) if isinstance(n, ast.Return)]
    if len(returns) != 1 or returns[0].value is None:
        return None
    return (names, returns[0].value) if not set(names) & set(names_bound(inner[0].body)) else None
