"""The ranks of tensors, in numbers or against the rank of a name."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import libcst as cst

from xlalint.fixes.bindings import Origin, origin, simple_target
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.operations import ELEMENTWISE, REDUCTIONS, ROW_WISE, SPARSE_LOSSES
from xlalint.semantics.values import PYTHON

_DEEPEST = 12


class Rank(NamedTuple):
    """`more` dimensions above the rank of `base` (where a name was bound); of no base, the rank itself."""

    base: Hashable | None
    more: int


def difference(a: Rank | None, b: Rank | None) -> int | None:
    """How many dimensions more `a` has than `b`; None where that is not known."""
    return a.more - b.more if a is not None and b is not None and a.base == b.base else None


def rank_of(draft: Draft, node: cst.BaseExpression, depth: int = 0) -> Rank | None:
    """The rank of an expression where it stands; None where it is not known."""
    value = draft.value(node)
    if value.is_tensor and value.shape is not None:
        return Rank(None, len(value.shape))
    if value.kind is PYTHON and value.constant() is not None:
        return Rank(None, 0)
    if depth > _DEEPEST:
        return None
    if isinstance(node, (cst.Integer, cst.Float)):
        return Rank(None, 0)
    if isinstance(node, cst.Name):
        return _of_name(draft, node, depth)
    if isinstance(node, cst.BinaryOperation):
        return _together(draft, (node.left, node.right), depth)
    if isinstance(node, cst.UnaryOperation):
        return rank_of(draft, node.expression, depth + 1)
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return _together(draft, (node.left, node.comparisons[0].comparator), depth)
    if isinstance(node, cst.Subscript):
        return _of_subscript(draft, node, depth)
    if isinstance(node, cst.Call):
        return _of_call(draft, node, depth)
    return None


def _of_name(draft: Draft, node: cst.Name, depth: int) -> Rank | None:
    found = origin(draft, node.value, node)
    if found is None or found.node is None:
        return None
    if isinstance(found.node, cst.Assign) and simple_target(found.node):
        known = rank_of(draft, found.node.value, depth + 1)
        if known is not None:
            return known
    return Rank(Origin(found.name, found.node), 0)


def _together(draft: Draft, nodes: Sequence[cst.BaseExpression], depth: int) -> Rank | None:
    """The rank of what is computed element by element."""
    ranks = [rank_of(draft, node, depth + 1) for node in nodes]
    found: Rank | None = Rank(None, 0)
    for rank in ranks:
        if rank is None or found is None:
            return None
        if found == Rank(None, 0) or rank == found:
            found = rank
        elif rank != Rank(None, 0):
            is_absolute = rank.base is None and found.base is None
            found = Rank(None, max(rank.more, found.more)) if is_absolute else None
    return found


def _of_subscript(draft: Draft, node: cst.Subscript, depth: int) -> Rank | None:
    known = rank_of(draft, node.value, depth + 1)
    if known is None:
        return None
    more = known.more
    for element in node.slice:
        index = element.slice
        if not isinstance(index, cst.Index) or isinstance(index.value, cst.Ellipsis):
            continue
        if draft.api(index.value) == "tf.newaxis" or _is_none(index.value):
            more += 1
        elif isinstance(index.value, cst.Integer) or _is_negative(index.value):
            more -= 1
        else:
            return None
    return Rank(known.base, more)


def _of_call(draft: Draft, node: cst.Call, depth: int) -> Rank | None:
    api = draft.api(node)
    if api is None or not node.args or any(argument.star for argument in node.args):
        return None
    first = node.args[0].value
    if api == "tf.reshape" and len(node.args) == 2:
        shape = node.args[1].value
        is_written = isinstance(shape, (cst.Tuple, cst.List))
        return Rank(None, len(shape.elements)) if is_written else None  # type: ignore[attr-defined]
    if api in ("tf.cast", "tf.identity", "tf.stop_gradient", "tf.convert_to_tensor"):
        return rank_of(draft, first, depth + 1)
    if api in SPARSE_LOSSES:
        labels = argument(node, ("labels", "y_true"), 0)
        return None if labels is None else rank_of(draft, labels, depth + 1)
    if api in ROW_WISE:
        known = rank_of(draft, first, depth + 1)
        return known and Rank(known.base, known.more + ROW_WISE[api])
    if api in ELEMENTWISE:
        return _together(draft, [a.value for a in node.args if _is_operand(a)], depth)
    if api in REDUCTIONS or api in ("tf.argmax", "tf.math.argmax", "tf.norm", "tf.linalg.norm"):
        axis = argument(node, ("axis",), 1)
        if axis is None or argument(node, ("keepdims",), 2) is not None:
            return None
        if not (isinstance(axis, cst.Integer) or _is_negative(axis)):
            return None
        known = rank_of(draft, first, depth + 1)
        return known and Rank(known.base, known.more - 1)
    if api in ("tf.one_hot", "tf.expand_dims"):
        known = rank_of(draft, first, depth + 1)
        return known and Rank(known.base, known.more + 1)
    return None


def argument(call: cst.Call, names: Sequence[str], position: int) -> cst.BaseExpression | None:
    """What is given for a parameter, by one of its names or at its position."""
    for index, given in enumerate(call.args):
        if given.keyword is not None:
            if given.keyword.value in names:
                return given.value
        elif index == position:
            return given.value
    return None


def _is_operand(given: cst.Arg) -> bool:
    return given.keyword is None or given.keyword.value not in ("name", "dtype", "axis")


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _is_negative(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.UnaryOperation)
        and isinstance(node.operator, cst.Minus)
        and isinstance(node.expression, cst.Integer)
    )
