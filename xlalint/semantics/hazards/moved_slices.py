"""`boxes[i, 2:]`: a slice beside an index that only the running program knows.

For such a subscript XLA takes every part that is longer than one element at its full length, with `2` as the place to start, which it moves
back until that length fits, to 0; then it keeps as many elements as were asked for: `boxes[i, :2]`. What an argument says is read by
CPUs and GPUs when they compile, and right there; on TPUs it is not known then (TensorFlow 2.15 and 2.21, as lowered and as run:
fixtures/XLA408/flagged_slices_beside_indices.py). Steps along the first axis (`boxes[::2, i]`) are refused: "Strides have to be one when inputs are
not constant".
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.facts import MOVED_SLICE
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import ARRIVING, BOUNDED, COMPUTED, Value


class Moved(NamedTuple):
    """The part of a subscript that is taken from elsewhere, as it is written. `is_refused`: XLA does not compile it at all."""

    part: str
    is_refused: bool


def note(node: ast.Subscript, parts: list[ast.expr], values: list[Value], frame: Frame) -> None:
    """Note a subscript of which one part is known when the program runs, and another starts after the first element."""
    if len(parts) < 2 or frame.analysis.vectorized:
        return
    lates = [
        place for place, (part, value) in enumerate(zip(parts, values)) if _is_late(part, value)
    ]
    if not lates:
        return
    moved = [
        Moved(ast.unparse(part), _has_steps(part, frame) and all(map(_is_new_axis, parts[:place])))
        for place, part in enumerate(parts)
        if isinstance(part, ast.Slice) and _is_moved(part, frame)
    ]
    if moved:
        # What does not compile gives no numbers.
        said = max(moved, key=lambda each: each.is_refused)
        frame.analysis.note(frame, node, MOVED_SLICE, values[lates[0]], said)


def _is_late(part: ast.expr, value: Value) -> bool:
    if value.dependence not in (BOUNDED, ARRIVING, COMPUTED) or not value.sure:
        return False
    if isinstance(part, ast.Slice):
        return True
    return value.is_tensor and not (value.guess or value.optional or value.structured)


def _is_moved(part: ast.Slice, frame: Frame) -> bool:
    """Whether a slice starts at another number than 0, or goes by other steps than 1, and holds nothing that is not known."""
    bounds = [
        None if bound is None else frame.analysis.evaluate(bound, frame)
        for bound in (part.lower, part.upper, part.step)
    ]
    if any(
        bound is not None and bound.is_tensor and bound.dependence in (BOUNDED, ARRIVING, COMPUTED)
        for bound in bounds
    ):
        return False
    start, _, step = (_number(bound) for bound in bounds)
    return start not in (None, 0) or step not in (None, 1)


def _is_new_axis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None


def _has_steps(part: ast.Slice, frame: Frame) -> bool:
    step = None if part.step is None else frame.analysis.evaluate(part.step, frame)
    return _number(step) not in (None, 1)


def _number(bound: Value | None) -> int | None:
    known = None if bound is None else bound.constant()
    return known.value if known is not None and type(known.value) is int else None
