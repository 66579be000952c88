"""Names that a loop of the graph binds and reads, and that nothing binds before it: `if first: total = x else: total += x`.

Python gets away with it, as the first pass takes the arm that binds. AutoGraph traces every arm of the first pass, and stops where the
name is read: `'total' must be defined before the loop` (a ValueError with XLA or without; fixtures/XLA206/flagged_unmade_names.py). What
the body binds before it reads needs nothing before the loop, and neither does what is asked by Python's own conditions.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.control_flow.loops import Loop
from xlalint.semantics.facts import LOOP_STATE, LoopChange
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import NOTHING_KNOWN

UNMADE = "unmade"


class Unmade(NamedTuple):
    """Names without a value in the first pass of a loop, each with its loop, and how many conditions that nobody could
    decide were around the innermost.
    """

    loops: dict[str, Loop]
    undecided: int


def before(loop: Loop, frame: Frame) -> Unmade | None:
    """What the first pass of a loop of the graph may read before it is bound."""
    if frame.function is None or frame.silent:
        return frame.unmade
    names = frame.unmade_by_loop.get(loop)
    if names is None:
        known = frame.analysis.carried.names(loop)
        names = frame.unmade_by_loop[loop] = [
            name
            for name in sorted(known.read_first & known.bound)
            if frame.names.get(name) is None
            and (frame.outer is None or frame.outer.look_up(name) is None)
            and frame.analysis.modules.global_name(frame.module, name) == NOTHING_KNOWN
        ]
    if not names:
        return frame.unmade
    for name in names:
        # AutoGraph traces one step, with counters as tensors: a second pass here is that step still.
        frame.names.pop(name, None)
    around = frame.unmade.loops if frame.unmade is not None else {}
    return Unmade({**dict.fromkeys(names, loop), **around}, frame.undecided)


def note_read(node: ast.Name, frame: Frame) -> None:
    """Note the loop around a name that is read while nothing has bound it."""
    unmade = frame.unmade
    assert unmade is not None  # who calls has looked
    loop = unmade.loops.get(node.id)
    if loop is None or frame.undecided > unmade.undecided:
        return
    head = loop.test if isinstance(loop, ast.While) else loop.iter
    change = LoopChange(node.id, UNMADE, "", "", node.id, node.lineno)
    frame.analysis.note(frame, head, LOOP_STATE, NOTHING_KNOWN, change)
