"""Inputs of which a mask, `tf.where(c)` or `tf.unique` keeps a part, made from inputs of which it kept all.

With a full buffer nothing can go wrong (see `fills`): agreeing numbers would say nothing of other data.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import fills
from xlalint.verify.fills import Fills
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.tensors import array, same


def keeping_part(subject: Subject) -> Iterator[tuple[list[Any], Fills]]:
    """Tensors with which the program, run eagerly, keeps a part everywhere, and where that was.

    Nothing where the values are those of the user's own run, whose meaning is not ours to change.
    """
    if not subject.program.has_made_inputs or not subject.books.fills.full:
        return
    for tensors in _others(subject.first):
        seen = Fills()
        with contextlib.suppress(Exception), subject.listening() as program:
            with fills.watching(subject.tools.locator.is_user, seen):
                subject.run_eagerly(tensors, program)
            if seen.part and not seen.full:
                yield tensors, seen


def _others(tensors: list[Any]) -> Iterator[list[Any]]:
    for change in (_ending_as_it_starts, _mirrored, _centred):
        changed = [_changed(tensor, change) for tensor in tensors]
        if not all(map(same, changed, tensors)):
            yield changed


def _changed(tensor: Any, change: Callable[[Any], Any]) -> Any:
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating) or tensor.shape.num_elements() < 2:
        return tensor
    return tf.cast(change(np.array(array(tensor))), tensor.dtype)


def _ending_as_it_starts(values: Any) -> Any:
    """One value twice, first and last."""
    values.flat[-1] = values.flat[0]
    return values


def _mirrored(values: Any) -> Any:
    """The first half, there and back."""
    flat = values.reshape(-1)
    half = flat.size // 2
    flat[flat.size - half :] = flat[:half][::-1]
    return flat.reshape(values.shape)


def _centred(values: Any) -> Any:
    """Numbers of both signs."""
    return values - values.mean() if values.dtype.kind == "f" else values
