"""What a subscript of a tensor leaves of its axes: `x[:, -1]`, `x[..., tf.newaxis]`, `x[2:n]`."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.results.result_shapes import number
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import is_ellipsis
from xlalint.semantics.values import EXTERNAL, NONE, PYTHON, Value


def known_slice(node: ast.Slice, frame: Frame) -> slice | None:
    """The slice, when each bound that is given is known."""
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        value = NONE if part is None else frame.analysis.evaluate(part, frame)
        known = None if value == NONE else number(value)
        if known is None and value != NONE:
            return None
        bounds.append(known)
    return None if bounds[2] == 0 else slice(*bounds)


def axis_after(parts: list[ast.expr], values: list[Value], position: int) -> int | None:
    """Which axis of the result the slice at `position` makes; None behind an ellipsis."""
    before = list(zip(parts, values))[:position]
    if any(is_ellipsis(part) for part, _ in before):
        return None
    return sum(isinstance(part, ast.Slice) or is_new_axis(part, value) for part, value in before)


def follow_axis(
    parts: list[ast.expr], values: list[Value], base: Value
) -> tuple[int | None, int | None]:
    """Which part of a subscript falls on the data-sized axis (None: none does), and which axis that is afterwards."""
    sized = 0 if base.rank == 1 else base.sized_axis  # what is reshaped to one axis has no other
    if sized is None:
        return None, None
    old = new = 0
    for position, (part, value) in enumerate(zip(parts, values)):
        if is_new_axis(part, value):
            new += 1
        elif is_ellipsis(part):
            return None, 0 if old == new == sized == 0 else None
        elif old == sized:
            return position, new
        else:
            old += 1
            new += isinstance(part, ast.Slice)
    return None, new + sized - old


def counts_from_the_end(taken: slice) -> bool:
    return any(bound is not None and bound < 0 for bound in (taken.start, taken.stop, taken.step))


def shape_after(
    shape: Shape | None, parts: list[ast.expr], values: list[Value], frame: Frame
) -> Shape | None:
    """The static shape of `x[parts]`, dimension by dimension."""
    if shape is None or any(isinstance(part, ast.Starred) for part in parts):
        return None
    used = sum(
        1
        for part, value in zip(parts, values)
        if not is_new_axis(part, value) and not is_ellipsis(part)
    )
    if used > len(shape):
        return None
    result: list[int | None] = []
    position = 0
    for part, value in zip(parts, values):
        if is_ellipsis(part):
            kept = len(shape) - used
            result.extend(shape[position : position + kept])
            position += kept
        elif is_new_axis(part, value):
            result.append(1)
        elif isinstance(part, ast.Slice):
            bounds = known_slice(part, frame)
            size = shape[position]
            whole = bounds == slice(None, None, None)
            result.append(
                size
                if whole
                else None
                if size is None or bounds is None
                else len(range(*bounds.indices(size)))
            )
            position += 1
        elif value.kind is PYTHON or (value.is_tensor and value.shape == ()):
            position += 1
        else:
            return None  # an index that may be an array
    return (*result, *shape[position:])


def has_axes(node: ast.Subscript) -> bool:
    """`x[0, 0]`, `x[:, -1]`: an item of several axes, which lists and dictionaries do not have."""
    if not isinstance(node.slice, ast.Tuple):
        return False
    return any(isinstance(part, (ast.Slice, ast.Constant)) for part in node.slice.elts)


def keeps_order(part: ast.expr, value: Value) -> bool:
    """Whether a part of a subscript says in numbers what of the sorted is taken: `best[:, 0]`."""
    known = value.constant()
    return _is_kept_axis(part, value) or (known is not None and type(known.value) is int)


def _is_kept_axis(part: ast.expr, value: Value) -> bool:
    return isinstance(part, ast.Slice) or is_ellipsis(part) or is_new_axis(part, value)


def is_new_axis(part: ast.expr, value: Value) -> bool:
    return value == NONE or (
        value.kind is EXTERNAL and str(value.ref) in ("tf.newaxis", "np.newaxis")
    )


def rank_after(rank: int, parts: list[ast.expr]) -> int | None:
    """The least rank of what is left of a tensor of this least rank; None where it may be a scalar or not."""
    slices = sum(isinstance(part, ast.Slice) for part in parts)
    for part in parts:
        if is_ellipsis(part) or isinstance(part, ast.Slice):
            continue
        if isinstance(part, ast.Attribute) or (
            isinstance(part, ast.Constant) and part.value is None
        ):
            return None  # a dimension of 1, which goes with any other
        rank -= 1
    return max(rank, slices) or None


def least_rank(parts: list[ast.expr]) -> int | None:
    """`boxes[:, 2:4]` has two axes at least, whatever it is of."""
    slices = sum(isinstance(part, ast.Slice) for part in parts)
    return slices if slices > 1 else None
