"""What slices leave out, read off how they are written: `x[:, :k]`, `x[..., 1:]`."""

from __future__ import annotations

import ast

from xlalint.semantics.syntax import is_ellipsis


def axes_sliced(part: ast.Subscript) -> list[tuple[int, ast.Slice]] | None:
    """The axes of which a subscript takes a slice other than `:`, from the end behind `...`; None where it changes the number of axes."""
    given = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    behind = next((i for i, each in enumerate(given) if is_ellipsis(each)), len(given))
    axes: list[tuple[int, ast.Slice]] = []
    for place, each in enumerate(given):
        if isinstance(each, ast.Slice):
            if each.lower or each.upper or each.step:
                axes.append((place if place < behind else place - len(given), each))
        elif not is_ellipsis(each):
            return None
    return axes


def leaves_out(given: ast.Slice, test: ast.expr | None) -> bool:
    """Whether a slice leaves something out: `[1:]`, `[:-1]`, `[::2]`; or `[:k]` where the test compares with `k`.

    Others may be whole wherever the program meets them: `if was_padded: x = x[:height]`.
    """
    lower, upper, step = (number(bound) for bound in (given.lower, given.upper, given.step))
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


def number(bound: ast.expr | None) -> int | None:
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        known = number(bound.operand)
        return -known if known is not None else None
    if isinstance(bound, ast.Constant) and isinstance(bound.value, int):
        return bound.value
    return None
