"""Operators of tf.linalg whose determinants or solutions XLA cannot compile (measured, TensorFlow 2.15 and 2.21: fixtures/XLA401).

`tf.linalg.det` has no kernel, and operators that know nothing better ask for it. Those known to be positive definite go by way of
Cholesky, which has a kernel. Some ask the operators that they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlalint.semantics.elements import flattened
from xlalint.semantics.values import (
    FROM_SHAPE,
    INSTANCE,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    Value,
    class_name,
)

_HOME = "tf.linalg.LinearOperator"
_DETERMINANTS = {"determinant": "MatrixDeterminant", "log_abs_determinant": "LogMatrixDeterminant"}
# These ask the operators that they hold (tensorflow/python/ops/linalg, 2.12 to 2.21).
_HOLDING = frozenset(
    f"{_HOME}{name}" for name in ("Adjoint", "BlockDiag", "Composition", "Inversion", "Kronecker")
)
_BLOCKS, _UPDATE = f"{_HOME}BlockLowerTriangular", f"{_HOME}LowRankUpdate"
# The determinant of what a low rank changes is one of a small matrix.
_OF_AN_UPDATE = dict.fromkeys(_DETERMINANTS, "MatrixDeterminant")
_BANDS = f"{_HOME}Tridiag"
# Operators that have determinants of their own, and may be changed by a low rank.
_PLAIN = tuple(f"{_HOME}{name}" for name in ("Diag", "LowerTriangular", "ScaledIdentity"))
# By class, the operation that a method emits.
OPERATIONS: dict[str, dict[str, str]] = {
    f"{_HOME}FullMatrix": _DETERMINANTS,
    f"{_HOME}Toeplitz": _DETERMINANTS,
    _BANDS: _DETERMINANTS,
    f"{_HOME}Permutation": {"determinant": "MatrixDeterminant"},
    _BLOCKS: _DETERMINANTS,
    _UPDATE: _OF_AN_UPDATE,
    **dict.fromkeys(_HOLDING, _DETERMINANTS),
    **{name: {} for name in _PLAIN},
}
# What a method calls that XLA refuses, though it has a kernel.
REFUSED = {_BANDS: dict.fromkeys(("solve", "solvevec"), "tf.linalg.tridiagonal_solve")}


def is_known(name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether all methods of what calling this class makes are as `OPERATIONS` says."""
    if name == _UPDATE:
        return _is_general(values, keywords)
    if name not in OPERATIONS or "is_positive_definite" in keywords:
        return False
    first = values[0] if values else next(iter(keywords.values()), NOTHING_KNOWN)
    if name in _HOLDING:
        return any(map(_has_no_determinant, flattened((*values[:1], *keywords.values()))))
    if name == _BLOCKS:
        rows = first.ref if first.kind is SEQUENCE else ()
        last = [row.ref[-1] for row in rows if row.kind is SEQUENCE and row.ref]
        return any(map(_has_no_determinant, last))
    return not _is_constant(first)  # of constants alone, TensorFlow computes beforehand


def determinant_of(value: Value) -> str | None:
    """The operation without a kernel that the logarithm of an operator's determinant needs; None where there is none."""
    if value.kind is not INSTANCE:
        return None
    return OPERATIONS.get(class_name(value) or "", {}).get("log_abs_determinant")


def _is_general(values: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether an update is not known to leave the matrix positive definite."""
    given = dict(zip(("base_operator", "u", "diag_update", "v"), values), **keywords)
    if given.get("v", NONE) != NONE:
        return True
    if given.get("diag_update", NONE) != NONE and "is_diag_update_positive" not in given:
        return True
    base = given.get("base_operator", NOTHING_KNOWN)
    return base.kind is INSTANCE and class_name(base) in OPERATIONS


def _has_no_determinant(value: Value) -> bool:
    return determinant_of(value) is not None


def _is_constant(value: Value) -> bool:
    if value.kind is SEQUENCE:
        return all(map(_is_constant, value.ref))
    return value.kind is PYTHON or (
        value.is_tensor and value.dependence <= FROM_SHAPE and value.sure
    )
