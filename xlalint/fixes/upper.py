"""The largest number that a whole number from data can be, where its own code says so, as code that XLA takes for a size."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from xlalint.fixes.bindings import is_read, origin, simple_target
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.semantics.values import FROM_SHAPE, PYTHON

_DEEPEST = 6
_COUNTS = frozenset({"tf.math.count_nonzero", "tf.reduce_sum", "tf.math.reduce_sum"})
_SAME = frozenset({"tf.cast", "tf.identity", "tf.convert_to_tensor", "tf.stop_gradient"})
_DRAWN = {"tf.random.uniform": 2, "tf.random.stateless_uniform": 3}


class Upper(NamedTuple):
    """A bound: `code` where it stands, `of` the expressions that it was read from. It has the dtype int32."""

    code: str
    of: tuple[cst.BaseExpression, ...]

    def is_same_at(self, draft: Draft, place: cst.CSTNode) -> bool:
        """Whether its names mean at some place what they mean where it was read."""
        return all(
            origin(draft, name.value, name) is not None
            and origin(draft, name.value, name) == origin(draft, name.value, place)
            for node in self.of
            for name in draft.within(node)
            if isinstance(name, cst.Name) and is_read(draft, name)
        )


def upper(draft: Draft, number: cst.BaseExpression, at: cst.CSTNode) -> Upper | None:
    """A bound of a number that can be written `at` some place; None where its code names none."""
    found = _bound(draft, number, 0)
    return found if found is not None and found.is_same_at(draft, at) else None


def _bound(draft: Draft, node: cst.BaseExpression, depth: int) -> Upper | None:
    if depth > _DEEPEST:
        return None
    if _is_static(draft, node):
        return Upper(_tight(draft, node), (node,))
    if isinstance(node, cst.Name):
        found = origin(draft, node.value, node)
        made = None if found is None or not found.is_sure else found.node
        is_plain = isinstance(made, cst.Assign) and simple_target(made)
        return _bound(draft, made.value, depth + 1) if is_plain else None  # type: ignore[union-attr]
    if isinstance(node, cst.BinaryOperation):
        return _of_operation(draft, node, depth)
    if isinstance(node, cst.Call) and not spreads(node) and node.args:
        return _of_call(draft, node, depth)
    return None


def _is_static(draft: Draft, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Integer):
        return True
    value = draft.value(node)
    is_number = value.kind is PYTHON or (value.is_tensor and value.dtype == "int32")
    is_plain = isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))
    return is_plain and is_number and value.dependence <= FROM_SHAPE


def _tight(draft: Draft, node: cst.BaseExpression) -> str:
    return draft.code(node)


def _of_operation(draft: Draft, node: cst.BinaryOperation, depth: int) -> Upper | None:
    if isinstance(node.operator, cst.Modulo) and _is_static(draft, node.right):
        return Upper(_tight(draft, node.right), (node.right,))
    is_step = isinstance(node.right, cst.Integer) and isinstance(
        node.operator, (cst.Add, cst.Subtract)
    )
    found = _bound(draft, node.left, depth + 1) if is_step else None
    if found is None or isinstance(node.operator, cst.Subtract):
        return found
    step = node.right.evaluated_value  # type: ignore[attr-defined]
    code = str(int(found.code) + step) if found.code.isdigit() else f"{found.code} + {step}"
    return Upper(code, found.of)


def _of_call(draft: Draft, node: cst.Call, depth: int) -> Upper | None:
    api = draft.api(node)
    first = node.args[0].value
    if api in _SAME or draft.code(node.func) == "int":
        return _bound(draft, first, depth + 1)
    if api in ("tf.minimum", "tf.math.minimum") and len(node.args) == 2:
        sides = [_bound(draft, given.value, depth + 1) for given in node.args]
        return next((side for side in reversed(sides) if side is not None), None)
    if api in ("tf.maximum", "tf.math.maximum") and len(node.args) == 2:
        known = [_bound(draft, given.value, depth + 1) for given in node.args]
        numbers = [k.code for k in known if k is not None and k.code.isdigit()]
        is_written = len(numbers) == 2
        return Upper(max(numbers, key=int), ()) if is_written else None
    if api == "tf.clip_by_value":
        return _of_argument(draft, node, "clip_value_max", 2)
    if api in _DRAWN:
        return _of_argument(draft, node, "maxval", _DRAWN[api])
    if api in ("tf.math.floormod", "tf.math.mod"):
        return _of_argument(draft, node, "y", 1)
    if api in _COUNTS:
        return _of_count(draft, node, first)
    return None


def _of_argument(draft: Draft, node: cst.Call, name: str, position: int) -> Upper | None:
    given = argument(node, name, position)
    if given is None or not _is_static(draft, given.value):
        return None
    return Upper(_tight(draft, given.value), (given.value,))


def _of_count(draft: Draft, node: cst.Call, counted: cst.BaseExpression) -> Upper | None:
    """How many are true: at most as many as there are."""
    if len(node.args) > 1 and not all(
        g.keyword and g.keyword.value == "dtype" for g in node.args[1:]
    ):
        return None
    tensorflow, mask = draft.tensorflow, counted
    is_count = draft.api(node) == "tf.math.count_nonzero"
    if isinstance(counted, cst.Call) and draft.api(counted) == "tf.cast" and counted.args:
        mask = counted.args[0].value
    is_truth = draft.value(mask).dtype == "bool"
    if tensorflow is None or not isinstance(mask, cst.Name) or not (is_truth or is_count):
        return None
    return Upper(f"{tensorflow}.size({mask.value})", (mask,))
