"""Modules that take over all operations of a library loaded with `tf.load_op_library`, under names that stand nowhere in the source."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import EXTERNAL, Value

# What `tf.load_op_library` returns; it holds the library's operations as functions.
LIBRARY = "tf.load_op_library"
LOADED = LIBRARY + "."


def operation(name: str) -> Value:
    """`library.name`."""
    return Value(EXTERNAL, ref=LOADED + name)


def fills(frame: Frame) -> bool:
    """Whether the body of a module, which was run, takes over a library: `globals().update({n: getattr(ops, n) for n in dir(ops)})`."""
    module = frame.module
    if "globals()" not in module.text or "load_op_library" not in module.text:
        return False
    return any(_takes_over(statement, frame) for statement in module.tree.body)


def _takes_over(statement: ast.stmt, frame: Frame) -> bool:
    if not isinstance(statement, (ast.Expr, ast.For, ast.Try, ast.If)):
        return False
    parts = list(ast.walk(statement))
    if not any(_is_globals(part) for part in parts):
        return False
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return any(_is_library(frame.names.get(name)) for name in names)


def _is_globals(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"
    )


def _is_library(value: Value | None) -> bool:
    return value is not None and value.kind is EXTERNAL and value.ref == LIBRARY
