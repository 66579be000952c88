"""What one run of a program gave, and whether two runs gave the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import compare
from xlalint.verify.stages.tensors import array

OUTPUTS = "outputs"
GRADIENTS = "gradients"
VARIABLES = "variables"
DTYPES = "dtypes"

# Largest error between two eager runs, relative to the largest magnitude of the tensor; sums taken in another order
# differ by less. Wider types than these are compared as `compare` does.
_EAGERLY = {"float32": 1e-4, "float64": 1e-9}
# An error below this may be rounding, which is asked of inputs moved by their last bit.
_MAY_BE_ROUNDING = 0.05
# Elements of an array that are all shown, and characters of one that is cut.
_LONGEST = 12
_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number that was returned. `dtype` is empty for Python's own, which has none."""

    array: Any
    dtype: str

    @property
    def kind(self) -> str:
        return {"f": "float", "V": "float", "i": "int", "u": "int", "b": "bool"}.get(
            str(self.array.dtype.kind), str(self.array.dtype)
        )


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that came to its end, or its `error`. `gradients` are None where none could be taken; `is_endless`: it was stopped."""

    outputs: Sequence[Leaf] = ()
    gradients: Sequence[Leaf] | None = None
    variables: Sequence[Leaf] = ()
    error: str = ""
    raised: BaseException | None = field(default=None, compare=False)
    is_endless: bool = False

    def part(self, where: str) -> Sequence[Leaf] | None:
        return {
            OUTPUTS: self.outputs,
            GRADIENTS: self.gradients,
            VARIABLES: self.variables,
        }[where]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs differ. `error` is relative, infinite where no rounding explains it."""

    where: str
    index: int
    error: float
    what: str

    @property
    def may_be_rounding(self) -> bool:
        return self.error < _MAY_BE_ROUNDING


def leaves(structure: Any) -> list[Leaf]:
    """The numbers in what a program returned."""
    found = []
    for one in tf.nest.flatten(structure, expand_composites=True):
        if isinstance(one, tf.Variable):
            one = one.read_value()
        if tf.is_tensor(one) and one.dtype not in (tf.resource, tf.variant):
            found.append(Leaf(array(one), one.dtype.name))
        elif isinstance(one, (np.ndarray, np.generic)):
            found.append(Leaf(np.asarray(one), str(one.dtype)))
        elif isinstance(one, (bool, int, float)):
            found.append(Leaf(np.asarray(one), ""))
    return found


def difference(
    original: Ran, other: Ran, *, is_compiled: bool, may_change: Collection[str] = ()
) -> Difference | None:
    """Where the two differ first; None where they agree. Gradients count where both could be taken.

    A compiled program returns tensors where eager code returned numbers of Python. What `may_change` names is not compared.
    """
    for where in (OUTPUTS, VARIABLES, GRADIENTS):
        left, right = original.part(where), other.part(where)
        if left is None or right is None or where in may_change:
            continue
        if len(left) != len(right):
            return Difference(where, 0, np.inf, f"{len(left)} {where}, then {len(right)}")
        found = _gradients(left, right) if where == GRADIENTS else None
        if where != GRADIENTS:
            found = _values(where, left, right, is_compiled, DTYPES in may_change)
        if found is not None:
            return found
    return None


def _values(
    where: str,
    left: Sequence[Leaf],
    right: Sequence[Leaf],
    is_compiled: bool,
    has_any_dtype: bool,
) -> Difference | None:
    for index, (one, other) in enumerate(zip(left, right)):
        if not has_any_dtype and not _same_type(one, other, is_compiled):
            what = f"{one.dtype or one.kind} becomes {other.dtype or other.kind}"
            return Difference(where, index, np.inf, what)
        first, second = _in_one_type(one, other)
        found = compare.outputs([first], [second])
        if found is None and not is_compiled:
            found = _strictly(first, second)
        if found is not None:
            return Difference(where, index, found.error, found.what)
    return None


def _same_type(one: Leaf, other: Leaf, is_compiled: bool) -> bool:
    """Python's numbers have no dtype of their own, and a compiled program returns tensors alone."""
    if is_compiled or not one.dtype or not other.dtype:
        return one.kind == other.kind
    return one.dtype == other.dtype


def _in_one_type(one: Leaf, other: Leaf) -> tuple[Any, Any]:
    """Both numbers in the narrower of their types; Python's own take that of the other."""
    if one.array.dtype == other.array.dtype:
        return one.array, other.array
    typed = [leaf.array.dtype for leaf in (one, other) if leaf.dtype]
    if one.kind != other.kind or one.kind not in ("float", "int"):
        return one.array.astype("float32"), other.array.astype("float32")
    narrow = min(typed or [one.array.dtype], key=lambda dtype: dtype.itemsize)
    return one.array.astype(narrow), other.array.astype(narrow)


def _strictly(one: Any, other: Any) -> compare.Difference | None:
    error = compare.largest_error([one], [other])
    if error > _EAGERLY.get(str(one.dtype), np.inf):
        return compare.Difference(error, f"differs by {error:.2g} of its largest value")
    return None


def _gradients(left: Sequence[Leaf], right: Sequence[Leaf]) -> Difference | None:
    found = compare.gradients([one.array for one in left], [one.array for one in right])
    if found is None:
        return None
    index = next(
        (
            i
            for i, (one, other) in enumerate(zip(left, right))
            if compare.gradients([one.array], [other.array]) is not None
        ),
        0,
    )
    return Difference(GRADIENTS, index, found.error, found.what)


def told(run: Ran, where: str, index: int, other: Ran) -> str:
    """One result of a run for a reader: `output 0 = [1., 2.]`; of a large one, the first place in which `other` differs."""
    if run.error:
        return f"an error ({run.error})"
    part = run.part(where) or ()
    if index >= len(part):
        return f"{len(part)} {where}"
    one = part[index]
    name = where.removesuffix("s")
    which = f"{name} {index} = " if len(part) > 1 or where != OUTPUTS else ""
    dtype = f" ({one.dtype or f'a Python {one.kind}'})" if one.dtype != "float32" else ""
    at = _first_apart(one.array, other.part(where) or (), index)
    if at is not None:
        place = ", ".join(str(number) for number in at)
        return f"{name} {index} at [{place}] = {spelled(one.array[at])}{dtype}"
    return f"{which}{spelled(one.array)}{dtype}"


def _first_apart(value: Any, others: Sequence[Leaf], index: int) -> tuple[int, ...] | None:
    """Where two large arrays differ most visibly; None for small ones, and for other shapes."""
    if index >= len(others) or value.size <= _LONGEST or value.shape != others[index].array.shape:
        return None
    if value.dtype.kind not in "fiub":
        return None
    one, other = value.astype("float64"), others[index].array.astype("float64")
    with np.errstate(invalid="ignore"):
        gap = np.where(one == other, 0.0, np.abs(one - other))
    gap = np.where(np.isnan(gap), np.where(np.isnan(one) & np.isnan(other), 0.0, np.inf), gap)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape))


def spelled(value: Any) -> str:
    """An array in one line; of a large one the ends, and its shape."""
    whole = np.asarray(value)
    if whole.dtype.kind == "V":
        whole = whole.astype("float32")
    if whole.size == 0:
        return f"no elements, shape {list(whole.shape)}"
    text = np.array2string(
        whole, precision=5, separator=", ", threshold=_LONGEST, edgeitems=2, max_line_width=10_000
    )
    text = " ".join(text.split())
    if whole.size <= _LONGEST:
        return text
    if len(text) > _WIDEST:
        text = np.array2string(whole.reshape(-1)[:4], precision=5, separator=", ")[:-1] + ", ...]"
    return f"{text} of shape {list(whole.shape)}"
