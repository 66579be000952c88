"""Are two sets of numbers the same, as far as their dtypes can tell?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Largest error allowed, relative to the largest magnitude of the tensor. Sums of a million float32 differ by 6e-4
# between eager and XLA; wrong programs are off by whole elements.
_TOLERANCE = {
    "float64": 1e-8,
    "float32": 2e-3,
    "float16": 2e-2,
    "bfloat16": 6e-2,
    "complex64": 2e-3,
    "complex128": 1e-8,
}

# Gradients, by the relative L2 error of each variable with a floor of a thousandth of the norm of all: convolutions
# reach 1e-2 in float32 and 0.2 in bfloat16 where nothing is wrong.
_GRADIENT_TOLERANCE = {"float16": 0.3, "bfloat16": 0.3}
_GRADIENT_FLOOR = 1e-3


@dataclass(frozen=True, slots=True)
class Difference:
    """`error` is relative (inf for shapes, NaNs and exact types); `what` tells a reader where and how."""

    error: float
    what: str


def outputs(eager: Sequence[Any], compiled: Sequence[Any]) -> Difference | None:
    """The worst difference between outputs, or None when they agree."""
    if len(eager) != len(compiled):
        return Difference(np.inf, f"eager returns {len(eager)} tensors, XLA {len(compiled)}")
    found = [
        difference
        for index, (left, right) in enumerate(zip(eager, compiled, strict=True))
        if (difference := _tensor(f"output {index}", np.asarray(left), np.asarray(right)))
    ]
    return max(found, key=lambda difference: difference.error, default=None)


def gradients(eager: Sequence[Any], compiled: Sequence[Any]) -> Difference | None:
    """The worst difference between gradients, or None when they agree."""
    if len(eager) != len(compiled):
        return Difference(np.inf, f"eager gives {len(eager)} gradients, XLA {len(compiled)}")
    pairs = [
        (np.asarray(left), np.asarray(right)) for left, right in zip(eager, compiled, strict=True)
    ]
    norm = float(np.sqrt(sum(float(np.sum(np.square(_wide(left)))) for left, _ in pairs)))
    found = []
    for index, (left, right) in enumerate(pairs):
        name = f"gradient {index}"
        if left.shape != right.shape or _nans_differ(left, right):
            found.append(_tensor(name, left, right) or Difference(np.inf, f"{name} differs"))
            continue
        scale = max(float(np.linalg.norm(_wide(left))), _GRADIENT_FLOOR * norm, 1e-30)
        error = float(np.linalg.norm(np.nan_to_num(_wide(left) - _wide(right)))) / scale
        if error > _GRADIENT_TOLERANCE.get(str(left.dtype), 5e-2):
            found.append(Difference(error, f"{name} differs by {error:.2g} of its norm"))
    return max(found, key=lambda difference: difference.error, default=None)


def largest_error(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The relative error between two runs, inf where shapes differ: how much a program's numbers move by themselves."""
    errors = [
        _error(np.asarray(one), np.asarray(other)) for one, other in zip(left, right, strict=False)
    ]
    return max(errors, default=0.0)


def sample(eager: Sequence[Any], compiled: Sequence[Any]) -> str:
    """`: 7.0 eagerly, 5.0 under XLA`, of the first pair that differs."""
    for left, right in zip(eager, compiled, strict=True):
        left, right = np.asarray(left), np.asarray(right)
        if _tensor("", left, right) is not None:
            if left.shape != right.shape:
                shapes = f": shape {list(left.shape)} eagerly, {list(right.shape)} under XLA"
                return shapes + _sample(left, right)
            return _sample(left, right)
    return ""


def _tensor(name: str, eager: Any, compiled: Any) -> Difference | None:
    if eager.shape != compiled.shape:
        return Difference(
            np.inf,
            f"{name} has shape {list(eager.shape)} eagerly, {list(compiled.shape)} under XLA{_sample(eager, compiled)}",
        )
    if eager.size == 0:
        return None
    if str(eager.dtype) not in _TOLERANCE:
        if np.array_equal(eager, compiled):
            return None
        return Difference(np.inf, f"{name} ({eager.dtype}) differs{_sample(eager, compiled)}")
    if _nans_differ(eager, compiled):
        return Difference(
            np.inf, f"{name} is not a number in other places{_sample(eager, compiled)}"
        )
    error = _error(eager, compiled)
    if error <= _TOLERANCE[str(eager.dtype)]:
        return None
    return Difference(
        error, f"{name} differs by {error:.2g} of its largest value{_sample(eager, compiled)}"
    )


def _error(left: Any, right: Any) -> float:
    if left.shape != right.shape:
        return float("inf")
    if left.size == 0:
        return 0.0
    if left.dtype.kind in "biuSO" and str(left.dtype) not in _TOLERANCE:
        return 0.0 if np.array_equal(left, right) else float("inf")
    wide_left, wide_right = _wide(left), _wide(right)
    with np.errstate(invalid="ignore"):
        gap = np.abs(wide_left - wide_right)
    gap = np.where(wide_left == wide_right, 0.0, gap)  # equal infinities
    finite = np.abs(wide_left[np.isfinite(wide_left)])
    scale = max(float(finite.max()) if finite.size else 0.0, 1e-6)
    worst = float(np.nanmax(gap)) if not np.all(np.isnan(gap)) else 0.0
    return worst / scale


def _nans_differ(left: Any, right: Any) -> bool:
    if left.shape != right.shape or str(left.dtype) not in _TOLERANCE:
        return bool(left.shape != right.shape)
    return bool(np.any(np.isnan(_wide(left)) != np.isnan(_wide(right))))


def _wide(array: Any) -> Any:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _sample(eager: Any, compiled: Any) -> str:
    """The first values of both, for small tensors and for the first place where larger ones differ."""
    if eager.size <= 8 and compiled.size <= 8:
        return f": {_short(eager)} eagerly, {_short(compiled)} under XLA"
    if eager.shape != compiled.shape:
        return ""
    index = np.unravel_index(
        int(np.argmax(np.atleast_1d(eager != compiled))), np.atleast_1d(eager).shape
    )
    at = ", ".join(str(int(i)) for i in index)
    return f": at [{at}] {np.atleast_1d(eager)[index]} eagerly, {np.atleast_1d(compiled)[index]} under XLA"


def _short(array: Any) -> str:
    return np.array2string(np.asarray(array), precision=5, separator=", ").replace("\n", "")
