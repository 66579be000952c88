"""Which value does XLA need while it compiles? A TPU has none: batches, variables and captured tensors arrive as it runs.

Lowering from shapes takes every argument, variable and captured tensor as a parameter of the program. Where that fails for want
of a constant, each of them in turn is hidden behind a random zero while the others' values are known: those without which
lowering fails are needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from xlalint.verify.records import FAILED, LOWER, OK, SKIPPED
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.variables import handles

_LONGEST_SEARCH = 30.0
# Sizes are computed from few numbers: the values of larger tensors are asked for last.
_FEW = 1024


def opaque(subject: Subject) -> Said:
    """Nothing specialised: every argument and variable is a parameter of the program."""
    if subject.books.passed(LOWER):
        return Said(OK)
    if not _lacks_constant(subject):
        return Said(SKIPPED, "lowering fails for another reason")
    if not subject.has_values:
        return Said(FAILED, "a value is needed when XLA compiles; only shapes were seen")
    if not _lowers(subject.concrete, subject):
        return Said(
            FAILED,
            "a size is needed when XLA compiles that is computed while the program runs, not given by a value of its arguments",
        )
    needed, is_whole = _needed(subject)
    if not needed:
        return Said(FAILED, "values of its arguments are needed when XLA compiles")
    more = "" if is_whole else " (and maybe others: the search was ended)"
    return Said(
        FAILED,
        f"the value of {', '.join(needed)} is needed when XLA compiles; a TPU has none{more}",
    )


def _lacks_constant(subject: Subject) -> bool:
    return any(one.stage == LOWER and one.kind == "not-constant" for one in subject.books.failures)


def _needed(subject: Subject) -> tuple[list[str], bool]:
    """The names whose values are needed, and whether all were asked for in time."""
    names: list[str] = []
    started = time.monotonic()
    for name, hidden in _candidates(subject):
        if time.monotonic() - started > _LONGEST_SEARCH:
            return names, False
        traced = tf.function(hidden, jit_compile=True, autograph=False)
        if not _lowers(traced.get_concrete_function(*subject.specs), subject):
            names.append(name)
    return list(dict.fromkeys(names)), True


def _candidates(subject: Subject) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each argument and variable by name, with the program that cannot know its value."""
    sized = sorted(
        range(len(subject.first)), key=lambda index: int(tf.size(subject.first[index])) > _FEW
    )
    for index in sized:
        dtype = subject.first[index].dtype
        if dtype.is_integer or dtype.is_floating or dtype.is_bool:
            yield f"argument {subject.flat.names[index]}", _without_argument(subject, index)
    for handle in handles(subject.concrete):
        if handle.dtype.is_integer or handle.dtype.is_floating:
            yield f"variable {handle.name}", _without_variable(subject, handle)


def _without_argument(subject: Subject, index: int) -> Callable[..., Any]:
    def run(*tensors: Any) -> Any:
        known = list(tensors)
        known[index] = _unknown(known[index])
        return subject.concrete(*known)

    return run


def _without_variable(subject: Subject, handle: Any) -> Callable[..., Any]:
    def run(*tensors: Any) -> Any:
        handle.assign(_unknown(handle.read()))  # only lowered, never run
        return subject.concrete(*tensors)

    return run


def _unknown(tensor: Any) -> Any:
    """The same value, which XLA cannot know when it compiles."""
    zero = tf.floor(tf.random.uniform([]) * 0.5)
    if tensor.dtype.is_bool:
        return tf.math.logical_xor(tensor, tf.cast(zero, tf.bool))
    return tensor + tf.cast(zero, tensor.dtype)


def _lowers(concrete: Any, subject: Subject) -> bool:
    try:
        compiling.lowered(concrete, subject.first)
    except compiling.TooLongError:
        raise
    except Exception:
        return False
    return True
