"""Inputs on which rewrites go wrong: empty and full masks, ties, NaN, infinities, no elements at all, other dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_SEED = 5
# Tensors of one call that are varied one at a time.
_ALONE = 4
_MIXED = "the first float in float64"


@dataclass(frozen=True, slots=True)
class Case:
    """Tensors for one call and what is special about them.

    `is_mixed`: dtypes that do not go together, which the original bears only as far as it does not come to all of its code.
    """

    label: str
    tensors: tuple[Any, ...]
    is_mixed: bool = False

    @property
    def signature(self) -> tuple[Any, ...]:
        """The same for what one compiled program takes."""
        return tuple((one.dtype.name, tuple(one.shape)) for one in self.tensors)


@dataclass(frozen=True, slots=True)
class Given:
    """The tensors of a call that is known to run. Where `is_free`, any value of the same kind may be put in the place of one;
    parts of a ragged or sparse tensor are not free. `dtypes` and `shapes` name the tensors whose dtype and first dimension
    the program leaves open."""

    tensors: tuple[Any, ...]
    is_free: tuple[bool, ...]
    has_open_dtype: tuple[bool, ...]
    has_open_shape: tuple[bool, ...]


_Pattern = Callable[[Any, Any], Any]


def _drawn(dice: Any, array: Any) -> Any:
    return (dice.standard_normal(array.shape) * 2).astype(array.dtype)


def _with(value: float, at: Callable[[Any], Any]) -> _Pattern:
    """Drawn values, some of which are `value`."""

    def make(dice: Any, array: Any) -> Any:
        made = _drawn(dice, array)
        flat = made.reshape(-1)
        if flat.size:
            flat[at(flat)] = value
        return flat.reshape(array.shape)

    return make


def _ties(dice: Any, array: Any) -> Any:
    return dice.integers(0, 2, array.shape).astype(array.dtype)


_FLOATS: Mapping[str, _Pattern] = {
    "other values": _drawn,
    "zeros": lambda dice, array: np.zeros_like(array),
    "all equal": lambda dice, array: np.ones_like(array),
    "negative": lambda dice, array: -np.abs(_drawn(dice, array)) - np.asarray(0.1, array.dtype),
    "positive": lambda dice, array: np.abs(_drawn(dice, array)) + np.asarray(0.1, array.dtype),
    "ties": _ties,
    "large": lambda dice, array: _drawn(dice, array) * np.asarray(1e3, array.dtype),
    "a NaN": _with(float("nan"), lambda flat: [0]),
    "NaN last": _with(float("nan"), lambda flat: [-1]),
    "all NaN": _with(float("nan"), lambda flat: slice(None)),
    "an infinity": _with(float("inf"), lambda flat: [len(flat) // 2]),
    "a negative infinity": _with(-float("inf"), lambda flat: [0]),
}
_ALONE_TOO = ("zeros", "a NaN", "all NaN", "an infinity", "negative", "positive", "ties")
_BOOLEANS: Mapping[str, _Pattern] = {
    "an empty mask": lambda dice, array: np.zeros_like(array),
    "a full mask": lambda dice, array: np.ones_like(array),
    "the inverted mask": lambda dice, array: np.logical_not(array),
    "one true": lambda dice, array: (np.arange(array.size) == array.size // 2).reshape(array.shape),
}
# Whole numbers may be indices or sizes: they stay in the range that is known to run.
_INTEGERS: Mapping[str, _Pattern] = {
    "the least number everywhere": lambda dice, array: np.full_like(array, _least(array)),
    "the largest number everywhere": lambda dice, array: np.full_like(array, _largest(array)),
    "zeros": lambda dice, array: np.zeros_like(array),
    "other numbers": lambda dice, array: dice.integers(
        _least(array), _largest(array) + 1, array.shape
    ).astype(array.dtype),
}


def _least(array: Any) -> int:
    return int(array.min()) if array.size else 0


def _largest(array: Any) -> int:
    return int(array.max()) if array.size else 0


def cases(given: Given, others: Sequence[Sequence[Any]] = ()) -> Iterator[Case]:
    """The call itself, `others` that were seen, then edge cases; those that one compiled program takes come together."""
    yield Case("the inputs as they were found", given.tensors)
    for other in others:
        yield Case("another call", tuple(other))
    seen: set[Any] = set()
    for label, tensors in (*_values(given), *_shapes(given), *_dtypes(given)):
        key = tuple(_key(one) for one in tensors)
        if key not in seen:
            seen.add(key)
            yield Case(label, tensors, is_mixed=label == _MIXED)


def _key(tensor: Any) -> Any:
    return (tensor.dtype.name, tuple(tensor.shape), np.asarray(tensor).tobytes())


def _values(given: Given) -> Iterator[tuple[str, tuple[Any, ...]]]:
    floats = _of_kind(given, lambda dtype: bool(dtype.is_floating))
    booleans = _of_kind(given, lambda dtype: bool(dtype.is_bool))
    integers = _of_kind(given, lambda dtype: bool(dtype.is_integer))
    for kind, indices in ((_FLOATS, floats), (_BOOLEANS, booleans), (_INTEGERS, integers)):
        for label, pattern in kind.items() if indices else ():
            yield label, _varied(given.tensors, dict.fromkeys(indices, pattern))
    for index in floats[:_ALONE] if len(floats) > 1 else ():
        for label in _ALONE_TOO:
            yield f"{label} in one tensor", _varied(given.tensors, {index: _FLOATS[label]})
    for mask_label, mask in _BOOLEANS.items() if floats and booleans else ():
        for label in ("all NaN", "an infinity", "a NaN", "negative"):
            both = dict.fromkeys(booleans, mask) | dict.fromkeys(floats, _FLOATS[label])
            yield f"{label} with {mask_label}", _varied(given.tensors, both)
    for index in booleans[:_ALONE] if len(booleans) > 1 else ():
        for label, pattern in _BOOLEANS.items():
            yield f"{label} in one tensor", _varied(given.tensors, {index: pattern})
    for label in ("ties", "other values", "negative") if floats and integers else ():
        both = dict.fromkeys(floats, _FLOATS[label])
        both |= dict.fromkeys(integers, _INTEGERS["other numbers"])
        yield f"{label}, other numbers", _varied(given.tensors, both)


def _of_kind(given: Given, is_kind: Callable[[Any], bool]) -> list[int]:
    return [
        index
        for index, tensor in enumerate(given.tensors)
        if given.is_free[index] and is_kind(tensor.dtype)
    ]


def _varied(tensors: Sequence[Any], patterns: Mapping[int, _Pattern]) -> tuple[Any, ...]:
    dice = np.random.default_rng(_SEED)
    return tuple(
        _made(tensor, patterns[index], dice) if index in patterns else tensor
        for index, tensor in enumerate(tensors)
    )


def _made(tensor: Any, pattern: _Pattern, dice: Any) -> Any:
    array = np.asarray(tensor)
    if tensor.dtype.is_floating and tensor.dtype.size < 4:  # bfloat16 is no type of NumPy's own
        return tf.cast(pattern(dice, array.astype("float32")), tensor.dtype)
    return tf.constant(pattern(dice, array), tensor.dtype)


def _shapes(given: Given) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """No rows, one row, in all tensors that have as many rows as the first."""
    rows = next(
        (
            int(one.shape[0])
            for one, is_free, is_open in zip(given.tensors, given.is_free, given.has_open_shape)
            if is_free and is_open and one.shape.rank
        ),
        0,
    )
    if not rows:
        return
    for count, label in ((0, "no rows"), (1, "one row")):
        cut = tuple(
            one[:count] if _has_rows(one, rows) and given.is_free[index] else one
            for index, one in enumerate(given.tensors)
        )
        is_closed = any(
            one.shape.rank and _has_rows(one, rows) and not given.has_open_shape[index]
            for index, one in enumerate(given.tensors)
        )
        if count != rows and not is_closed:
            yield label, cut


def _has_rows(tensor: Any, rows: int) -> bool:
    return bool(tensor.shape.rank) and int(tensor.shape[0]) == rows


def _dtypes(given: Given) -> Iterator[tuple[str, tuple[Any, ...]]]:
    floats = [i for i in _of_kind(given, lambda d: d == tf.float32) if given.has_open_dtype[i]]
    integers = [i for i in _of_kind(given, lambda d: d == tf.int32) if given.has_open_dtype[i]]
    if floats:
        for dtype in (tf.float16, tf.float64):
            yield f"{dtype.name}", _cast(given.tensors, floats, dtype)
    if len(floats) > 1:
        yield _MIXED, _cast(given.tensors, floats[:1], tf.float64)
    if integers:
        yield "int64", _cast(given.tensors, integers, tf.int64)


def _cast(tensors: Sequence[Any], indices: Sequence[int], dtype: Any) -> tuple[Any, ...]:
    return tuple(
        tf.cast(one, dtype) if index in indices else one for index, one in enumerate(tensors)
    )
