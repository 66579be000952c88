"""Does another value of the same shape compile again? On this machine it may pass unseen; it costs a compilation each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import hlo
from xlalint.verify.records import NOTE, OK, RUN
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.tensors import array as on_host_array
from xlalint.verify.stages.tensors import same
from xlalint.verify.stages.variables import Handle, Kept, handles

PHASE = "values"
# Values that the program is run with after its first.
_MORE = 2
# Where one compilation takes longer than this, others are not made to be counted.
_AFFORDABLE = 15.0
# Counters and sizes are variables of few elements.
_FEW = 16


def values(subject: Subject) -> Said:
    """Compare the programs lowered with other values known, name by name; then run with those and count compilations."""
    others = [_seen(subject) or _made(subject.first, 1), _made(subject.first, 2)]
    blamed = _blamed(subject, others[0])
    subject.books.per_value = blamed
    why = _run_others(subject, others)
    if blamed:
        return Said(NOTE, f"compiles again for each value of {', '.join(blamed)}{why}")
    return Said(OK, why.removeprefix("; "))


def _seen(subject: Subject) -> list[Any] | None:
    """The values of another call with the same shapes."""
    for call in subject.program.calls[1:]:
        tensors = subject.flat.tensors(call)
        if _shapes(tensors) == _shapes(subject.first) and not all(
            map(same, tensors, subject.first)
        ):
            return list(tensors)
    return None


def _shapes(tensors: Sequence[Any]) -> list[Any]:
    return [(tuple(tensor.shape), tensor.dtype) for tensor in tensors]


def _blamed(subject: Subject, second: Sequence[Any]) -> list[str]:
    first, concrete = subject.first, subject.concrete
    base = compiling.lowered(concrete, first)
    blamed = []
    if not hlo.same_program(base, compiling.lowered(concrete, second)):
        for index, name in enumerate(subject.flat.names):
            if not same(first[index], second[index]):
                changed = [*first[:index], second[index], *first[index + 1 :]]
                if not hlo.same_program(base, compiling.lowered(concrete, changed)):
                    blamed.append(name)
    counters = [one for one in handles(concrete) if one.dtype.is_integer and _is_small(one)]
    if counters and not hlo.same_program(base, _with_counted(subject, counters)):
        blamed += [
            f"variable {one.name}"
            for one in counters
            if not hlo.same_program(base, _with_counted(subject, [one]))
        ]
    return blamed


def _is_small(handle: Handle) -> bool:
    return int(tf.size(handle.read())) <= _FEW


def _with_counted(subject: Subject, counters: Sequence[Handle]) -> str:
    with Kept(subject.concrete):
        for one in counters:
            one.assign(one.read() + tf.cast(1, one.dtype))
        return compiling.lowered(subject.concrete, subject.first)


def _run_others(subject: Subject, others: Sequence[Sequence[Any]]) -> str:
    """Run with other values, for the compilations to be counted; a phrase where that did not go."""
    seconds = subject.books.seconds(RUN)
    if subject.books.per_value and seconds > _AFFORDABLE:
        return f"; not counted: one compilation takes {seconds:.0f} s"
    subject.tools.on_phase(f"{PHASE} {subject.program.id}")
    try:
        for tensors in others:
            with Kept(subject.concrete):
                compiling.run(subject.concrete, tensors)
            subject.books.values_tried += 1
    except compiling.TooLongError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        return f"; other values could not be run: {type(error).__name__}: {reason[:160]}"
    finally:
        subject.tools.on_phase("targets")
    return ""


def _made(tensors: Sequence[Any], seed: int) -> list[Any]:
    """Other values of the same dtypes in the range that was seen: permuted, and the largest a little smaller."""
    return [_varied(tensor, seed) for tensor in tensors]


def _varied(tensor: Any, seed: int) -> Any:
    array = np.array(on_host_array(tensor))
    if array.size == 0 or not (
        tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_bool
    ):
        return tensor
    generator = np.random.default_rng(seed)
    mixed = generator.permutation(array.reshape(-1)).reshape(array.shape)
    if tensor.dtype.is_bool:
        return tf.constant(np.logical_not(mixed) if same(mixed, array) else mixed)
    if tensor.dtype.is_floating:
        return tf.cast(mixed * np.asarray(1 - seed / 8, mixed.dtype), tensor.dtype)
    if array.min() == array.max():
        lower = array - min(seed, 2) if array.min() > 2 else array + seed
        return tf.constant(lower, tensor.dtype)
    top = mixed.max()
    second = mixed[mixed < top].max()
    return tf.constant(np.where(mixed == top, second, mixed), tensor.dtype)
