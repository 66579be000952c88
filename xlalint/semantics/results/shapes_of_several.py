"""The static shapes of the tensors that one call returns: moments, and what matrices are taken apart into."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.semantics.arguments import Bound
from xlalint.semantics.results import shapes
from xlalint.semantics.results.operands import numbers, operand_shape
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import FALSE, NONE, NOTHING_KNOWN, TRUE, Value

_MATRIX = ("tensor", "input", "x")


def of_call(name: str, bound: Bound) -> tuple[Shape, ...] | None:
    """The shapes of the tensors that a call returns, in their order; None of other calls, and where one is not known."""
    rule = _RULES.get(name)
    return rule(bound) if rule is not None else None


def of_one(name: str, bound: Bound) -> Shape | None:
    """The shape of the one tensor that is left where the vectors are not asked for: `tf.linalg.svd(x, compute_uv=False)`."""
    if name.rsplit(".", 1)[-1] != "svd" or bound.get("compute_uv") != FALSE:
        return None
    every = _singular_values(bound)
    return None if every is None else every[0]


def _operand(bound: Bound) -> Shape | None:
    given = next((bound[each] for each in _MATRIX if each in bound), NOTHING_KNOWN)
    return None if given.producer is not None else operand_shape(given)


def _matrix(bound: Bound) -> tuple[Shape, int | None, int | None] | None:
    """The batch of matrices, their rows and their columns."""
    shape = _operand(bound)
    return None if shape is None or len(shape) < 2 else (shape[:-2], shape[-2], shape[-1])


def _smaller(rows: int | None, columns: int | None) -> int | None:
    return None if rows is None or columns is None else min(rows, columns)


def _flag(bound: Bound, *names: str, default: Value) -> bool | None:
    """What a flag says; None where it is not known."""
    given = next((bound[name] for name in names if name in bound), default)
    return given == TRUE if given in (TRUE, FALSE) else None


def _moments(bound: Bound) -> tuple[Shape, ...] | None:
    axes = numbers(bound.get("axes", NOTHING_KNOWN))
    keeps = _flag(bound, "keepdims", "keep_dims", default=FALSE)
    shape = _operand(bound)
    if shape is None or not axes or keeps is None:
        return None
    known = [axis for axis in axes if axis is not None]
    if len(known) != len(axes):
        return None
    left = shapes.reduced(shape, tuple(known), keeps)
    return None if left is None else (left, left)


def _singular_values(bound: Bound) -> tuple[Shape, ...] | None:
    matrix = _matrix(bound)
    is_full = _flag(bound, "full_matrices", default=FALSE)
    if matrix is None or is_full is None:
        return None
    batch, rows, columns = matrix
    fewer = _smaller(rows, columns)
    left, right = (rows, columns) if is_full else (fewer, fewer)
    return ((*batch, fewer), (*batch, rows, left), (*batch, columns, right))


def _orthogonal(bound: Bound) -> tuple[Shape, ...] | None:
    matrix = _matrix(bound)
    is_full = _flag(bound, "full_matrices", default=FALSE)
    if matrix is None or is_full is None or bound.get("mode", NONE) != NONE:
        return None
    batch, rows, columns = matrix
    inner = rows if is_full else _smaller(rows, columns)
    return ((*batch, rows, inner), (*batch, inner, columns))


def _eigenvectors(bound: Bound) -> tuple[Shape, ...] | None:
    matrix = _matrix(bound)
    if matrix is None:
        return None
    batch, rows, columns = matrix
    return ((*batch, rows), (*batch, rows, columns))


_RULES: dict[str, Callable[[Bound], tuple[Shape, ...] | None]] = {
    "tf.nn.moments": _moments,
    "keras.ops.moments": _moments,
    "tf.linalg.svd": _singular_values,
    "tf.linalg.qr": _orthogonal,
    "keras.ops.qr": _orthogonal,
    "tf.linalg.eigh": _eigenvectors,
    "keras.ops.eigh": _eigenvectors,
}
