"""Slices that one arm of a conditional takes, and the other does not, or pads instead: `if n > k: x = x[:, :k]`.

XLA compiles such a conditional. It also compiles the gradient of each arm for what flows back, which has one size: the gradient of
a slice asks for the size of its own result, and refuses any other: `shape of dy was [2,7] instead of [2,4]`, whichever arm is
taken and whatever the test is (measured on TensorFlow 2.15 and 2.21; fixtures/XLA407).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlalint.semantics.control_flow import chosen, named_tests, unequal_arms
from xlalint.semantics.control_flow.unequal_arms import Returned, Sizes
from xlalint.semantics.control_flow.written_slices import (
    axes_sliced,
    leaves_out,
    number,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import empty_arms, unequal_results
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import called_name, is_ellipsis
from xlalint.semantics.values import SEQUENCE, Value


def note_results(
    node: ast.AST,
    asked: Value,
    test: ast.expr | None,
    arms: Sequence[Returned],
    results: Sequence[Value],
    blocks: Sequence[Sequence[ast.AST]],
    frame: Frame,
) -> None:
    """What the callbacks of a `tf.cond` return, or the two values of a ternary. `blocks`: what each of the arms runs."""
    call = node if isinstance(node, ast.Call) else None
    every = zip(*map(itertools.pairwise, (arms, results, blocks)))
    for pair, values, run in every:
        for first, second, made in _items(pair, values):
            at = node.test if isinstance(node, ast.IfExp) else node
            parts = _made_of(second[0], run[1])
            empty_arms.note_arms(at, node, made, parts, run[1], frame)
            if _are_alike(made) or _note(first, second, made, test, call, frame):
                continue
            if unequal_results.may_go_wrong(asked, made):
                left = [
                    _left(arm, value, block, test, frame)
                    for arm, value, block in zip((first, second), made, run)
                ]
                conditional = unequal_results.Conditional(at, node, (), asked)
                unequal_results.note(conditional, left[0], left[1], frame)


_Arm = tuple[ast.expr, Sizes]


def _left(
    arm: _Arm, value: Value, run: Sequence[ast.AST], test: ast.expr | None, frame: Frame
) -> unequal_results.Left:
    written, known = arm
    size = unequal_arms.of_expression(written, test, frame, known)
    return unequal_results.Left(written, value, size, _made_of(written, run))


def _made_of(written: ast.expr, run: Sequence[ast.AST]) -> list[ast.expr]:
    is_lambda = all(isinstance(each, ast.expr) for each in run)
    return [written] if is_lambda else list(unequal_results.read_in(run))


def _items(
    arms: tuple[Returned, Returned], values: tuple[Value, Value]
) -> Iterator[tuple[_Arm, _Arm, Sequence[Value]]]:
    """What two arms return, thing by thing where each returns as many."""
    (first, known), (second, others) = arms
    if isinstance(first, (ast.Tuple, ast.List)) and isinstance(second, (ast.Tuple, ast.List)):
        if len(first.elts) == len(second.elts):
            for one, other, *made in zip(first.elts, second.elts, *_parts(values)):
                yield (one, known), (other, others), made
    elif first is not None and second is not None:
        yield (first, known), (second, others), values


def _parts(values: tuple[Value, Value]) -> Sequence[Sequence[Value]]:
    """The items of two tuples, where they are known."""
    is_known = all(value.kind is SEQUENCE and value.ref for value in values)
    return [value.ref for value in values] if is_known else ()


def note_names(
    node: ast.If,
    asked: Value,
    test: ast.expr,
    first: Sequence[ast.stmt],
    second: Sequence[ast.stmt],
    changes: Sequence[dict[str, Value | None]],
    frame: Frame,
) -> None:
    """What the arms of an `if` assign."""
    made = [_made_once(block) for block in (first, second)]
    sizes: list[Sizes] = []
    for name in {**made[0], **made[1]}:
        values = [arm.get(name, frame.names.get(name)) for arm in changes]
        known = [value for value in values if value is not None and value.is_tensor]
        if len(known) < len(values) or _are_alike(known):
            continue
        read = list(unequal_results.read_in(second))
        empty_arms.note_arms(node.test, node, known, read, second, frame, (name,))
        one, other = (arm.get(name, ast.Name(name, ast.Load())) for arm in made)
        if one is not None and other is not None:
            # What an arm computes and slices, it keeps whole for the gradient: often right.
            is_made_there = _made_inside(one, made, name) or _made_inside(other, made, name)
            made_of = () if is_made_there else known
            if _note((one, {}), (other, {}), made_of, test, None, frame):
                continue
        if not unequal_results.may_go_wrong(asked, known):
            continue
        sizes = sizes or [unequal_arms.after(block, test, frame) for block in (first, second)]
        left = [
            unequal_results.Left(
                written,
                value,
                size.get(name, unequal_arms.Size(name)),
                [written or ast.Name(name, ast.Load())],
            )
            for written, value, size in zip((one, other), known, sizes)
        ]
        conditional = unequal_results.Conditional(node.test, node, (name,), asked)
        unequal_results.note(conditional, left[0], left[1], frame)


def _made_inside(part: ast.expr, made: Sequence[dict[str, ast.expr | None]], name: str) -> bool:
    root = _root(part)
    return root != name and any(root in arm for arm in made)


def _made_once(block: Sequence[ast.stmt]) -> dict[str, ast.expr | None]:
    """The names that an arm assigns, and to what; None for what is assigned otherwise than once, by itself."""
    made: dict[str, ast.expr | None] = {}
    for statement in block:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                made[part.id] = None if part.id in made else _assigned(statement, part)
    return made


def _assigned(statement: ast.stmt, name: ast.Name) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and statement.targets == [name]:
        return statement.value
    return None


def _note(
    first: _Arm,
    second: _Arm,
    made: Sequence[Value],
    test: ast.expr | None,
    call: ast.Call | None,
    frame: Frame,
) -> bool:
    """`call` is what gives the result of either arm; None where the slice itself stands in the function. Whether there is such a slice."""
    for (one, known), other in ((first, second), (second, first)):
        taken = _some_of(one)
        if taken is not None and _root(taken.base) not in known:
            if _is_kept_of(taken.base, other[0], frame):
                value = frame.analysis.evaluate(taken.base, frame)
                frame.analysis.gradients.note_slice(
                    taken.node, taken.base, call or taken.node, value, frame
                )
                return True
        if not isinstance(one, ast.Subscript) or _root(one) in known:
            continue
        if (
            (isinstance(one.value, ast.Name) and chosen.are_of_other_sizes(*_shapes(made)))
            or _is_shorter(one, other[0], test)
            or _is_lengthened(one, other, test, frame)
            or _is_beside_kept(one, other[0], test, frame)
        ):
            value = frame.analysis.evaluate(one.value, frame)
            frame.analysis.gradients.note_slice(one, one.value, call or one, value, frame)
            return True
    return False


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes and subscripts begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_lengthened(part: ast.Subscript, other: _Arm, test: ast.expr | None, frame: Frame) -> bool:
    """Whether the other arm pads what this one cuts: `tf.cond(n < k, lambda: tf.pad(x, ...), lambda: x[:, :k])`."""
    cut = [axis for axis, given in axes_sliced(part) or () if leaves_out(given, test)]
    if not cut:
        return False
    expression, known = other
    size = unequal_arms.of_expression(expression, test, frame, known)
    if size is None or size.base != ast.unparse(part.value):
        return False
    padded = size.changed - size.unsure
    return bool(padded) and any(axis in padded or axis < 0 or None in padded for axis in cut)


def _is_shorter(part: ast.Subscript, other: ast.expr, test: ast.expr | None) -> bool:
    """Whether `part` is a slice of what `other` is, or of what it is a longer slice of."""
    slices = list(_slices(part))
    base = ast.unparse(part.value)
    if ast.unparse(other) == base:
        return any(leaves_out(each, test) for each in slices)
    if not isinstance(other, ast.Subscript) or ast.unparse(other.value) != base:
        return False
    ends = [_only_end(each) for each in (part, other)]
    return None not in ends and ends[0] != ends[1]


def _is_beside_kept(
    part: ast.Subscript, other: ast.expr, test: ast.expr | None, frame: Frame
) -> bool:
    """Whether the other arm is what a mask keeps of all the numbers of which this one takes the first: `losses[losses > t]`, or else `tf.sort(losses)[:k]`."""
    cut = axes_sliced(part)
    if cut is None or [axis for axis, _ in cut] != [0]:
        return False
    asked = named_tests.written(test, frame.function) if test is not None else None
    if not (leaves_out(cut[0][1], asked) or _reads_behind(part, cut[0][1], asked)):
        return False
    return _is_kept_of(part.value, other, frame)


class _Taken(NamedTuple):
    """What takes some numbers, fewer than there are, and what it takes them of."""

    node: ast.Subscript | ast.Call
    base: ast.expr


def _some_of(node: ast.expr) -> _Taken | None:
    """`tf.math.top_k(losses, k)[0]`, its `values`, `tf.gather(losses, [0, 1])`."""
    called = node
    if (isinstance(node, ast.Subscript) and number(node.slice) == 0) or (
        isinstance(node, ast.Attribute) and node.attr == "values"
    ):
        called = node.value
    if not isinstance(called, ast.Call) or len(called.args) < 2:
        return None
    base, asked = called.args[:2]
    if called_name(called) == "top_k" and called is not node:
        is_all = isinstance(asked, (ast.Call, ast.Subscript)) and ast.unparse(base) in ast.unparse(
            asked
        )
        return None if is_all else _Taken(node if isinstance(node, ast.Subscript) else called, base)
    is_list = isinstance(asked, ast.List) and all(number(each) is not None for each in asked.elts)
    return _Taken(called, base) if called_name(called) == "gather" and is_list else None


def _is_kept_of(base: ast.expr, other: ast.expr, frame: Frame) -> bool:
    """Whether `other` is what a mask keeps of as many numbers as there are in `base`."""
    all_of_them = _as_many(base, frame)
    masked = _as_many(other.value if isinstance(other, ast.Subscript) else _first(other), frame)
    if all_of_them is None or masked is None or all_of_them != masked:
        return False
    value = frame.analysis.evaluate(other, frame)
    return value.is_tensor and value.is_data_sized and value.sized_axis == 0


def _reads_behind(part: ast.Subscript, cut: ast.Slice, test: ast.expr | None) -> bool:
    """Whether the test reads the first number that the slice leaves out: `if losses[k] > t`, beside `losses[:k]`."""
    if test is None or cut.upper is None or cut.lower is not None or cut.step is not None:
        return False
    wanted = (ast.unparse(part.value), ast.unparse(cut.upper))
    return any(
        isinstance(each, ast.Subscript)
        and (ast.unparse(each.value), ast.unparse(each.slice)) == wanted
        for each in ast.walk(test)
    )


def _as_many(node: ast.expr | None, frame: Frame) -> str | None:
    """The text of what is as long as this: of `tf.sort(losses)`, `losses`."""
    written = named_tests.written(node, frame.function) if node is not None else None
    if isinstance(written, ast.Call) and called_name(written) in _ORDERED:
        node = _first(written)
    return ast.unparse(node) if node is not None else None


def _first(node: ast.expr) -> ast.expr | None:
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


# These return as many numbers as they are given.
_ORDERED = frozenset({"sort", "reverse"})


def _slices(part: ast.Subscript) -> Iterator[ast.Slice]:
    """The slices that take a part of a dimension; none where the subscript does something else as well."""
    given = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    if all(isinstance(each, ast.Slice) or is_ellipsis(each) for each in given):
        for each in given:
            if isinstance(each, ast.Slice) and ast.unparse(each) != ":":
                yield each


def _only_end(part: ast.Subscript) -> int | None:
    """`4` for `x[:, :4]`; None for other slices."""
    slices = list(_slices(part))
    if len(slices) != 1 or slices[0].lower is not None or slices[0].step is not None:
        return None
    return number(slices[0].upper)


def _shapes(values: Sequence[Value]) -> tuple[Shape | None, Shape | None]:
    return (values[0].shape, values[1].shape) if len(values) == 2 else (None, None)


def _are_alike(values: Sequence[Value]) -> bool:
    """Whether the sizes are known and the same."""
    shapes = [value.shape for value in values]
    if not shapes or any(shape is None for shape in shapes):
        return False
    sizes = [size for shape in shapes if shape is not None for size in shape]
    return len(set(shapes)) == 1 and all(isinstance(size, int) for size in sizes)
