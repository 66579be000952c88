"""How wide a tensor must be to fit what it is combined with: a mask as long as the tensor that it weighs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from xlalint.fixes.bindings import origin, reads, simple_target
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.operations import ELEMENTWISE, SPARSE_LOSSES
from xlalint.fixes.ranks import argument, rank_of

_DEEPEST = 8
_CHOICES = frozenset({"tf.where"})
_SAME = frozenset({"tf.cast", "tf.identity", "tf.stop_gradient", "tf.convert_to_tensor"})


class Width(NamedTuple):
    """Dimension `axis` (from the end: 1 is the last) of the tensor called `name`, where `at` reads it. `size`: its static size."""

    name: str
    at: cst.Name
    axis: int
    rank: int | None
    size: int | None

    def code(self, tensorflow: str, dtype: str = "int32") -> str:
        """`tf.shape(x)[1]`, counted from the end where the rank is not known."""
        index = -self.axis if self.rank is None else self.rank - self.axis
        out = "" if dtype == "int32" else f", {tensorflow}.{dtype}"
        return f"{tensorflow}.shape({self.name}{out})[{index}]"


def combined_with(draft: Draft, made: cst.BaseExpression) -> Iterator[Width]:
    """The tensors that the last dimension of `made` must fit, because the two are combined element by element.

    Only names are given that are bound before `made` is, to what they are where they are combined with it.
    """
    for other, axis in _partners(draft, made, 1, 0):
        yield from _names_in(draft, other, axis, made, 0)


def _partners(
    draft: Draft, node: cst.BaseExpression, axis: int, depth: int
) -> Iterator[tuple[cst.BaseExpression, int]]:
    """What an expression is combined with, and which of that one's dimensions (from the end) its dimension `axis` meets."""
    above = draft.parent(node)
    if depth > _DEEPEST:
        return
    if isinstance(above, cst.Assign):
        name = simple_target(above)
        for read in (name and reads(draft, above, name)) or ():
            yield from _partners(draft, read, axis, depth + 1)
    elif isinstance(above, cst.BinaryOperation):
        if not isinstance(above.operator, cst.MatrixMultiply):
            yield (above.right if above.left is node else above.left), axis
            yield from _partners(draft, above, axis, depth + 1)
    elif isinstance(above, cst.UnaryOperation):
        yield from _partners(draft, above, axis, depth + 1)
    elif isinstance(above, (cst.Comparison, cst.ComparisonTarget)):
        # The other side may be a column of lengths, which says nothing.
        whole = above if isinstance(above, cst.Comparison) else draft.parent(above)
        if isinstance(whole, cst.Comparison) and len(whole.comparisons) == 1:
            yield from _partners(draft, whole, axis, depth + 1)
    elif isinstance(above, cst.Subscript) and above.value is node:
        moved = _through_subscript(draft, above, axis)
        if moved is not None:
            yield from _partners(draft, above, moved, depth + 1)
    elif isinstance(above, cst.Arg) and not above.star:
        call = draft.parent(above)
        if isinstance(call, cst.Call):
            yield from _through_call(draft, call, above, axis, depth)


def _through_call(
    draft: Draft, call: cst.Call, given: cst.Arg, axis: int, depth: int
) -> Iterator[tuple[cst.BaseExpression, int]]:
    api = draft.api(call)
    is_first = call.args[0] is given
    if api == "tf.expand_dims" and is_first:
        place = argument(call, ("axis",), 1)
        moved = None if place is None else _after_insertion(draft, given.value, place, axis)
        if moved is not None:
            yield from _partners(draft, call, moved, depth + 1)
    elif api in ELEMENTWISE or api in _CHOICES or api in _SAME:
        if api not in _SAME:
            for other in call.args:
                if other is not given and not other.star and not _is_option(other):
                    yield other.value, axis
        if is_first or api not in _SAME:
            yield from _partners(draft, call, axis, depth + 1)


def _is_option(given: cst.Arg) -> bool:
    return given.keyword is not None and given.keyword.value in ("name", "dtype", "axis")


def _after_insertion(
    draft: Draft, node: cst.BaseExpression, place: cst.BaseExpression, axis: int
) -> int | None:
    """Where a dimension (from the end) is after another has been inserted."""
    if draft.code(place) == "-1":
        return axis + 1
    if not isinstance(place, cst.Integer):
        return None
    rank = _rank(draft, node)
    if rank is None:
        return None
    return axis + 1 if place.evaluated_value > rank - axis else axis


def _through_subscript(draft: Draft, node: cst.Subscript, axis: int) -> int | None:
    """`mask[:, :, None]` and `mask[..., None]`: where a dimension (from the end) is then; None where it is cut."""
    kinds = [_kind(draft, element.slice) for element in node.slice]
    if None in kinds or kinds.count("...") > 1:
        return None
    if "..." in kinds:
        last = kinds[kinds.index("...") + 1 :]
    else:
        rank = _rank(draft, node.value)
        if kinds.count(":") != (rank if rank is not None else max(2, kinds.count(":"))):
            return None
        last = kinds
    # From the end on, new dimensions push it further away until as many old ones are passed.
    met = moved = 0
    for kind in reversed(last):
        if met == axis:
            break
        moved += 1
        met += kind == ":"
    return moved + (axis - met)


def _kind(draft: Draft, index: cst.BaseSlice) -> str | None:
    if isinstance(index, cst.Slice):
        is_whole = index.lower is None and index.upper is None and index.step is None
        return ":" if is_whole else None
    value = index.value if isinstance(index, cst.Index) else None
    if isinstance(value, cst.Ellipsis):
        return "..."
    is_new = value is not None and (draft.code(value) == "None" or draft.api(value) == "tf.newaxis")
    return "new" if is_new else None


def _names_in(
    draft: Draft, node: cst.BaseExpression, axis: int, made: cst.BaseExpression, depth: int
) -> Iterator[Width]:
    """The names whose dimension `axis` (from the end) becomes that of an expression, as far as it is computed element by element."""
    if depth > _DEEPEST:
        return
    if isinstance(node, cst.Name):
        found = origin(draft, node.value, node)
        if found is None:
            return
        if found == origin(draft, node.value, made):
            width = _of_name(draft, node, axis)
            if width is not None:
                yield width
        elif isinstance(found.node, cst.Assign) and simple_target(found.node):
            yield from _names_in(draft, found.node.value, axis, made, depth + 1)
    elif isinstance(node, cst.UnaryOperation):
        yield from _names_in(draft, node.expression, axis, made, depth + 1)
    elif isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.MatrixMultiply):
            for side in (node.left, node.right):
                yield from _names_in(draft, side, axis, made, depth + 1)
    elif isinstance(node, cst.Call) and not any(given.star for given in node.args):
        for operand in _operands(draft, node):
            yield from _names_in(draft, operand, axis, made, depth + 1)


def _operands(draft: Draft, call: cst.Call) -> Sequence[cst.BaseExpression]:
    api = draft.api(call)
    if api in SPARSE_LOSSES:
        labels = argument(call, ("labels", "y_true"), 0)
        return () if labels is None else (labels,)
    if api in _SAME:
        return [given.value for given in call.args[:1]]
    if api in ELEMENTWISE:
        return [given.value for given in call.args if not _is_option(given)]
    return ()


def _of_name(draft: Draft, node: cst.Name, axis: int) -> Width | None:
    value = draft.value(node)
    if value.is_data_sized or value.optional or value.structured:
        return None
    if not value.is_tensor and value.kind != "unknown":
        return None
    rank = _rank(draft, node)
    size = None
    if value.shape is not None:
        if len(value.shape) < axis:
            return None
        size = value.shape[-axis]
    if (rank is not None and rank < axis) or size == 1:
        return None
    return Width(node.value, node, axis, rank, size)


def _rank(draft: Draft, node: cst.BaseExpression) -> int | None:
    known = rank_of(draft, node)
    return known.more if known is not None and known.base is None else None
