"""The variables that a program can read and change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from xlalint.verify.stages.tensors import nudged


@dataclass(frozen=True, slots=True)
class Handle:
    """A variable that a concrete function captures; its name as the graph has it."""

    resource: Any
    dtype: Any
    name: str

    def read(self) -> Any:
        return tf.raw_ops.ReadVariableOp(resource=self.resource, dtype=self.dtype)

    def assign(self, value: Any) -> None:
        tf.raw_ops.AssignVariableOp(resource=self.resource, value=value)


def handles(concrete: Any) -> list[Handle]:
    """Those among the captures of a concrete function that are initialised variables."""
    names = {
        id(variable.handle): variable.name.partition(":")[0]
        for variable in getattr(concrete.graph, "variables", ())
    }
    return [
        Handle(handle, dtype, names.get(id(handle), "a variable"))
        for handle in concrete.captured_inputs
        if handle.dtype == tf.resource and (dtype := _dtype(handle)) is not None
    ]


def has_uninitialised(concrete: Any) -> bool:
    """Does a program capture a variable that has no value yet?"""
    return any(
        not bool(tf.raw_ops.VarIsInitializedOp(resource=one.resource)) for one in handles(concrete)
    )


class Kept:
    """Put back the variables that a function can change. `move` lets floats start one bit away."""

    def __init__(self, concrete: Any, move: bool = False) -> None:
        self._handles = handles(concrete)
        self._move = move
        self._values: list[Any] = []

    @property
    def is_empty(self) -> bool:
        return not self._handles

    def __enter__(self) -> None:
        self._values = [handle.read() for handle in self._handles]
        if self._move:
            for index, handle in enumerate(self._handles):
                handle.assign(nudged(self._values[index], index))

    def __exit__(self, *_: object) -> None:
        for handle, value in zip(self._handles, self._values, strict=True):
            handle.assign(value)


def _dtype(handle: Any) -> Any:
    data = getattr(handle, "_handle_data", None)
    described = getattr(data, "shape_and_type", None) or getattr(
        getattr(data, "shape_inference", None), "shape_and_type", None
    )
    return tf.as_dtype(described[0].dtype) if described else None
