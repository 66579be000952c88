"""`if options:` where `**options` took nothing: what the function does with more keywords, this call does not ask for."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import MAPPING

# Methods that put something into a dictionary that was empty. Items that are assigned are known.
_FILLING = frozenset({"update", "setdefault"})


def answer(test: ast.expr, frame: Frame) -> bool | None:
    """What a test of the mapping itself comes to; None where keywords were passed (some may have been popped) or may have been."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    info = frame.function
    if not isinstance(asked, ast.Name) or info is None or info.node.args.kwarg is None:
        return None
    if info.node.args.kwarg.arg != asked.id:
        return None
    value = frame.names.get(asked.id)
    if value is None or value.kind is not MAPPING or value.ref != () or _is_filled(info, asked.id):
        return None
    return negated


def _is_filled(info: FunctionInfo, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _FILLING
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in nodes_of(info.body)
    )
