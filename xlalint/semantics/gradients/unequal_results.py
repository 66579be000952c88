"""Gradients through a conditional on data whose arms leave different sizes: `tf.cond(c, lambda: tf.math.top_k(x, 2)[0], lambda: x)`.

What flows back has the size of the larger arm, which the gradient of either arm takes for its own: XLA fills up, cuts off, or refuses it. Where the smaller
arm computes what it leaves, that was wrong for the arm that is taken or for the other, or did not compile, in each of 46 pairs of arms, whatever is computed of
the result, but for one that puts parts together; so it was where the larger arm is filled up (`tf.pad`, `tf.concat` with zeros), which kills the process as often, or repeats its rows, and where the arms leave two
tensors that have nothing to do with one another. The gradient of `x` beside `tf.tile(x, [2, 1])` or `tf.concat([x, x], 0)` is right (measured on TensorFlow 2.15 and 2.21:
fixtures/XLA204/flagged_gradients_of_unequal_arms.py). Where a shape is asked for, one arm is taken each time: where that is the one that fills up, the gradient of 30 of 30
programs was wrong or killed the process, and where it is not, right. Of slices, XLA407 says more (sliced_arms.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xlalint.semantics.control_flow import unequal_arms
from xlalint.semantics.control_flow.unequal_arms import Size
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.misplaced import FILLED_BY_SHAPE, UNEQUAL_ARMS
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import ARRIVING, BOUNDED, EXTERNAL, FROM_SHAPE, Value

_FILLING = frozenset({"tf.pad", "keras.ops.pad", "tf.repeat", "keras.ops.repeat"})
_JOINING = frozenset({"tf.concat", "keras.ops.concatenate"})
_CONSTANTS = frozenset({"tf.zeros", "tf.zeros_like", "tf.ones", "tf.ones_like", "tf.fill", "keras.ops.zeros"})  # fmt: skip


class Conditional(NamedTuple):
    """A conditional: where it is reported, what gives its result, or the names that it sets, and what it asks."""

    node: ast.AST
    through: ast.AST
    names: tuple[str, ...]
    asked: Value


class Left(NamedTuple):
    """What an arm leaves: as it is written (None where that is more than one expression), as a value, its size, and what it is made of."""

    written: ast.expr | None
    value: Value
    size: Size | None
    made_of: Sequence[ast.expr]


def may_go_wrong(asked: Value, values: Sequence[Value]) -> bool:
    """Whether a conditional of the graph, on data or on a size, leaves one of two tensors that may be trained."""
    if not (asked.is_tensor and asked.sure):
        return False
    if asked.dependence != FROM_SHAPE and asked.dependence < ARRIVING:
        return False
    return len(values) == 2 and not any(
        not each.is_tensor
        or each.optional
        or each.has_no_gradient
        or each.dependence == BOUNDED
        or each.producer
        for each in values
    )


def note(conditional: Conditional, first: Left, second: Left, frame: Frame) -> None:
    """Note a conditional that `may_go_wrong` whose gradient does, if one is taken."""
    is_of_shape = conditional.asked.dependence == FROM_SHAPE
    values = first.value, second.value
    if is_of_shape:
        given = _filled_by_shape(first, second, frame)
    elif unequal_arms.differ(values, (first.size, second.size)):
        given = _gone_wrong(first, second, frame)
    else:
        return
    if given:
        reason = FILLED_BY_SHAPE if is_of_shape else UNEQUAL_ARMS
        gradients = frame.analysis.gradients
        gradients.note_through(
            conditional.node, conditional.through, given, values[0], reason, frame, conditional.names
        )  # fmt: skip


def _filled_by_shape(first: Left, second: Left, frame: Frame) -> list[ast.expr]:
    """`tf.cond(missing > 0, lambda: tf.pad(x, ...), lambda: x)`: of which expressions the gradient goes wrong for sizes that ask for it."""
    for filled, other in ((first, second), (second, first)):
        if other.written is None or not _is_bare(other.written):
            continue
        is_of_it = filled.size is not None and filled.size.base == ast.unparse(other.written)
        if is_of_it and _is_filled_up(filled.written, frame):
            return [*filled.made_of, *other.made_of]
    return []


def _gone_wrong(first: Left, second: Left, frame: Frame) -> list[ast.expr]:
    """Of which expressions the gradient is wrong, or does not compile; none where it is right."""
    smaller, larger = (first, second) if _is_smaller(first, second) else (second, first)
    is_known = _is_smaller(smaller, larger)
    every = [*smaller.made_of, *larger.made_of]
    if is_known and not _is_bare(smaller.written):
        return [] if _called(smaller.written, frame) in _JOINING else every
    if not is_known and not _is_bare(smaller.written):
        smaller, larger = larger, smaller
    if smaller.written is None or not _is_bare(smaller.written):
        return []
    if _is_filled_up(larger.written, frame):
        return every
    return [smaller.written] if is_known and not _mentions(larger, smaller.written) else []


def _is_bare(node: ast.expr | None) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))


def _is_smaller(one: Left, other: Left) -> bool:
    """Whether the static sizes say that one is the smaller in all in which they differ."""
    pairs = zip(one.value.shape or (), other.value.shape or ())
    apart = [(a, b) for a, b in pairs if a is not None and b is not None and a != b]
    return bool(apart) and all(a < b for a, b in apart)


def _is_filled_up(node: ast.expr | None, frame: Frame) -> bool:
    """`tf.pad(x, ...)`, `tf.repeat(x, 2, 0)`, `tf.concat([x, tf.zeros(...)], 0)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = _called(node, frame)
    if name in _JOINING and isinstance(node.args[0], (ast.List, ast.Tuple)):
        return any(_called(part, frame) in _CONSTANTS for part in node.args[0].elts)
    return name in _FILLING


def _called(node: ast.expr | None, frame: Frame) -> str:
    if not isinstance(node, ast.Call):
        return ""
    target = frame.analysis.evaluate(node.func, frame)
    return api_name(str(target.ref)) if target.kind is EXTERNAL else ""


def _mentions(left: Left, name: ast.expr) -> bool:
    text = ast.unparse(name)
    parts = nodes_of(left.made_of)
    return any(type(part) is type(name) and ast.unparse(part) == text for part in parts)


def read_in(blocks: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The names that the statements of a callback read."""
    for part in nodes_of(blocks):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part
