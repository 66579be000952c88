"""The operations that a program runs eagerly, and which of them XLA by itself computes otherwise.

Where one kernel of XLA's gives another number than TensorFlow's for the very inputs that the original hands it (NaN left out of
a maximum, 0 / 0 in the gradient of a root), no rewrite is to blame for what comes of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify.stages import compiling
from xlalint.verify.stages.tensors import array

# Operations of one run that are compiled alone.
_MOST = 60


@dataclass(frozen=True, slots=True)
class Operation:
    """One that ran, with the names and values of its attributes in turn."""

    type: str
    inputs: tuple[Any, ...]
    attributes: tuple[Any, ...]
    outputs: tuple[Any, ...]


@dataclass(slots=True)
class Operations:
    """Those of a run, in order; none where this TensorFlow does not tell."""

    seen: list[Operation] = field(default_factory=list)

    @property
    def types(self) -> set[str]:
        return {one.type for one in self.seen}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """While open, what runs eagerly is written down."""
        try:
            from tensorflow.python.framework import op_callbacks
        except ImportError:
            yield
            return

        def note(kind: Any, inputs: Any, attributes: Any, outputs: Any, *_: Any, **__: Any) -> None:
            name = kind.decode() if isinstance(kind, bytes) else str(kind)
            self.seen.append(
                Operation(name, tuple(inputs), tuple(attributes or ()), tuple(outputs))
            )

        op_callbacks.add_op_callback(note)
        try:
            yield
        finally:
            op_callbacks.remove_op_callback(note)

    def otherwise_under_xla(self) -> str:
        """The type of the first operation that XLA, given the same inputs, makes NaN or infinities of where TensorFlow does
        not, or the other way round; empty where none does."""
        tried = 0
        for one in self.seen:
            if tried == _MOST:
                break
            if not any(_is_edge(value) for value in (*one.inputs, *one.outputs)):
                continue
            tried += 1
            with suppress(
                Exception
            ):  # an operation that cannot be called by its name, or has no kernel
                if not _is_alike(one.outputs, _compiled(one)):
                    return one.type
        return ""


def _is_edge(value: Any) -> bool:
    """Does a tensor hold what kernels differ on: NaN, infinities, zeros?"""
    if not tf.is_tensor(value) or not value.dtype.is_floating:
        return False
    numbers = array(value).astype("float64")
    return bool(numbers.size and (~np.isfinite(numbers) | (numbers == 0)).any())


def _compiled(one: Operation) -> Sequence[Any]:
    """What the operation gives under XLA. Raises what calling and compiling it raises."""
    call = getattr(tf.raw_ops, one.type)
    known = list(inspect.signature(call).parameters)
    names = known[: len(one.inputs)]
    told = dict(zip(one.attributes[::2], one.attributes[1::2]))
    options = {
        name: tf.as_dtype(value) if isinstance(value, int) and name[0] in "TS" else value
        for name, value in told.items()
        if name in known[len(names) :]
    }
    jitted = tf.function(
        lambda *tensors: call(**dict(zip(names, tensors)), **options),
        jit_compile=True,
        autograph=False,
    )
    made: Sequence[Any] = tf.nest.flatten(compiling.in_time(lambda: jitted(*one.inputs)))
    return made


def _is_alike(left: Sequence[Any], right: Sequence[Any]) -> bool:
    for one, other in zip(left, right):
        first, second = np.asarray(array(one)), np.asarray(array(other))
        if first.shape != second.shape:
            return False
        if first.dtype.kind == "f" and not np.array_equal(np.isfinite(first), np.isfinite(second)):
            return False
    return True
