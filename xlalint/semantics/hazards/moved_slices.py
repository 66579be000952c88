"""`boxes[i, 2:]`: a slice beside an index that only the running program knows.

For such a subscript XLA takes every part that is longer than one element at its full length, with `2` as the place to start, which it moves
back until that length fits, to 0; then it keeps as many elements as were asked for: `boxes[i, :2]`. What an argument says is read by
CPUs and GPUs when they compile, and right there; on TPUs it is not known then (TensorFlow 2.15 and 2.21, as lowered and as run:
fixtures/XLA408/flagged_slices_beside_indices.py). A variable that is read inside a loop or an arm of the graph is known to nobody
there. Steps along the first axis (`boxes[::2, i]`) are refused: "Strides have to be one when inputs are not constant".

A part that begins at or before the first element (`boxes[i, -4:]` of four) is whole, and moved nowhere.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.arguments import Bound
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import MOVED_SLICE
from xlalint.semantics.frames import Frame
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import is_ellipsis, nodes_of
from xlalint.semantics.values import ARRIVING, BOUNDED, COMPUTED, SEQUENCE, VARIABLE, Value


class Moved(NamedTuple):
    """The part of a subscript that is taken from elsewhere, as it is written. `is_refused`: XLA does not compile it at all."""

    part: str
    is_refused: bool


def note(
    node: ast.Subscript, parts: list[ast.expr], values: list[Value], base: Value, frame: Frame
) -> None:
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
        if isinstance(part, ast.Slice) and _is_moved(part, _size_at(place, parts, base), frame)
    ]
    if moved:
        # What does not compile gives no numbers.
        said = max(moved, key=lambda each: each.is_refused)
        late = next((at for at in lates if _reads_variable_inside(parts[at], frame)), None)
        if late is not None:
            value = values[late]._replace(dependence=COMPUTED)
        else:
            value = max((values[at] for at in lates), key=lambda each: each.dependence)
        frame.analysis.note(frame, node, MOVED_SLICE, value, said)


def note_call(api: Api, bound: Bound, node: ast.AST, frame: Frame) -> None:
    """Note `tf.strided_slice(x, [i, 2], [i + 1, 4])`: the call that a subscript makes, written out."""
    if (
        "begin_mask" not in api.params
        or frame.analysis.vectorized
        or not isinstance(node, ast.Call)
    ):
        return
    starts, ends = bound.get("begin"), bound.get("end")
    if starts is None or starts.kind is not SEQUENCE:
        return
    free = [_mask(bound.get(name)) for name in ("begin_mask", "shrink_axis_mask")]
    if None in free or any(_mask(bound.get(name)) != 0 for name in _SHIFTING_MASKS):
        return
    bounds = (*starts.ref, *(ends.ref if ends is not None and ends.kind is SEQUENCE else ()))
    lates = [each for each in bounds if each.is_tensor and _is_known_late(each)]
    if not lates:
        return
    shape = _shape_of(bound.get(api.params[0]))
    for place, start in enumerate(starts.ref):
        first, is_free = _number(start), any(mask >> place & 1 for mask in free if mask)
        if first is not None and not is_free and _is_after_first(first, _at(shape, place)):
            late = max(lates, key=lambda each: each.dependence)
            frame.analysis.note(frame, node, MOVED_SLICE, late, Moved(f"begin={first}", False))
            return


# These change which axis a place in `begin` is.
_SHIFTING_MASKS = ("ellipsis_mask", "new_axis_mask")


def _mask(value: Value | None) -> int | None:
    return 0 if value is None else _number(value)


def _reads_variable_inside(part: ast.expr, frame: Frame) -> bool:
    """Whether an index is read from a variable by a loop's body, or an arm, of the graph."""
    if not (frame.constructs or frame.bodies):
        return False
    return any(
        isinstance(inner, (ast.Name, ast.Attribute))
        and frame.analysis.evaluate(inner, frame).kind is VARIABLE
        for inner in nodes_of([part])
    )


def _is_late(part: ast.expr, value: Value) -> bool:
    if not _is_known_late(value):
        return False
    if isinstance(part, ast.Slice):
        return True
    # Structures are no index: what may be one, such as an element of what `tf.map_fn` goes over, is a tensor here.
    return value.is_tensor and not (value.guess or value.optional)


def _is_known_late(value: Value) -> bool:
    return value.dependence >= COMPUTED or (value.dependence in (BOUNDED, ARRIVING) and value.sure)


def _is_moved(part: ast.Slice, size: int | None, frame: Frame) -> bool:
    """Whether a slice starts at another number than 0, or goes by other steps than 1, and holds nothing that is not known."""
    bounds = [
        None if bound is None else frame.analysis.evaluate(bound, frame)
        for bound in (part.lower, part.upper, part.step)
    ]
    if any(
        bound is not None
        and bound.is_tensor
        and (bound.is_of_the_run or bound.dependence == ARRIVING)
        for bound in bounds
    ):
        return False
    start, _, step = (_number(bound) for bound in bounds)
    if step not in (None, 1):
        return True
    return start is not None and _is_after_first(start, size)


def _is_after_first(start: int, size: int | None) -> bool:
    """Whether a slice that starts here leaves elements out at the front; of an axis nobody knows the size of, it does."""
    return start > 0 or (start < 0 and (size is None or size + start > 0))


def _shape_of(base: Value | None) -> Shape | None:
    return None if base is None or base.structured else base.shape


def _at(shape: Shape | None, axis: int) -> int | None:
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _size_at(place: int, parts: list[ast.expr], base: Value) -> int | None:
    """The size of the axis that a part of a subscript is taken of, where it is known."""
    shape = _shape_of(base)
    if shape is None or not all(map(_is_one_axis, parts)):
        return None
    if not any(map(is_ellipsis, parts[:place])):
        return _at(shape, sum(not _is_new_axis(part) for part in parts[:place]))
    return _at(shape, -sum(not _is_new_axis(part) for part in parts[place:]))


def _is_one_axis(part: ast.expr) -> bool:
    """Whether it can be seen of a part how many axes it takes: `x[i, tf.newaxis, *rest]` may take any."""
    return not isinstance(part, (ast.Starred, ast.Attribute))


def _is_new_axis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None


def _has_steps(part: ast.Slice, frame: Frame) -> bool:
    step = None if part.step is None else frame.analysis.evaluate(part.step, frame)
    return _number(step) not in (None, 1)


def _number(bound: Value | None) -> int | None:
    known = None if bound is None else bound.constant()
    return known.value if known is not None and type(known.value) is int else None
