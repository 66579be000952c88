"""Eigenvalues of complex matrices, which XLA keeps as real numbers under the name of complex ones.

What `tf.linalg.eigh` and `tf.linalg.eigvalsh` return of a complex64 matrix is complex64 to TensorFlow and float32 to XLA (float64 of
complex128): beside other complex numbers the program does not compile, and returned, the buffer is read as what it is not. Their real
part is right, and so are what functions of one argument make of them, as long as the real part of that is taken. The gradient of
`eigh` does not compile at all; that of `eigvalsh` does (TensorFlow 2.15 and 2.21; fixtures/XLA404 and XLA407).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlalint.semantics.results.dtypes import is_complex
from xlalint.semantics.values import PYTHON, SEQUENCE, TENSOR, Value

# What `Value.given` holds for them.
_MARK = ("complex eigenvalues",)
_WITH_VECTORS = frozenset({"tf.linalg.eigh", "tf.compat.v1.self_adjoint_eig"})
_ALONE = frozenset({"tf.linalg.eigvalsh", "tf.compat.v1.self_adjoint_eigvals"})
# Functions of them that are as they are: real to XLA, complex by name.
_ALIKE = frozenset(
    f"tf.{name}"
    for name in (
        *("math.exp", "exp", "math.conj", "math.negative", "negative", "math.square", "square", "identity", "stop_gradient"),
        *("math.sqrt", "sqrt", "math.log", "reverse", "gather", "reshape", "expand_dims"),
    )
)  # fmt: skip
# Operations of several tensors, which must be of one type, and those that fill up with complex zeros.
_OF_ONE_TYPE = frozenset(
    f"tf.{name}"
    for name in (
        *("math.add", "add", "math.subtract", "subtract", "math.multiply", "multiply", "math.divide", "divide", "math.pow", "pow"),
        *("math.equal", "equal", "where", "concat", "linalg.diag"),
    )
)  # fmt: skip


def explained(name: str) -> str | None:
    """What `xlalint explain` says of an API that makes them; None of others."""
    if name not in _WITH_VECTORS and name not in _ALONE:
        return None
    gradient = ", and no gradient compiles" if name in _WITH_VECTORS else ""
    return f"the eigenvalues are real numbers to XLA: only tf.math.real(...) of them is right{gradient}"


def are(value: Value) -> bool:
    """Whether a value is such eigenvalues, or real as they are."""
    return value.given == _MARK and value.kind is TENSOR


def of_call(name: str, result: Value, arguments: tuple[Value, ...]) -> Value:
    """What a call returns, with eigenvalues marked where they come from, and where they go on as they are."""
    if name in _WITH_VECTORS or name in _ALONE:
        matrix = next((value for value in arguments if value.is_tensor), None)
        if matrix is None or not is_complex(matrix.dtype):
            return result
        values = Value(TENSOR, matrix.dependence, matrix.producer, matrix.dtype, 1, given=_MARK)
        if matrix.shape is not None and len(matrix.shape) > 1:
            shape = matrix.shape[:-1]
            values = values._replace(shape=shape, rank=len(shape))
        if name in _ALONE:
            return values
        vectors = values._replace(given=(), shape=matrix.shape, rank=matrix.rank)
        return Value(SEQUENCE, matrix.dependence, ref=(values, vectors))
    if name in _ALIKE and result.kind is TENSOR and arguments and are(arguments[0]):
        return result._replace(given=_MARK)
    if name == "tf.cast" and are(result) and are(arguments[0]):
        return result if result.dtype == arguments[0].dtype else result._replace(given=())
    if are(result) and name not in _ALIKE:
        return result._replace(given=())
    return result


def has_no_gradient(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call makes eigenvectors of a complex matrix."""
    given = arguments.values()
    return name in _WITH_VECTORS and any(is_complex(each.dtype) for each in given if each.is_tensor)


def refused(name: str, flat: Iterable[Value]) -> str | None:
    """The dtype of eigenvalues that a call puts beside other complex numbers; None where it does not."""
    if name not in _OF_ONE_TYPE:
        return None
    leaves = tuple(flat)
    eigenvalues = next((leaf for leaf in leaves if are(leaf)), None)
    if eigenvalues is None or (name != "tf.linalg.diag" and not _has_others(name, leaves)):
        return None
    return eigenvalues.dtype


def _has_others(name: str, leaves: Iterable[Value]) -> bool:
    others = [leaf for leaf in leaves if not are(leaf) and leaf.dtype != "bool"]
    return any(each.kind is TENSOR or _is_factor(each, name) for each in others)


def _is_factor(value: Value, name: str) -> bool:
    """Whether an argument is a number that is made complex; the axis of `tf.concat` is none."""
    known = value.constant()
    return known is not None and type(known.value) in (int, float) and name != "tf.concat"


def refused_pair(left: Value, right: Value) -> str | None:
    """The dtype of eigenvalues beside another number or tensor, elementwise; None where they are not."""
    if are(left) is are(right) or not all(each.kind in (TENSOR, PYTHON) for each in (left, right)):
        return None
    return left.dtype if are(left) else right.dtype


def returned(value: Value) -> str | None:
    """The dtype of eigenvalues, all or some of them, among results; None where there are none. Single ones come out right."""
    parts = value.ref if value.kind is SEQUENCE else (value,)
    return next((part.dtype for part in parts if are(part) and part.rank), None)
