"""What an error message says should be different about the arguments: the next values to try."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify.alone.scenes import Scene

_Change = Callable[[Any, Scene], Any]
_RANK = re.compile(
    r"(?:expected (?:min_)?ndim=|(?:must be|must have|be at least|expected) (?:at least )?(?:of )?rank (?:at least )?|"
    r"with rank |must be )(\d)(?:-dimensional)?"
)
_UNPACKED = re.compile(r"(?:not enough|too many) values to unpack \(expected (\d)")
_KEY = re.compile(r"KeyError: '(\w+)'")
_MOST = 24


def repairs(arguments: Mapping[str, Any], error: str, scene: Scene) -> Iterator[dict[str, Any]]:
    """Other arguments that the error suggests, one tensor changed at a time, then all of them."""
    key = _KEY.search(error)
    if key is not None:
        yield from _with_key(arguments, key[1], scene)
    count = 0
    for change in _changes(error):
        changed_at_all = False
        for index in range(_leaves(arguments)):
            changed = _changed(arguments, change, scene, index)
            if changed is not None and count < _MOST:
                count += 1
                changed_at_all = True
                yield changed
        if changed_at_all:
            everywhere = _changed(arguments, change, scene, None)
            if everywhere is not None:
                yield everywhere


def _changes(error: str) -> Iterator[_Change]:
    told = error.lower()
    if "int64" in told and "int32" in told and "list of allowed values" not in told:
        yield _as_int64
    if "not increasing" in told or "sorted" in told:
        yield _sorted
    if "int32, int64" in told or "dtype int" in told or "integer" in told or "int32" in told:
        yield _sorted_ids
        yield _as_ids
    if "sparsetensor" in told or "has no attribute 'indices'" in told or "dense_shape" in told:
        yield _sparse
    if "ragged" in told or "row_splits" in told:
        yield _ragged
    if "float" in told and ("int" in told or "bool" in told):
        yield _as_float
    if "bool" in told:
        yield _as_bool
    if "uint8" in told:
        yield _as_bytes
    if "string" in told:
        yield _as_text
    if "complex" in told:
        yield _as_complex
    unpacked = _UNPACKED.search(error)
    rank = _RANK.search(error)
    for match in (rank, unpacked):
        if match is not None:
            yield _of_rank(int(match[1]))
    if "square" in told or "size-incompatible" in told or "inner-most" in told:
        yield _square
    if "incompatible shapes" in told or "must be equal" in told or "broadcast" in told:
        yield _whole
        yield _without_last


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _rows(value: Any) -> int:
    return int(value.shape[0]) if value.ndim else 4


def _as_int64(value: Any, scene: Scene) -> Any:
    return value.astype("int64") if value.dtype.kind in "iu" and value.dtype != np.int64 else None


def _sorted(value: Any, scene: Scene) -> Any:
    return np.sort(value) if value.dtype.kind in "iu" else None


def _sorted_ids(value: Any, scene: Scene) -> Any:
    return np.sort(scene.integers(2, _rows(value)))


def _as_ids(value: Any, scene: Scene) -> Any:
    return scene.integers(3, *value.shape) if value.dtype.kind == "f" else None


def _sparse(value: Any, scene: Scene) -> Any:
    return scene.sparse(_rows(value), _rows(value)) if value.dtype.kind == "f" else None


def _ragged(value: Any, scene: Scene) -> Any:
    return scene.ragged(3 if value.ndim > 2 else 0)


def _as_float(value: Any, scene: Scene) -> Any:
    return value.astype("float32") if value.dtype.kind in "iub" else None


def _as_bool(value: Any, scene: Scene) -> Any:
    return scene.booleans(*value.shape) if value.dtype.kind != "b" else None


def _as_bytes(value: Any, scene: Scene) -> Any:
    return (scene.floats(*value.shape) * 255).astype("uint8")


def _as_text(value: Any, scene: Scene) -> Any:
    return tf.fill(list(value.shape[:1]), "some text")


def _as_complex(value: Any, scene: Scene) -> Any:
    return value.astype("complex64") if value.dtype.kind == "f" else None


def _square(value: Any, scene: Scene) -> Any:
    return (
        scene.floats(*value.shape[:-2], value.shape[-1], value.shape[-1])
        if value.ndim > 1
        else None
    )


def _whole(value: Any, scene: Scene) -> Any:
    return scene.floats(*scene.shape) if value.shape != scene.shape else None


def _without_last(value: Any, scene: Scene) -> Any:
    return scene.floats(*value.shape[:-1]).astype(value.dtype) if value.ndim else None


def _of_rank(rank: int) -> _Change:
    def change(value: Any, scene: Scene) -> Any:
        if value.ndim == rank:
            return None
        shape = scene.of_rank(rank)
        if value.dtype.kind == "f":
            return scene.floats(*shape)
        return scene.integers(3, *shape).astype(value.dtype)

    return change


def _leaves(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(_leaves(one) for one in value.values())
    if type(value) in (list, tuple):
        return sum(_leaves(one) for one in value)
    return int(_is_array(value))


def _changed(
    arguments: Mapping[str, Any], change: _Change, scene: Scene, index: int | None
) -> dict[str, Any] | None:
    """`arguments` with the array at `index` (all arrays for None) changed; None where nothing is."""
    seen = [0]
    is_changed = [False]

    def walk(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: walk(one) for name, one in value.items()}
        if type(value) in (list, tuple):
            return type(value)(walk(one) for one in value)
        if not _is_array(value):
            return value
        seen[0] += 1
        if index is not None and seen[0] - 1 != index:
            return value
        new = change(value, scene)
        if new is None:
            return value
        is_changed[0] = True
        return new

    made = {name: walk(one) for name, one in arguments.items()}
    return made if is_changed[0] else None


def _with_key(arguments: Mapping[str, Any], key: str, scene: Scene) -> Iterator[dict[str, Any]]:
    """A dictionary with one key more."""
    for name, value in arguments.items():
        if isinstance(value, dict) and key not in value:
            for made in (scene.floats(*scene.shape), scene.integers(3, *scene.shape[:1])):
                yield {**arguments, name: {**value, key: made}}
