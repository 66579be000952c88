"""A ragged tensor computed with a dense one that has an axis, or with the sums of its own rows: their rows are spread over one another, by RaggedRange.

Measured with TensorFlow 2.21, eleven operators and elementwise functions: `rows + matrix`, `rows * vector` and `rows == column` need
RaggedRange, which XLA has no kernel for; numbers and scalars are added to the flat values, and so are rows that end where
its own do (`rows * tf.abs(rows)`), of which only those who cut them know. `rows - tf.reduce_max(rows, axis=1, keepdims=True)` needs it, too: what is
reduced along the rows is a dense matrix of one column. A product of two ragged matrices goes through RaggedTensorToVariant; that of one with a dense
one compiles.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import Verdict
from xlalint.semantics.syntax import called_name
from xlalint.semantics.values import RAGGED, TENSOR, VARIABLE, Value

OPERATION = "RaggedRange"
_PRODUCTS = frozenset({"tf.matmul", "tf.linalg.matmul"})
_OF_PRODUCTS = "RaggedTensorToVariant"
_ELEMENTWISE = "broadcast"


def verdict(api: Api, bound: dict[str, Value]) -> Verdict | None:
    """What becomes of an elementwise function of both, or of a product; None for anything else."""
    rows = [value for value in bound.values() if _is_ragged(value)]
    is_open = any(value.guess for value in rows)
    if api.name in _PRODUCTS and len(rows) == 2:
        return Verdict("fails", (_OF_PRODUCTS,), "no-kernel", (), (), possible=is_open)
    if api.shape != _ELEMENTWISE or not meet(bound.values()):
        return None
    return Verdict("fails", (OPERATION,), "no-kernel", (), (), possible=is_open)


def meet(operands: Iterable[Value]) -> bool:
    """Whether one operand is ragged, or is by a question that was asked of it, and another dense, with at least one axis."""
    given = tuple(operands)
    return any(map(_is_ragged, given)) and any(map(_has_axis, given))


def meets_slices(node: ast.AST, left: Value, right: Value) -> bool:
    """`rows * weights[:, None, :]`, `rows - tf.expand_dims(tops, 1)`: these have an axis, whatever they are of."""
    if not isinstance(node, ast.BinOp):
        return False
    sides = ((left, right, node.right), (right, left, node.left))
    return any(
        _is_ragged(rows) and dense.kind is TENSOR and not dense.guess and _is_of_an_axis(written)
        for rows, dense, written in sides
    )


def _is_of_an_axis(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node) == "expand_dims"
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)


def _is_ragged(value: Value) -> bool:
    return value.kind is RAGGED and not value.optional


def _has_axis(value: Value) -> bool:
    if value.kind is not TENSOR and value.kind is not VARIABLE:
        return False
    if value.guess or value.structured or value.optional:
        return False
    return bool(value.shape) if value.shape is not None else (value.rank or 0) > 0
