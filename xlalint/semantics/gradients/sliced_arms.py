"""Slices that one arm of a conditional takes and the other does not: `if n > k: x = x[:, :k]`.

XLA compiles such a conditional. It also compiles the gradient of each arm for what flows back, which has one size: the gradient of
a slice asks for the size of its own result, and refuses any other: `shape of dy was [2,7] instead of [2,4]`, whichever arm is
taken and whatever the test is (measured on TensorFlow 2.15 and 2.21; fixtures/XLA407).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import Value


def note_results(
    node: ast.AST,
    expressions: Sequence[ast.expr | None],
    results: Sequence[Value],
    frame: Frame,
) -> None:
    """What the callbacks of a `tf.cond` return, or the two values of a ternary."""
    if any(expression is None for expression in expressions) or _are_alike(results):
        return
    call = node if isinstance(node, ast.Call) else None
    test = next(iter(call.args), None) if call is not None else node
    asked = test if isinstance(test, ast.expr) else None
    for first, second in itertools.pairwise(expressions):
        if first is not None and second is not None:
            _note(first, second, asked, call, frame)


def note_names(
    test: ast.expr,
    first: Sequence[ast.stmt],
    second: Sequence[ast.stmt],
    changes: Sequence[dict[str, Value | None]],
    frame: Frame,
) -> None:
    """What the arms of an `if` assign."""
    made = [_made_once(block) for block in (first, second)]
    for name in {**made[0], **made[1]}:
        values = [arm.get(name, frame.names.get(name)) for arm in changes]
        if any(value is None or not value.is_tensor for value in values):
            continue
        if _are_alike([value for value in values if value is not None]):
            continue
        one, other = (arm.get(name, ast.Name(name, ast.Load())) for arm in made)
        if one is not None and other is not None:
            _note(one, other, test, None, frame)


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
    first: ast.expr,
    second: ast.expr,
    test: ast.expr | None,
    call: ast.Call | None,
    frame: Frame,
) -> None:
    """`call` is what gives the result of either arm; None where the slice itself stands in the function."""
    for one, other in ((first, second), (second, first)):
        if isinstance(one, ast.Subscript) and _is_shorter(one, other, test):
            value = frame.analysis.evaluate(one.value, frame)
            frame.analysis.gradients.note_slice(one, call or one, value, frame)
            return


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


def _slices(part: ast.Subscript) -> Iterator[ast.Slice]:
    """The slices that take a part of a dimension; none where the subscript does something else as well."""
    given = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    if all(isinstance(each, ast.Slice) or _is_ellipsis(each) for each in given):
        for each in given:
            if isinstance(each, ast.Slice) and ast.unparse(each) != ":":
                yield each


def axes_sliced(part: ast.Subscript) -> list[tuple[int, ast.Slice]] | None:
    """The axes of which a subscript takes a slice other than `:`, from the end behind `...`; None where it changes the number of axes."""
    given = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    behind = next((i for i, each in enumerate(given) if _is_ellipsis(each)), len(given))
    axes: list[tuple[int, ast.Slice]] = []
    for place, each in enumerate(given):
        if isinstance(each, ast.Slice):
            if each.lower or each.upper or each.step:
                axes.append((place if place < behind else place - len(given), each))
        elif not _is_ellipsis(each):
            return None
    return axes


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def leaves_out(given: ast.Slice, test: ast.expr | None) -> bool:
    """Whether a slice leaves something out: `[1:]`, `[:-1]`, `[::2]`; or `[:k]` where the test compares with `k`.

    Others may be whole wherever the program meets them: `if was_padded: x = x[:height]`.
    """
    lower, upper, step = (_number(bound) for bound in (given.lower, given.upper, given.step))
    if (lower or 0) > 0 or (upper or 0) < 0 or abs(step or 1) > 1:
        return True
    if not isinstance(test, (ast.Compare, ast.Call)):
        return False
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else test.args
    compared = {ast.unparse(side) for side in sides}
    bounds = [given.upper, given.lower]
    if isinstance(given.lower, ast.UnaryOp):
        bounds.append(given.lower.operand)
    return any(bound is not None and ast.unparse(bound) in compared for bound in bounds)


def _number(bound: ast.expr | None) -> int | None:
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        known = _number(bound.operand)
        return -known if known is not None else None
    if isinstance(bound, ast.Constant) and isinstance(bound.value, int):
        return bound.value
    return None


def _only_end(part: ast.Subscript) -> int | None:
    """`4` for `x[:, :4]`; None for other slices."""
    slices = list(_slices(part))
    if len(slices) != 1 or slices[0].lower is not None or slices[0].step is not None:
        return None
    return _number(slices[0].upper)


def _are_alike(values: Sequence[Value]) -> bool:
    """Whether the sizes are known and the same."""
    shapes = [value.shape for value in values]
    if not shapes or any(shape is None for shape in shapes):
        return False
    sizes = [size for shape in shapes if shape is not None for size in shape]
    return len(set(shapes)) == 1 and all(isinstance(size, int) for size in sizes)
