"""Data types by name: `tf.float32`, `np.float32`, `"float32"` and what their attributes say."""

from __future__ import annotations

from functools import cache

from xlalint.semantics.values import EXTERNAL, SOME_PYTHON, Value, constant

FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEX = frozenset({"complex64", "complex128"})
INTEGER = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64))
# Of a tensor that an imaginary number multiplies, or that is transformed: one of the two.
SOME_COMPLEX = "complex"
NAMES = FLOATING | COMPLEX | INTEGER | {"bool", "string"}
_SELF = frozenset({"base_dtype", "real_dtype"})


def is_complex(dtype: str | None) -> bool:
    """Whether numbers of this type have imaginary parts."""
    return dtype in COMPLEX or dtype == SOME_COMPLEX


def differ(one: str | None, other: str | None) -> bool:
    """Whether two types are known to be different ones."""
    if one is None or other is None or one == other:
        return False
    return not (SOME_COMPLEX in (one, other) and is_complex(one) and is_complex(other))


def of_tensor(dtype: str | None) -> Value:
    """What `x.dtype` is for a tensor of this type."""
    return Value(EXTERNAL, ref=f"tf.{dtype}") if dtype in NAMES else SOME_PYTHON


def named(value: Value) -> str | None:
    """The type that a value names, as `tf.float32` does; None for everything else."""
    return name_of(str(value.ref)) if value.kind is EXTERNAL else None


@cache
def name_of(dotted: str) -> str | None:
    """The type of a dotted name, `tf.float32`; None of one that names something else."""
    if not dotted.startswith(("tf.", "np.", "builtins.")):
        return None
    name = dotted.split(".", 1)[1].removeprefix("dtypes.").rstrip("_")
    return name if name in NAMES else None


def attribute(dtype: str, attr: str) -> Value:
    """`tf.float32.is_floating` and its like."""
    if attr in _SELF and dtype not in COMPLEX:
        return of_tensor(dtype)
    answers = {
        "is_floating": dtype in FLOATING,
        "is_integer": dtype in INTEGER,
        "is_complex": dtype in COMPLEX,
        "is_bool": dtype == "bool",
        "is_unsigned": dtype.startswith("u"),
        "name": dtype,
        **(_limits(dtype) if attr in ("max", "min") and dtype in INTEGER else {}),
    }
    return constant(answers[attr]) if attr in answers else SOME_PYTHON


def _limits(dtype: str) -> dict[str, int]:
    """The largest and the smallest whole number of a type."""
    bits = int(dtype.rpartition("int")[2])
    if dtype.startswith("u"):
        return {"max": 2**bits - 1, "min": 0}
    return {"max": 2 ** (bits - 1) - 1, "min": -(2 ** (bits - 1))}
