"""What one comparison of two values comes to: a mask, a known answer, or a Python value that nobody knows."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from xlalint.semantics.callbacks import protocols
from xlalint.semantics.environment import versions
from xlalint.semantics.facts import (
    MEMBERSHIP,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import counts, unknown_sizes
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.joins import item_of
from xlalint.semantics.results import composites, dtypes, sorted_places
from xlalint.semantics.results.arithmetic import is_text, note_cast_operand, tensor_of
from xlalint.semantics.values import (
    COLLECTION,
    EXTERNAL,
    FALSE,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TRUE,
    UNKNOWN,
    Kept,
    Partly,
    Places,
    SomeNumber,
    Usual,
    Value,
    constant,
    usually,
)

_FOLDED_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def compare(node: ast.Compare, op: ast.cmpop, left: Value, right: Value, frame: Frame) -> Value:
    """The value of `left <op> right`, one part of a comparison."""
    named = left.kind is EXTERNAL and right.kind is EXTERNAL
    if isinstance(op, (ast.Is, ast.IsNot)) or (named and isinstance(op, (ast.Eq, ast.NotEq))):
        if _is_none(right) and _may_be_missing(node.left, frame):
            return SOME_PYTHON
        return _identity(left, right, isinstance(op, (ast.Is, ast.Eq)))
    if INSTANCE in (left.kind, right.kind):
        answer = protocols.compared(op, left, right, frame)
        if answer is not None:
            return answer
    if isinstance(op, (ast.In, ast.NotIn)):
        protocols.ask(right, "__contains__", [left], frame)
        searched = left if left.is_tensor else right
        if right.kind is SEQUENCE or right.kind is COLLECTION:
            # `3 in tf.unstack(ids)` compares with each of them.
            searched = left if left.is_tensor else item_of(right)
        if (
            searched.is_tensor
            and not searched.guess
            and not searched.structured
            and right.kind != UNKNOWN
            and not (_is_key(left) and _may_have_keys(right, left))
        ):
            if not (right.kind is MAPPING or searched.optional):
                frame.analysis.note(frame, node, MEMBERSHIP, searched)
        return _usual_member(left, right, isinstance(op, ast.In))
    if isinstance(op, _ORDER):
        unknown_sizes.note_number(node, (left, right), frame)
    if left.is_composite or right.is_composite:
        return composites.combine(node, left, right, frame)._replace(dtype="bool")
    if left.is_tensor or right.is_tensor:
        if SHAPE in (left.kind, right.kind) or _is_none(left) or _is_none(right):
            return SOME_PYTHON
        if is_text(left) or is_text(right):
            # A "tensor" compared with text is a setting that may also be one (`padding="same"`).
            return NOTHING_KNOWN
        counts.note_pair(node, left, right, frame)
        note_cast_operand(node, left, right, frame)
        ref = None
        if type(left.ref) is Places or type(right.ref) is Places:
            ref = sorted_places.compared(op, left, right)
        result = tensor_of(left, right)
        kept = result.ref if type(result.ref) is Kept else None
        return result._replace(dtype="bool", ref=ref or kept)
    if versions.is_version(left) or versions.is_version(right):
        return versions.compared(op, left, right, frame.analysis.keras) or SOME_PYTHON
    one, other = left.constant(), right.constant()
    folded = _FOLDED_COMPARISONS.get(type(op))
    if one is not None and other is not None and folded is not None:
        try:
            return constant(bool(folded(one.value, other.value)))
        except TypeError:
            return SOME_PYTHON
    if type(left.ref) is Usual or type(right.ref) is Usual:
        one, other = left.usual(), right.usual()
        if one is not None and other is not None and folded is not None:
            try:
                return usually(bool(folded(one.value, other.value)))
            except TypeError:
                return SOME_PYTHON
    if left.kind is NDARRAY or right.kind is NDARRAY:
        return Value(NDARRAY, dtype="bool")
    if left.kind is UNKNOWN or right.kind is UNKNOWN:
        return Value(UNKNOWN, max(left.dependence, right.dependence), dtype="bool")
    return SOME_PYTHON


def _usual_member(left: Value, right: Value, positive: bool) -> Value:
    """`mode in ("max", "mean")` for a mode that has a default; `"DEBUG" in os.environ`, which somebody sets or not."""
    if right.kind is EXTERNAL and right.ref == "os.environ":
        return usually(not positive)
    wanted = left.usual()
    if type(left.ref) is not Usual or wanted is None or right.kind is not SEQUENCE:
        return SOME_PYTHON
    items = [item.constant() for item in right.ref]
    if any(item is None for item in items):
        return SOME_PYTHON
    return usually((wanted in items) is positive)


def _may_be_missing(asked: ast.expr, frame: Frame) -> bool:
    """Whether `self.weights` is an attribute that the constructor leaves as None, or not, and that nothing was learned of here."""
    owner = frame.self_value
    if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return False
    if owner is None or not isinstance(owner.ref, ClassInfo) or asked.value.id != frame.self_name:
        return False
    is_new = frame.look_up(f"{frame.self_name}.{asked.attr}") is None
    return is_new and frame.analysis.objects.may_be_missing(owner.ref, asked.attr)


def _is_none(value: Value) -> bool:
    known = value.constant()
    return known is not None and known.value is None


def _is_key(value: Value) -> bool:
    """Text, or a setting that may be text: looked up in a dictionary of tensors rather than in a tensor."""
    known = value.constant()
    return value.kind is PYTHON and (known is None or isinstance(known.value, str))


def _may_have_keys(searched: Value, key: Value) -> bool:
    """Whether what is called a tensor may be a dictionary of tensors: what an operation made of a size that data decide is none."""
    return not (searched.is_tensor and searched.sure and searched.is_data_sized) or bool(
        key.choices()
    )


def _identity(left: Value, right: Value, positive: bool) -> Value:
    types = (dtypes.named(left), dtypes.named(right))
    if types[0] is not None and types[1] is not None:
        return TRUE if (types[0] == types[1]) is positive else FALSE
    names = {str(v.ref) for v in (left, right) if v.kind is EXTERNAL}
    if "tf.Tensor" in names and any(name.startswith("builtins.") for name in names):
        return FALSE if positive else TRUE  # type(tensor) is tuple
    for one, other in ((left, right), (right, left)):
        if _is_none(other):
            if type(one.ref) is Usual:
                return usually((one.ref.value is None) is positive)
            if _is_none(one):
                return TRUE if positive else FALSE
            if one.kind in (UNKNOWN, PYTHON) and not _is_known(one):
                return SOME_PYTHON
            if not one.optional:
                return FALSE if positive else TRUE
    return SOME_PYTHON


def _is_known(value: Value) -> bool:
    """Is it known to be None or not?"""
    return value.constant() is not None or type(value.ref) in (SomeNumber, Partly)
