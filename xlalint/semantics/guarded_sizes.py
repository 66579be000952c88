"""Sizes that a conditional guards: `if n < k: x = tf.pad(x, [[0, k - n]])`, where `n` is a size that XLA knows.

XLA compiles both arms, with the sizes of the input at hand. Where the arm is not taken, its size is negative, and the compiler
refuses it: `Paddings must be non-negative`, `Broadcast with negative dimension size` (measured on TensorFlow 2.15 and 2.21;
fixtures/XLA106). Eager TensorFlow, and AutoGraph without XLA, never look at that arm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlalint.semantics import result_shapes
from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FROM_SHAPE, Value

# APIs that make dimensions of given sizes, and the argument that holds the sizes.
_SIZED_BY = {
    "tf.pad": (1, "paddings"),
    "tf.zeros": (0, "shape"),
    "tf.ones": (0, "shape"),
    "tf.fill": (0, "dims"),
}
_COMPARISONS = {
    "less": ast.Lt, "less_equal": ast.LtE, "greater": ast.Gt, "greater_equal": ast.GtE,
}  # fmt: skip

Arm = Sequence[ast.AST]


class GuardedSize(NamedTuple):
    """A call in an arm, and a size that it asks for."""

    call: ast.Call
    size: ast.expr


def guarded_size(
    test: ast.expr, value: Value, first: Arm, second: Arm, frame: Frame
) -> GuardedSize | None:
    """A size in an arm that is negative where the other arm is taken; None where there is none.

    `value` is what the test is: shapes have to decide it.
    """
    if value.dependence > FROM_SHAPE or (compared := _compared(test, frame)) is None:
        return None
    less, more = compared
    for arm, smaller, larger in ((first, less, more), (second, more, less)):
        found = next(_sizes(arm, smaller, larger, frame), None)
        if found is not None:
            return found
    return None


def _compared(test: ast.expr, frame: Frame) -> tuple[ast.expr, ast.expr] | None:
    """The smaller and the larger side of what a test says, where it holds."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides: list[ast.expr] = [test.left, test.comparators[0]]
        kind: type[ast.cmpop] | None = type(test.ops[0])
    elif isinstance(test, ast.Call) and len(test.args) == 2 and not test.keywords:
        sides, kind = test.args, _COMPARISONS.get(_called(test, frame).rpartition(".")[2])
    else:
        return None
    if kind in (ast.Lt, ast.LtE):
        return sides[0], sides[1]
    return (sides[1], sides[0]) if kind in (ast.Gt, ast.GtE) else None


def _sizes(arm: Arm, smaller: ast.expr, larger: ast.expr, frame: Frame) -> Iterator[GuardedSize]:
    """`larger - smaller` among the sizes that an arm asks for; `larger` itself, where it is compared with nothing."""
    wanted = {f"{ast.unparse(larger)} - {ast.unparse(smaller)}"}
    if isinstance(smaller, ast.Constant) and smaller.value == 0 and _is_difference(larger, frame):
        wanted.add(ast.unparse(larger))
    named = {
        part.targets[0].id: part.value
        for part in nodes_of(arm, into_functions=False)
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
    }
    for part in nodes_of(arm, into_functions=False):
        if not isinstance(part, ast.Call):
            continue
        for size in _items(_given(part, frame), named):
            if ast.unparse(size) in wanted and _may_be_negative(size, frame):
                yield GuardedSize(part, size)


def _is_difference(size: ast.expr, frame: Frame) -> bool:
    """`missing`, after `missing = k - n`; what is never below zero (`tf.maximum(k - n, 0)`) is fine."""
    if not isinstance(size, ast.Name) or frame.function is None:
        return _subtracts(size)
    body = frame.function.node.body
    made = [
        part.value
        for part in nodes_of(body if isinstance(body, list) else [body], into_functions=False)
        if isinstance(part, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == size.id for to in part.targets)
    ]
    return bool(made) and all(_subtracts(each) for each in made)


def _subtracts(size: ast.expr) -> bool:
    return isinstance(size, ast.BinOp) and isinstance(size.op, ast.Sub)


def _given(call: ast.Call, frame: Frame) -> ast.expr | None:
    """The argument of a call that holds its sizes."""
    if not isinstance(call.func, (ast.Attribute, ast.Name)):
        return None
    position, name = _SIZED_BY.get(_called(call, frame), (-1, ""))
    if position < 0:
        return None
    if len(call.args) > position:
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _items(sizes: ast.expr | None, named: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """The numbers in a list of sizes, which the arm may have given a name."""
    if isinstance(sizes, ast.Name) and sizes.id in named:
        sizes = named[sizes.id]
    if isinstance(sizes, (ast.List, ast.Tuple)):
        for item in sizes.elts:
            inner = named.get(item.id, item) if isinstance(item, ast.Name) else item
            yield from _items(inner, {})
    elif sizes is not None:
        yield sizes


def _may_be_negative(size: ast.expr, frame: Frame) -> bool:
    known = result_shapes.number(frame.analysis.evaluate(size, frame))
    return known is None or known < 0


def _called(call: ast.Call, frame: Frame) -> str:
    target = frame.analysis.evaluate(call.func, frame)
    return api_name(str(target.ref)) if target.kind is EXTERNAL else ""
