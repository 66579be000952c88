"""What changes from one turn of a Python loop to the next, read from the loop's own text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics.syntax import called_name, nodes_of

# Loops over so few Python numbers are unrolled by hand: a program for each is meant.
_FEW = 3
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def names_in(expression: ast.expr) -> set[str]:
    """The names that an argument is made of, when it is a name, a number made from names, or a conversion of one."""
    return {node.id for node in nodes_of([expression]) if isinstance(node, ast.Name)}


def numbers_of(loop: ast.AST) -> set[str]:
    """Names that hold another Python number in each turn of a loop: its counter, and what its body counts up."""
    found = set(_counters(loop))
    body = list(getattr(loop, "body", ()))
    for node in nodes_of(body, into_functions=False):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.BinOp, ast.Call)):
            # `lr = base * decay ** epoch`, `fraction = float(epoch) / epochs`: made of what changes. `step = step + 1` is.
            names = names_in(node.value)
            targets = {t.id for t in node.targets if isinstance(t, ast.Name)}
            if not found.isdisjoint(names) or not targets.isdisjoint(names):
                found.update(targets)
    return found


def grown_in(loop: ast.AST) -> set[str]:
    """Names of tensors that each turn of a loop makes longer: `tokens = tf.concat([tokens, next], axis=1)`."""
    found: set[str] = set()
    for node in nodes_of(list(getattr(loop, "body", ())), into_functions=False):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if called_name(node.value) in ("concat", "concatenate") and node.value.args:
                parts = names_in(node.value.args[0])
                found.update(
                    t.id for t in node.targets if isinstance(t, ast.Name) and t.id in parts
                )
    return found


def chooses_function(loop: ast.AST, made: ast.AST) -> bool:
    """Whether a loop goes over functions of which `made` wraps the one of this turn: `for step in (train, test): tf.function(step)`."""
    if not isinstance(loop, ast.For) or not isinstance(made, ast.Call) or not made.args:
        return False
    return isinstance(made.args[0], ast.Name) and made.args[0].id in names_in(loop.target)


def _counters(loop: ast.AST) -> Iterator[str]:
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not isinstance(loop.iter, ast.Call):
        return
    name = called_name(loop.iter)
    if name in ("range", "trange") and not _is_short(loop.iter):
        if isinstance(loop.target, ast.Name):
            yield loop.target.id
    elif name in ("enumerate", "count"):
        target = loop.target
        if isinstance(target, ast.Tuple) and target.elts:
            target = target.elts[0]
        if isinstance(target, ast.Name):
            yield target.id
    elif name == "tqdm" and loop.iter.args:
        yield from _counters(
            ast.For(target=loop.target, iter=loop.iter.args[0], body=[], orelse=[])
        )


def _is_short(call: ast.Call) -> bool:
    numbers = [a.value for a in call.args if isinstance(a, ast.Constant)]
    if len(numbers) != len(call.args) or not all(isinstance(n, int) for n in numbers):
        return False
    return len(range(*numbers)) <= _FEW  # type: ignore[arg-type]


def open_signature(node: ast.expr) -> ast.expr | None:
    """The first `tf.TensorSpec` of a written-out signature whose shape leaves a dimension, or all of them, open."""
    for part in nodes_of([node]):
        if isinstance(part, ast.Call) and called_name(part) == "TensorSpec":
            shapes = [k.value for k in part.keywords if k.arg == "shape"] or part.args[:1]
            if any(isinstance(n, ast.Constant) and n.value is None for n in nodes_of(shapes)):
                return part
    return None


def calls_in(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls in a block, outside nested functions."""
    for node in nodes_of(body, into_functions=False):
        if isinstance(node, ast.Call):
            yield node


def is_called_in(scope: ast.AST, maker: ast.AST) -> bool:
    """Whether what `maker` makes (a nested function, or a `tf.function(...)` call) is called in the same turn of `scope`.

    `scope` is a loop or a function. What is called in a loop inside it is made once for many calls; what is kept in an
    attribute, a list or a dictionary, or returned, may be called more than once too.
    """
    body = list(getattr(scope, "body", ()))
    name = getattr(maker, "name", None)
    called = kept = False
    for node, _ in _with_loop_depth(body):
        if isinstance(node, ast.Assign) and node.value is maker:
            target = node.targets[0]
            name = target.id if len(node.targets) == 1 and isinstance(target, ast.Name) else None
            kept = kept or name is None
    for node, depth in _with_loop_depth(body):
        if isinstance(node, ast.Call):
            is_it = node.func is maker or (
                name is not None and isinstance(node.func, ast.Name) and node.func.id == name
            )
            called = called or (is_it and depth == 0)
            kept = kept or (is_it and depth > 0)
            kept = kept or (name is not None and any(_is_name(a, name) for a in node.args))
        elif isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            kept = kept or (name is not None and _is_name(node.value, name))
        elif (isinstance(node, ast.Assign) and name is not None and _is_name(node.value, name)) or (
            isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names
        ):
            kept = True
    return called and not kept


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _with_loop_depth(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, int]]:
    """Every node of a block with the number of loops around it inside the block; nested functions are left out."""
    pending: list[tuple[ast.AST, int]] = [(statement, 0) for statement in body]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        inner = depth + 1 if isinstance(node, _LOOPS) else depth
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))
