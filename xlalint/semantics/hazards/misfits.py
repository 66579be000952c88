"""Element types that a compiler refuses, or that a TPU computes in many steps of narrower ones.

What TPUs refuse was seen with the TPU compiler (v5e, ahead of time), which was given the calls of all public functions that a CPU
compiles, in every dtype: products of 64-bit integers, FFTs of float64, float64 from the stateful random operations (dropout and
categorical too), int64 from them beyond 32 bits, and the gradient of maxima over windows of float64. complex128 has no kernel of TensorFlow's there at all.
float64 is emulated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import DTYPE
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import eigenvalues, text
from xlalint.semantics.results import dtypes as element_types
from xlalint.semantics.values import ARRIVING, CONSTANT, NONE, NOTHING_KNOWN, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# How a use goes wrong: the words are on the rule's page.
NO_KERNEL = "no-kernel"
REFUSED = "refused"
NO_TPU_KERNEL = "no-tpu-kernel"
EMULATED = "emulated"
SHUFFLED = "shuffled"
MIXED = "mixed"
NARROWED = "narrowed"
NARROWED_RESULT = "narrowed-result"

_WIDE = frozenset({"float64", "int64", "uint64", "complex64", "complex128", "float16"})
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
# Operations that take thousands of steps where float32 takes one, or seconds to compile.
_COSTLY = _PRODUCTS | {
    "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Cholesky", "Svd", "Qr", "MatrixInverse", "MatrixSolve",
    "SelfAdjointEigV2", "MatrixTriangularSolve", "Lgamma", "Digamma", "Erfinv", "Ndtri", "Igamma", "Igammac", "Betainc", "Erf",
}  # fmt: skip
_STATEFUL_RANDOM = frozenset({"RandomStandardNormal", "RandomUniform", "TruncatedNormal"})
# Up to a number that 32 bits hold, libtpu draws int64 as int32 (0.0.52: 2**31 - 1 compiles, 2**31 and what is not known do not).
_DRAW_WHOLE_NUMBERS = frozenset(
    {"tf.random.uniform", "tf.compat.v1.random.uniform", "tf.compat.v1.random_uniform"}
)
_LARGEST_OF_32_BITS = 2**31 - 1
# They draw in the dtype of what they are given: tf.random.categorical, tf.nn.dropout.
_DRAW_ALIKE = frozenset({"Multinomial", "RandomUniform"})

_HALF, _WHOLE = frozenset({"bfloat16", "float16"}), frozenset({"float32", "float64"})
# Functions whose tensors must be of one dtype; products of matrices and keras.ops take two (2.15 and 2.21).
_OF_ONE_DTYPE = frozenset(
    f"tf.{home}{name}"
    for home in ("", "math.")
    for name in (
        *("add", "subtract", "multiply", "divide", "maximum", "minimum", "pow"),
        *("squared_difference", "where", "concat", "stack", "einsum"),
    )
)


class Misfit(NamedTuple):
    """A use of a dtype that goes wrong, and how."""

    how: str
    dtype: str


def of_call(
    api: Api, bound: dict[str, Value], flat: list[Value], result: Value, given: str | None
) -> Misfit | None:
    """What is wrong with the dtypes of a call; None where nothing is known against them.

    `flat` are the leaves of the arguments, `given` is the dtype that an argument names.
    """
    if api.name in _OF_ONE_DTYPE:
        mixed = _mixed(flat)
        if mixed is not None:
            return mixed
    narrowed = eigenvalues.refused(api.name, flat)
    if narrowed is not None:
        return Misfit(NARROWED, narrowed)
    shuffled = _shuffled(api, bound)
    if shuffled is not None:
        return Misfit(SHUFFLED, shuffled)
    passed = {leaf.dtype for leaf in flat if leaf.is_tensor and leaf.dtype is not None}
    dtypes = passed | ({given} if given else set())
    if dtypes.isdisjoint(_WIDE):
        return _of_some_complex(api) if element_types.SOME_COMPLEX in passed else None
    for dtype, status in api.dtypes:
        if dtype in passed and status != "compiles" and api.status == "compiles":
            return Misfit(NO_KERNEL, dtype)
    operations = set(api.ops)
    if "float64" in passed and any("FFT" in operation for operation in operations):
        return Misfit(REFUSED, "float64")
    if "complex128" not in passed and (given == "complex128" or result.dtype == "complex128"):
        return Misfit(NO_TPU_KERNEL, "complex128")  # said where it begins
    if not _PRODUCTS.isdisjoint(operations) and not passed.isdisjoint({"int64", "uint64"}):
        return _of_product(passed)
    if given == "int64" and api.name in _DRAW_WHOLE_NUMBERS and _is_wide(bound.get("maxval")):
        return Misfit(REFUSED, "int64")
    if "float64" not in dtypes:
        return None
    if not _STATEFUL_RANDOM.isdisjoint(operations) and given == "float64":
        return Misfit(REFUSED, "float64")
    if "float64" in passed and not _DRAW_ALIKE.isdisjoint(operations):
        return Misfit(REFUSED, "float64")
    if "float64" in passed and not _COSTLY.isdisjoint(operations):
        return Misfit(EMULATED, "float64")
    return None


def _shuffled(api: Api, bound: dict[str, Value]) -> str | None:
    """The dtype of fractions in a vector that `tf.random.shuffle` takes: XLA sorts it beside random whole numbers, and compares these in the order of
    fractions, which its verifier refuses on a CPU (TensorFlow 2.15 and 2.21) and not for a TPU. Rows of a matrix it gathers; a single element stays where it is.
    """
    vector = bound.get("value", NOTHING_KNOWN)
    if "RandomShuffle" not in api.ops or not vector.is_tensor or vector.structured:
        return None
    if vector.shape is None or len(vector.shape) != 1 or vector.shape[0] in (0, 1):
        return None
    is_fraction = vector.dtype is not None and vector.dtype.startswith(("float", "bfloat"))
    return vector.dtype if is_fraction else None


def _is_wide(limit: Value | None) -> bool:
    """Whether whole numbers are drawn up to one that 32 bits do not hold, or that only the running program knows."""
    if limit is None:
        return False
    known = limit.constant()
    if known is not None:
        return type(known.value) is int and known.value > _LARGEST_OF_32_BITS
    return limit.is_tensor and limit.sure and limit.dependence >= ARRIVING


def _of_some_complex(api: Api) -> Misfit | None:
    """Numbers of which no more is known than that they are complex: what holds for both widths of them."""
    refused = {dtype for dtype, status in api.dtypes if status != "compiles"}
    if api.status != "compiles" or not refused >= element_types.COMPLEX:
        return None
    return Misfit(NO_KERNEL, "complex64 or complex128")


def _of_product(passed: set[str]) -> Misfit | None:
    """A product of whole numbers only: with a float among them it is another argument that is whole."""
    if len(passed) != 1:
        return None
    return Misfit(REFUSED, next(iter(passed)))


def policy(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`set_floatx("float64")`, `set_global_policy("mixed_float16")`: from there on, layers compute in it."""
    frame.analysis.precision.saw_policy(arguments, node, frame)
    wanted = arguments.positional[0].constant() if arguments.positional else None
    if wanted is not None and wanted.value == "float64":
        misfit = Misfit(EMULATED, "float64")
        frame.analysis.note_anywhere(frame, node, DTYPE, NONE, misfit)
    return NONE


POLICIES = frozenset(
    {
        "keras.backend.set_floatx",
        "keras.config.set_floatx",
        "keras.mixed_precision.set_global_policy",
    }
    | {"keras.mixed_precision.set_dtype_policy", "keras.config.set_dtype_policy"}
)


def _mixed(operands: Iterable[Value]) -> Misfit | None:
    """Half and whole precision in one operation, which TensorFlow does not make alike. (Variables of layers are cast by Keras.)"""
    dtypes = {value.dtype or "" for value in operands if value.kind is TENSOR}
    if dtypes.isdisjoint(_HALF) or dtypes.isdisjoint(_WHOLE):
        return None
    return Misfit(MIXED, min(dtypes & _WHOLE))


def are_mixed(left: Value, right: Value) -> bool:
    """Whether one operand is of half precision, and the other is not."""
    return _mixed((left, right)) is not None


def note_pair(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """`x * scale`, elementwise."""
    mixed = _mixed((left, right))
    if mixed is not None:
        frame.analysis.note(frame, node, DTYPE, left, mixed)


def note_eigenvalues(node: ast.AST, left: Value, right: Value, frame: Frame) -> bool:
    """`energies * factor`, where XLA refuses it; returns whether it does."""
    dtype = eigenvalues.refused_pair(left, right)
    if dtype is not None:
        frame.analysis.note(frame, node, DTYPE, left, Misfit(NARROWED, dtype))
    return dtype is not None


def note_returned(node: ast.expr, value: Value, frame: Frame) -> None:
    """Eigenvalues among the results of a function that XLA compiles by itself."""
    dtype = eigenvalues.returned(value)
    if dtype is not None and text.is_of_program(frame):
        frame.analysis.note(frame, node, DTYPE, value, Misfit(NARROWED_RESULT, dtype))


def note_product(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """`a @ b`."""
    dtype = left.dtype or right.dtype
    if dtype in ("int64", "uint64") and left.is_tensor and right.is_tensor:
        if _runs(left, right):
            frame.analysis.note(frame, node, DTYPE, left, Misfit(REFUSED, dtype))
    elif dtype == "float64" and _runs(left, right):
        frame.analysis.note(frame, node, DTYPE, left, Misfit(EMULATED, dtype))


def _runs(*operands: Value) -> bool:
    """Whether the product is left to run: of constants alone it is computed before."""
    return any(operand.dependence != CONSTANT for operand in operands if operand.is_tensor)
