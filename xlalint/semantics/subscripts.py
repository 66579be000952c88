"""Subscripts: items of containers, slices of tensors, boolean masks, and how a data-sized tensor is misused."""

from __future__ import annotations

import ast
import re

from xlalint.semantics.facts import DATA_SIZED_USE, MASK_INDEX
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    MAPPING,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    UNKNOWN,
    Value,
    element,
)

_MASK_NAMES = re.compile(
    r"(^|_)(masks?|valid|keep|kept|selected|drop|dropped|positives?|negatives?|is_\w+)(_|$)"
)

STATIC_SLICE = Value(SHAPE)


def subscript(node: ast.Subscript, frame: Frame) -> Value:
    base = frame.analysis.evaluate(node.value, frame)
    if base.kind in (SEQUENCE, MAPPING, COLLECTION):
        return _item(base, frame.analysis.evaluate(node.slice, frame), node)
    if base.is_tensor:
        return _tensor_item(node, base, frame)
    index = frame.analysis.evaluate(node.slice, frame)
    if base.kind is SHAPE:
        return STATIC_SLICE if isinstance(node.slice, ast.Slice) else SOME_PYTHON
    if base.kind is NDARRAY:
        return base
    if base.kind is UNKNOWN:
        return _unknown_item(node, base, index, frame)
    return NOTHING_KNOWN


def _unknown_item(node: ast.Subscript, base: Value, index: Value, frame: Frame) -> Value:
    """`outputs[mask]` where only the mask is known to be a tensor: only a tensor takes a tensor as an index."""
    if index.kind is TENSOR and is_mask(index, node.slice) and index.dependence >= ARRIVING:
        likely = Value(TENSOR, ARRIVING, sure=False)
        frame.analysis.note(frame, node, MASK_INDEX, likely, index)
        return Value(TENSOR, ARRIVING, "a boolean mask", sure=False)
    return Value(UNKNOWN, base.dependence)


def _item(base: Value, index: Value, node: ast.Subscript) -> Value:
    known = index.constant()
    if base.kind is SEQUENCE:
        if (
            known is not None
            and isinstance(known.value, int)
            and -len(base.ref) <= known.value < len(base.ref)
        ):
            return base.ref[known.value]  # type: ignore[no-any-return]
        if isinstance(node.slice, ast.Slice):
            return (
                Value(COLLECTION, base.dependence, ref=element(base)) if base.ref else NOTHING_KNOWN
            )
    if base.kind is MAPPING and known is not None:
        for key, value in reversed(base.ref or ()):
            if key == known.value:
                return value  # type: ignore[no-any-return]
        return NOTHING_KNOWN
    if base.kind is COLLECTION and isinstance(node.slice, ast.Slice):
        return base
    return element(base)


def _tensor_item(node: ast.Subscript, base: Value, frame: Frame) -> Value:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    values = [index_value(part, frame) for part in parts]
    index = values[0]
    if len(parts) == 1 and index.is_tensor and is_mask(index, node.slice):
        if index.dependence >= ARRIVING:
            frame.analysis.note(frame, node, MASK_INDEX, base, index)
            sure = base.sure and index.sure
            frame.has_dimensions(node.value)
            return Value(
                TENSOR,
                max(base.dependence, index.dependence),
                "a boolean mask",
                base.dtype,
                None,
                None,
                sure,
            )
        return base._replace(kind=TENSOR, rank=None)
    if base.producer is not None:
        misuse = _misused_index(parts[0], values[0])
        if misuse is not None:
            frame.analysis.note(frame, node, DATA_SIZED_USE, base, misuse)
    if (
        len(parts) == 1
        and index.kind is PYTHON
        and isinstance(getattr(index.constant(), "value", None), str)
    ):
        return base._replace(kind=TENSOR, rank=None)  # a dictionary of tensors
    dependence = max([base.dependence, *(v.dependence for v in values if v.is_tensor)])
    keeps_size = any(isinstance(part, ast.Slice) for part in parts[:1]) or len(parts) > 1
    first_is_index = not isinstance(parts[0], ast.Slice) and not _is_ellipsis(parts[0])
    producer = base.producer if keeps_size and not (first_is_index and len(parts) > 1) else None
    if isinstance(parts[0], ast.Slice) and producer is not None and parts[0].upper is not None:
        known_stop = frame.analysis.evaluate(parts[0].upper, frame).constant()
        if known_stop is not None and isinstance(known_stop.value, int) and known_stop.value >= 0:
            producer = base.producer
    rank = None if base.rank is None else _rank_after(base.rank, parts)
    if base.producer is not None and producer is None:
        dependence = max(dependence, COMPUTED)
    return Value(
        TENSOR, dependence, producer, base.dtype, rank, None, base.sure, False, base.structured
    )


def _rank_after(rank: int, parts: list[ast.expr]) -> int | None:
    for part in parts:
        if _is_ellipsis(part) or isinstance(part, ast.Slice):
            continue
        if isinstance(part, ast.Constant) and part.value is None:
            rank += 1
        elif isinstance(part, ast.Attribute):
            return None
        else:
            rank -= 1
    return max(rank, 0)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def index_value(part: ast.expr, frame: Frame) -> Value:
    if not isinstance(part, ast.Slice):
        return frame.analysis.evaluate(part, frame)
    bounds = [
        frame.analysis.evaluate(b, frame)
        for b in (part.lower, part.upper, part.step)
        if b is not None
    ]
    dependence = max((b.dependence for b in bounds if b.is_tensor), default=CONSTANT)
    return Value(PYTHON, dependence)


def _misused_index(part: ast.expr, value: Value) -> str | None:
    """How an index along the data-sized dimension goes wrong under XLA (facts: surprises, semantics)."""
    known = value.constant()
    if known is not None and isinstance(known.value, int) and known.value < 0:
        return "negative-index"
    if isinstance(part, ast.Slice):
        if part.step is not None and not (
            isinstance(part.step, ast.Constant) and part.step.value in (None, 1)
        ):
            return "stride"
        if _is_negative(part.lower):
            return "negative-slice"
    return None


def _is_negative(bound: ast.expr | None) -> bool:
    return isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)


def is_mask(index: Value, node: ast.expr) -> bool:
    """Whether a tensor used as an index is boolean: by its dtype, or for a parameter by its name."""
    if index.dtype is not None:
        return index.dtype == "bool"
    return isinstance(node, ast.Name) and _MASK_NAMES.search(node.id) is not None
