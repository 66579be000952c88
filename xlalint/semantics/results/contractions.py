"""Products that sum an axis away: whether their result is still data-sized, and along which axis.

`tf.matmul(kept, kept, transpose_a=True)` is as big as `kept` is wide, however many rows a mask left (measured: fixtures/XLA204).
"""

from __future__ import annotations

from xlalint.semantics.arguments import Bound
from xlalint.semantics.results.result_sizes import producer_of
from xlalint.semantics.values import NOTHING_KNOWN, Value

# What makes the result data-sized, None where nothing does, and the axis along which it is.
Size = tuple[str | None, int | None]

_MATRIX = 2


def of_call(leaf: str, bound: Bound, flat: tuple[Value, ...]) -> Size | None:
    """What is left of the data-sized axes of the operands; None for calls that are no such product, or not understood."""
    if leaf == "matmul":
        a, b = (operand(bound, "a", "x1", "x"), operand(bound, "b", "x2", "y"))
        return product(a, b, turns(bound, "a"), turns(bound, "b"))
    return _einsum(flat) if leaf == "einsum" else None


def product(left: Value, right: Value, turned: bool = False, right_turned: bool = False) -> Size:
    """What is left in `left @ right`: the rows of the first, the columns of the second, and the axes before them."""
    rows = _kept(left, -2 if turned else -1)
    columns = _kept(right, -1 if right_turned else -2)
    axis = left.sized_axis if rows is not None and not turned else None
    return producer_of(rows, columns), axis


def _kept(operand: Value, summed: int) -> str | None:
    """What made an operand data-sized, unless that is, or may be, the axis that is summed. Where nobody knows the rank, it is a matrix."""
    if operand.producer is None or operand.sized_axis is None:
        return None
    rank = len(operand.shape) if operand.shape is not None else operand.rank or _MATRIX
    return None if operand.sized_axis == max(rank + summed, 0) else operand.producer


def operand(bound: Bound, *names: str) -> Value:
    """What a product is given under one of these names."""
    return next((bound[name] for name in names if name in bound), NOTHING_KNOWN)


def turns(bound: Bound, operand: str) -> bool:
    """Whether `transpose_a` or `adjoint_a` is given, and is not known to be false."""
    for name in (f"transpose_{operand}", f"adjoint_{operand}"):
        given = bound.get(name)
        known = given.constant() if given is not None else None
        if given is not None and (known is None or known.value):
            return True
    return False


def _einsum(flat: tuple[Value, ...]) -> Size | None:
    """`tf.einsum("ni,nj->ij", kept, kept)`: the letters of the result say which axes are left."""
    equation = flat[0].constant() if flat else None
    if equation is None or not isinstance(equation.value, str) or "." in equation.value:
        return None
    given, arrow, result = equation.value.replace(" ", "").partition("->")
    letters = given.split(",")
    if not arrow or len(letters) != len(flat) - 1:
        return None
    left: list[tuple[str | None, int | None]] = []
    for names, operand in zip(letters, flat[1:]):
        if operand.producer is None:
            continue
        if operand.sized_axis is None or operand.sized_axis >= len(names):
            return None
        axis = result.find(names[operand.sized_axis])
        if axis >= 0:
            left.append((operand.producer, axis))
    return (producer_of(*(made for made, _ in left)), left[0][1]) if left else (None, None)
