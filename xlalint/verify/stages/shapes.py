"""Another batch size, another length: does the function compile for those too, and to the same numbers?

What eager code does not take either is no finding: many a function is written for one size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tensorflow as tf

from xlalint.verify import randomness, retrace
from xlalint.verify.patching import Patches
from xlalint.verify.records import (
    EAGER,
    FAILED,
    LOWER,
    NOTE,
    NUMBERS,
    OK,
    RUN,
    SHAPES,
    SKIPPED,
    TRACE,
)
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.failing import AtConcreteError, said_of
from xlalint.verify.stages.pairs import Inputs, Pair
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.tensors import on_host
from xlalint.verify.stages.variables import Kept

# Where one size took longer than this, others are not tried.
_AFFORDABLE = 20.0
# What TensorFlow 2.12 to 2.21 say of arguments that an input_signature does not take.
_ABOUT_SIGNATURES = ("Can not cast TensorSpec", "input_signature", "incompatible with input")


class _SignatureError(Exception):
    """A function says itself which shapes it takes."""


@dataclass(frozen=True, slots=True)
class _Other:
    """Inputs of other shapes, and how to call them: `batch 4`."""

    words: str
    tensors: list[Any]


def shapes(subject: Subject) -> Said:
    """The function with sizes seen in another call, or with half the batch and half the length."""
    seconds = subject.books.seconds(TRACE, LOWER, RUN)
    if seconds > _AFFORDABLE:
        return Said(SKIPPED, f"not tried: one size takes {seconds:.0f} s to compile")
    if not subject.books.passed(EAGER):
        return Said(SKIPPED, "eager code fails: there is nothing to hold other sizes against")
    told: list[str] = []
    refused: list[str] = []
    for other in _others(subject):
        if why := _refusal(subject, other):
            refused.append(f"eager code does not take {other.words} ({why})")
            continue
        try:
            said = _outcome(subject, other)
        except _SignatureError:
            refused.append("its input_signature takes these shapes only")
            break
        if said.status == FAILED:
            return said
        told.append(f"{other.words}{': ' + said.detail if said.detail else ''}")
    if not told:
        return Said(SKIPPED, "; ".join(refused) or _why_none(subject))
    baked = _baked_in(subject)
    detail = "; ".join([" and ".join(told), *refused, *([baked] if baked else [])])
    return Said(NOTE if baked else OK, detail)


def _why_none(subject: Subject) -> str:
    if _sized(subject) is None:
        return "other sizes of ragged and sparse inputs are not made up"
    return "no input has a batch or a length"


def _outcome(subject: Subject, other: _Other) -> Said:
    """What these inputs come to; failures tell of them."""
    failures = subject.books.failures
    n_before = len(failures)
    try:
        said = _tried(subject, other)
    except compiling.TooLongError:
        raise
    except Exception as error:
        if any(words in str(error) for words in _ABOUT_SIGNATURES):
            raise _SignatureError from error
        said = said_of(SHAPES, error, subject)
    if said.status != FAILED:
        return said
    failures += [said.failure] if said.failure is not None else []
    failures[n_before:] = [
        replace(failure, message=f"with {other.words}: {failure.message}")
        for failure in failures[n_before:]
    ]
    return Said(FAILED, f"with {other.words}: {said.detail}")


def _others(subject: Subject) -> Iterator[_Other]:
    seen = _seen(subject)
    if seen is not None:
        yield _Other("the shapes of another call", seen)
        return
    tensors = _sized(subject)
    if tensors is None:
        return
    batch = _common(one.shape[0] for one in tensors if len(one.shape) >= 1)
    if batch is not None:
        size = _other_size(batch)
        yield _Other(
            f"batch {size} for {batch}", [_resized(one, 0, batch, size) for one in tensors]
        )
    length = _common(
        one.shape[1] for one in tensors if len(one.shape) == 2 and not one.dtype.is_floating
    )
    if length is not None and length > 1:
        size = _other_size(length)
        resized = [_resized(one, 1, length, size) for one in tensors]
        yield _Other(f"length {size} for {length}", resized)


def _sized(subject: Subject) -> list[Any] | None:
    """The inputs, where each has sizes of its own."""
    return list(subject.first) if all(subject.flat.is_whole) else None


def _seen(subject: Subject) -> list[Any] | None:
    shapes_of_first = [tuple(one.shape) for one in subject.first]
    for call in subject.program.calls[1:]:
        tensors = subject.flat.tensors(call)
        if [tuple(one.shape) for one in tensors] != shapes_of_first:
            return list(tensors)
    return None


def _common(sizes: Any) -> int | None:
    """The size that most have; the first of those that tie."""
    counted = Counter(size for size in sizes if size)
    return counted.most_common(1)[0][0] if counted else None


def _other_size(size: int) -> int:
    return size // 2 if size % 2 == 0 else size + 1


def _resized(tensor: Any, axis: int, old: int, new: int) -> Any:
    """A tensor of size `old` in `axis` cut, or filled up with its first elements; any other as it is."""
    if len(tensor.shape) <= axis or tensor.shape[axis] != old:
        return tensor
    indices = tf.range(new) % old
    return tf.gather(tensor, indices, axis=axis)


def _refusal(subject: Subject, other: _Other) -> str:
    """Why eager code does not take these inputs; empty where it does."""
    try:
        with subject.listening() as program, Kept(subject.concrete):
            on_host(subject.run_eagerly(other.tensors, program))
    except Exception as error:
        return subject.tools.locator.python_error(SHAPES, error).message[:160]
    return ""


def _tried(subject: Subject, other: _Other) -> Said:
    with randomness.reproducible() as dice, subject.listening() as program:
        pair = Pair(subject, Inputs(other.tensors), program, dice)
        try:
            if subject.books.passed(LOWER):
                compiling.lowered(pair.concrete, Inputs(other.tensors).specs)
            pair.compile()
        except compiling.TooLongError:
            raise
        except Exception as error:
            raise AtConcreteError(error, pair.concrete) from error
        if not subject.books.compared(NUMBERS):
            return Said(OK, "not compared")
        return pair.compared(SHAPES)


def _baked_in(subject: Subject) -> str:
    """Why a function cannot be traced without knowing its batch size; empty where it can, as it must where batches differ in
    size and are not traced one by one."""
    batch = _common(one.shape[0] for one in subject.first if len(one.shape) >= 1)
    if batch is None or _sized(subject) is None:
        return ""
    specs = [
        tf.TensorSpec([None, *one.shape[1:]], one.dtype)
        if len(one.shape) >= 1 and one.shape[0] == batch
        else tf.TensorSpec(one.shape, one.dtype)
        for one in subject.first
    ]
    patches = Patches()
    retrace.anew(patches)
    try:
        with subject.listening() as program:
            tf.function(program, autograph=False).get_concrete_function(*specs)
    except Exception as error:
        failure = subject.tools.locator.python_error(SHAPES, error)
        place = failure.place
        where = "" if place is None else f", in {Path(place.path).name}:{place.line}"
        return f"tracing fails where the batch size is not known{where}: {failure.message[:160]}"
    finally:
        patches.undo()
    return ""
