"""`nonlocal total; total = total + v` in a function that runs inside a loop or conditional of the graph.

The name is bound to a tensor of that graph, and what reads it outside is refused while tracing: "is out of scope and cannot be used
here" (TensorFlow 2.15 and 2.21: fixtures/XLA107/flagged_names_rebound.py). AutoGraph carries what the statements of a loop bind, not what
the functions do that they call.
"""

from __future__ import annotations

import ast

from xlalint.semantics.control_flow.liveness import binds_in, is_live_after
from xlalint.semantics.facts import TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import read_later
from xlalint.semantics.hazards.trace_effects import REBOUND, TraceEffect
from xlalint.semantics.values import ARRIVING

# What makes a tensor where it stands; a name alone may hold one from outside, which stays in reach.
_MADE = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp)


def note(inner: Frame, caller: Frame) -> None:
    """Note the names of the function around that a function has bound to tensors of the graph it ran in."""
    if inner.silent or not inner.context.is_compiled or not inner.bodies:
        return
    for name in inner.rebinds:
        value = inner.names.get(name)
        if value is None or not value.is_tensor or value.dependence < ARRIVING:
            continue
        if value.guess or value.optional:
            continue
        target = _last_target(inner, name)
        where = None if target is None else _where(name, target, inner, caller)
        if target is not None and where is not None:
            effect = TraceEffect(REBOUND, name, where)
            inner.analysis.note(inner, target, TRACE_EFFECT, value, effect)


def _last_target(inner: Frame, name: str) -> ast.Name | None:
    """The name in the last statement of the function that binds it, where that makes what it binds and nothing is around it."""
    function = inner.function
    body = function.node.body if function is not None else None
    if not isinstance(body, list):
        return None
    last = next((part for part in reversed(body) if binds_in([part], name)), None)
    if isinstance(last, ast.AugAssign):
        target: ast.expr = last.target
    elif isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.value, _MADE):
        target = last.targets[0]
    else:
        return None
    return target if isinstance(target, ast.Name) and target.id == name else None


def _where(name: str, target: ast.Name, inner: Frame, caller: Frame) -> str | None:
    """What the function ran in, where the function that the name belongs to reads it afterwards."""
    outer = inner.outer.function if inner.outer is not None else None
    if outer is None or not isinstance(outer.node.body, list):
        return None
    if inner.function in inner.analysis.graph_bodies:
        is_read = read_later.is_read(outer, inner.function, target, name, None)
        return "the body of a loop or conditional" if is_read else None
    if caller.function is not outer or not caller.constructs:
        return None
    construct = caller.constructs[0]
    blocks = (getattr(construct, "body", ()), getattr(construct, "orelse", ()))
    if any(binds_in(block, name) for block in blocks):
        return None  # AutoGraph carries it
    if not is_live_after(outer.node.body, construct, name):
        return None
    return "a conditional" if isinstance(construct, ast.If) else "a loop"
