"""`if t: break` in a loop of the graph: AutoGraph makes one arm of what is left of the loop's body, and of nothing the other.

A name that is None before, or not there at all, and that the rest of the step binds cannot come out of such a conditional. That is so of names
that the next step or what follows the loop reads; others stay inside (measured, TensorFlow 2.15 and 2.21: fixtures/XLA106/
flagged_bound_after_break.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.control_flow.conditionals import Arm
from xlalint.semantics.control_flow.differences import Difference, difference
from xlalint.semantics.control_flow.liveness import binds_in, is_carried, is_shared, path_to
from xlalint.semantics.facts import ARMS
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NONE, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame


class Skipping(NamedTuple):
    """A conditional that leaves a loop, and what the names hold before it that the rest of the step binds: None, or nothing."""

    node: ast.If
    test: Value
    names: dict[str, Value | None]


def keep(node: ast.If, test: Value, arms: tuple[Arm, Arm], frame: Frame) -> None:
    """Keep what has to be compared at the end of the step, where an arm of `node` ends in `break`."""
    loop = frame.loops[-1]
    leaving = [bool(arm.block) and isinstance(arm.block[-1], ast.Break) for arm in arms]
    body = frame.function.node.body if frame.function is not None else None
    if not any(leaving) or loop not in frame.graph_loops or not isinstance(body, list):
        return
    path = path_to(body, node)
    if not path or path[-1].owner is not loop:
        return
    rest = path[-1].block[path[-1].place + 1 :]
    bound = {
        part.id: frame.names.get(part.id)
        for part in nodes_of(rest, into_functions=False)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    names = {
        name: value
        for name, value in bound.items()
        if value in (None, NONE)
        and binds_in(rest, name)
        and not any(name in arm.changes for arm in arms)
    }
    if names:
        frame.skipping.setdefault(loop, []).append(Skipping(node, test, names))


def note(loop: ast.For | ast.While, frame: Frame) -> None:
    """At the end of a step: note the conditionals that what the step has bound cannot come out of."""
    for node, test, names in frame.skipping.pop(loop, ()):
        for name, before in names.items():
            found = _difference(before, frame.names.get(name), frame)
            if found is not None and _is_carried(name, loop, frame):
                frame.analysis.note(frame, node.test, ARMS, test, found._replace(name=name))
                break


def _difference(before: Value | None, after: Value | None, frame: Frame) -> Difference | None:
    if after is None or not after.is_tensor:
        return None
    if before is not None:
        return difference(before, after, frame.analysis)
    is_vague = after.optional or after.structured or after.guess
    return None if is_vague else Difference("undefined", "none at all", "a value")


def _is_carried(name: str, loop: ast.For | ast.While, frame: Frame) -> bool:
    body = frame.function.node.body if frame.function is not None else None
    return isinstance(body, list) and not is_shared(body, name) and is_carried(body, loop, name)
