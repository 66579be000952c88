"""From what a stage raised to failures with places, and to the status of the stage."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from xlalint.verify import kernels, offenders
from xlalint.verify.locate import kind_of
from xlalint.verify.records import (
    EAGER,
    FAILED,
    GRADIENT,
    LOWER,
    NOTE,
    OUT_OF_REACH,
    RUN,
    SHAPES,
    SKIPPED,
    TRACE,
    Failure,
)
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.variables import has_uninitialised

# Programs that XLA's CPU back end alone cannot compile (`tf.random.shuffle`: "Expected comparison type SIGNED"); a TPU can.
_CPU_ONLY = ("Expected comparison type SIGNED",)
# A tensor of another graph than the one that is traced, or of any where none is. One of a branch, a loop or a function inside of
# the graph that is traced is another matter (`OUT_OF_REACH`): the code itself let it out.
_OUT_OF_SCOPE = "is out of scope and cannot be used here"
_UNINITIALISED = ("Read variable failure", "uninitialized variable", "Could not find variable")
_FOREIGN_RESOURCE = "variable.var() && variable.var()->is_initialized"


class AtConcreteError(Exception):
    """A compiler's error and the concrete function that it is about."""

    def __init__(self, error: Exception, concrete: Any) -> None:
        super().__init__(str(error))
        self.error = error
        self.concrete = concrete


def said_of(name: str, error: Exception, subject: Subject) -> Said:
    """What a stage that raised `error` comes to; its failures are in the books."""
    message = str(error)
    books = subject.books
    if isinstance(error, compiling.TooLongError):
        return Said(SKIPPED, message)
    if _OUT_OF_SCOPE in message and kind_of(message, "") != OUT_OF_REACH:
        return Said(SKIPPED, "uses tensors of the function around it, and is compiled with that")
    is_foreign = _FOREIGN_RESOURCE in message
    if any(words in message for words in _UNINITIALISED) or (
        is_foreign and has_uninitialised(subject.concrete)
    ):
        return Said(SKIPPED, "reads variables that the script did not come to initialise")
    if is_foreign:
        return _with_a_host_resource(name, subject)
    if name == RUN and books.passed(LOWER) and any(words in message for words in _CPU_ONLY):
        return Said(NOTE, "XLA's CPU back end cannot compile this; lowering passes, so a TPU may")
    failures, is_all = _failures(name, error, subject)
    books.failures.extend(failures)
    if not is_all:
        books.notes.append(f"{name}: other operations may fail too, once this is mended")
    if name == GRADIENT and not subject.program.is_differentiated:
        return Said(NOTE, f"has no gradient under XLA: {failures[0].message}")
    return Said(FAILED, failures[0].message)


def _failures(name: str, error: Exception, subject: Subject) -> tuple[list[Failure], bool]:
    """(what an error tells of, is that all?)"""
    locator, concrete = subject.tools.locator, subject.concrete
    if isinstance(error, AtConcreteError):
        failures, is_all = _offenders(name, error.error, error.concrete, subject)
        if not any(failure.place for failure in failures):
            # What nested functions became for the gradient has no Python graph: the forward program has.
            failures = locator.compiler_error(name, error.error, concrete.graph)
        return failures, is_all
    if name == LOWER:
        return _offenders(name, error, concrete, subject)
    if name in (EAGER, TRACE, GRADIENT, SHAPES):
        return [locator.python_error(name, error)], True
    return locator.compiler_error(name, error, concrete.graph), True


def _offenders(
    name: str, error: Exception, concrete: Any, subject: Subject
) -> tuple[list[Failure], bool]:
    specs = [tf.TensorSpec(one.shape, one.dtype) for one in concrete.inputs[: len(subject.specs)]]

    def lower(other: Any) -> None:
        compiling.lowered(other, specs)

    return offenders.failures(
        name, error, concrete, lower, subject.tools.locator, subject.flat.names
    )


def _with_a_host_resource(name: str, subject: Subject) -> Said:
    """Lowering takes variables and no other resource: a table, a summary writer. Their operations have no kernel."""
    failures = subject.tools.locator.missing_kernels(name, kernels.missing(subject.graph))
    subject.books.failures.extend(failures)
    if failures:
        return Said(FAILED, failures[0].message)
    return Said(SKIPPED, "holds a resource that lives on the host")
