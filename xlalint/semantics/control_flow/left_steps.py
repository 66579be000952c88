"""What a step of a loop has made of the loop's names where `break` or `continue` ends it: it holds after the loop, and in the next step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.control_flow import loops
from xlalint.semantics.joins import join
from xlalint.semantics.local_names import Changes
from xlalint.semantics.values import PYTHON, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame


class LeftStep(NamedTuple):
    """The names that a step has changed by its `break`, or by its `continue`, behind which the loop `goes_on`."""

    goes_on: bool
    names: dict[str, Value]


class LeftSteps(NamedTuple):
    """The steps of one loop that did not come to their end, and what the names that its body binds hold where the step begins."""

    begins_with: dict[str, Value | None]
    steps: list[LeftStep]


def begin(loop: loops.Loop, frame: Frame) -> None:
    """A step of a loop begins."""
    bound = frame.analysis.carried.names(loop).bound
    held = {name: frame.names.get(name) for name in bound}
    known = frame.left.get(loop)
    frame.left[loop] = LeftSteps(held, [] if known is None else known.steps)


def keep(node: ast.stmt, frame: Frame) -> None:
    """Keep what is known where a `break` or `continue` stands."""
    known = frame.left.get(frame.loops[-1]) if frame.loops else None
    if known is None:
        return
    changed = {
        name: frame.names[name]
        for name, before in known.begins_with.items()
        if name in frame.names and frame.names[name] is not before
    }
    known.steps.append(LeftStep(isinstance(node, ast.Continue), changed))


def merged(changes: Changes, loop: ast.AST, frame: Frame, *, in_the_loop: bool) -> Changes:
    """What a step that comes to its end changes, and what those do that do not; `in_the_loop`, only of those after which it goes on."""
    known = frame.left.get(loop)
    found = dict(changes)
    for step in known.steps if known is not None else ():
        for name, value in step.names.items() if step.goes_on or not in_the_loop else ():
            here = found[name] if name in found else frame.names.get(name)
            if here is None:
                found[name] = value
            elif here != value:
                found[name] = _either(here, value)
    return found


def _either(one: Value, other: Value) -> Value:
    """A number of Python that is a tensor on another way is one on both: in the graph always, in Python nearly."""
    if one.is_tensor and other.kind is PYTHON:
        other = loops.as_tensor(other)
    elif other.is_tensor and one.kind is PYTHON:
        one = loops.as_tensor(one)
    return join(one, other)
