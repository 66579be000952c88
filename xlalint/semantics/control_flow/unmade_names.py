"""Names that a loop of the graph binds and reads, and that nothing binds before it: `if first: total = x else: total += x`.

Python gets away with it, as the first pass takes the arm that binds. AutoGraph traces every arm of the first pass, and stops where the
name is read: `'total' must be defined before the loop` (a ValueError with XLA or without; fixtures/XLA206/flagged_unmade_names.py). What
the body binds before it reads needs nothing before the loop, and neither does what is asked by Python's own conditions. A name that is
None before the loop is as good as none where the steps compute with it: `'total' is not allowed to be None before the loop`; they may ask
whether it is None.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.control_flow.loops import Loop
from xlalint.semantics.facts import LOOP_STATE, LoopChange
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NONE, NOTHING_KNOWN

UNMADE = "unmade"


class Unmade(NamedTuple):
    """Names without a value in the first pass of a loop, each with its loop and what it has instead (`no value`, `None`), and how many
    conditions that nobody could decide were around the innermost.
    """

    loops: dict[str, tuple[Loop, str]]
    undecided: int


def before(loop: Loop, frame: Frame) -> Unmade | None:
    """What the first pass of a loop of the graph may read before it is bound."""
    if frame.function is None or frame.silent:
        return frame.unmade
    names = frame.unmade_by_loop.get(loop)
    if names is None:
        known = frame.analysis.carried.names(loop)
        had = {name: _has(name, loop, frame) for name in sorted(known.read_first & known.bound)}
        names = frame.unmade_by_loop[loop] = {name: word for name, word in had.items() if word}
    if not names:
        return frame.unmade
    for name in names:
        # AutoGraph traces one step, with counters as tensors: a second pass here is that step still.
        frame.names.pop(name, None)
    around = frame.unmade.loops if frame.unmade is not None else {}
    own = {name: (loop, word) for name, word in names.items()}
    return Unmade({**own, **around}, frame.undecided)


def _has(name: str, loop: Loop, frame: Frame) -> str:
    """What a name has in place of a value; empty where it has one."""
    value = frame.names.get(name)
    if value is not None:
        return "None" if value == NONE and _is_computed_with(name, loop) else ""
    if frame.outer is not None and frame.outer.look_up(name) is not None:
        return ""
    is_free = frame.analysis.modules.global_name(frame.module, name) == NOTHING_KNOWN
    return "no value" if is_free else ""


def _is_computed_with(name: str, loop: Loop) -> bool:
    """Whether a step does nothing with a name but computing, which None would not stand: no `if state is None`, no `cell(x, state)`."""
    computed, read = 0, 0
    for node in nodes_of([loop]):
        if isinstance(node, ast.BinOp):
            computed += sum(_is_name(side, name) for side in (node.left, node.right))
        elif isinstance(node, ast.Subscript):
            computed += _is_name(node.value, name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read += node.id == name
        elif isinstance(node, ast.AugAssign) and _is_name(node.target, name):
            computed, read = computed + 1, read + 1
    return computed == read > 0


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def note_read(node: ast.Name, frame: Frame) -> None:
    """Note the loop around a name that is read while nothing has bound it."""
    unmade = frame.unmade
    assert unmade is not None  # who calls has looked
    found = unmade.loops.get(node.id)
    if found is None or frame.undecided > unmade.undecided:
        return
    loop, word = found
    head = loop.test if isinstance(loop, ast.While) else loop.iter
    change = LoopChange(node.id, UNMADE, word, "", node.id, node.lineno)
    frame.analysis.note(frame, head, LOOP_STATE, NOTHING_KNOWN, change)
