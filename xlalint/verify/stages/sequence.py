"""The stages of a target in their order: which follows from which, and why one did not run."""

from __future__ import annotations

import time
from collections.abc import Callable

from xlalint.verify.program import Program, UnsupportedError
from xlalint.verify.records import (
    EAGER,
    GRADIENT,
    LOWER,
    NUMBERS,
    OPAQUE,
    RUN,
    SHAPES,
    STAGES,
    TPU,
    TRACE,
    VALUES,
    Stage,
    TargetReport,
)
from xlalint.verify.stages import forward
from xlalint.verify.stages.books import Books, Said
from xlalint.verify.stages.compiling import TooLongError
from xlalint.verify.stages.failing import said_of
from xlalint.verify.stages.gradient import gradient
from xlalint.verify.stages.numbers import numbers, without_eager
from xlalint.verify.stages.opaque import opaque
from xlalint.verify.stages.shapes import shapes
from xlalint.verify.stages.subject import Subject, Tools
from xlalint.verify.stages.tpu import on_tpu
from xlalint.verify.stages.values import values

_ONLY_SHAPES = "no values were seen, only shapes"
_COMPILE_ONLY = "--compile-only"


def verify(program: Program, tools: Tools) -> TargetReport:
    """The report on `program`. Raises nothing for what the program does; a crash of XLA ends this process."""
    try:
        subject = Subject(program, tools)
    except UnsupportedError as reason:
        books = Books(program)
        books.skip(TRACE, str(reason))
        _account_for_the_rest(books, str(reason))
        return books.report()
    _account_for_the_rest(subject.books, _all_stages(subject))
    return subject.books.report()


def _all_stages(subject: Subject) -> str:
    """Run what can be run; why there was nothing more to run."""
    books = subject.books
    if subject.has_values and not subject.tools.compile_only:
        _stage(EAGER, forward.eager, subject)
    _stage(TRACE, forward.trace, subject)
    if subject.concrete is None:
        forward.ask_on(subject)
        return "it does not trace"
    _stage(LOWER, forward.lower, subject)
    _stage(OPAQUE, opaque, subject)
    if subject.tools.tpu is not None and books.passed(LOWER):
        _stage(TPU, on_tpu, subject)
    if subject.tools.compile_only:
        return _COMPILE_ONLY
    if not subject.has_values:
        return _ONLY_SHAPES
    if not books.passed(LOWER) and not _may_pass_with_values(books):
        return "it does not lower"
    _stage(RUN, forward.run, subject)
    if not books.passed(RUN):
        return "it does not run"
    if books.passed(EAGER):
        _stage(NUMBERS, numbers, subject)
    elif subject.eager_error:
        _stage(NUMBERS, without_eager, subject)
    if books.passed(LOWER):
        _stage(GRADIENT, gradient, subject)
    _stage(VALUES, values, subject)
    _stage(SHAPES, shapes, subject)
    return "eager code fails" if not books.passed(EAGER) else "it does not lower from shapes alone"


def _may_pass_with_values(books: Books) -> bool:
    return all(one.kind == "not-constant" for one in books.failures if one.stage == LOWER)


def _account_for_the_rest(books: Books, why: str) -> None:
    """A stage that could not run says why."""
    for name in STAGES:
        if books.stage(name) is None:
            is_first = name == EAGER and why != _COMPILE_ONLY
            books.skip(name, _ONLY_SHAPES if is_first else why)
    order = (*STAGES, TPU)
    books.stages.sort(key=lambda stage: order.index(stage.name))


def _stage(name: str, work: Callable[[Subject], Said], subject: Subject) -> None:
    """Do the work of a stage; its outcome is in the books."""
    books = subject.books
    if subject.is_too_slow and name != TRACE:
        books.skip(name, "compiling it takes too long")
        return
    # What is known so far goes out first: the stage may be the last thing that this process does.
    subject.tools.on_stage(name, books.report())
    started = time.monotonic()
    try:
        said = work(subject)
    except Exception as error:
        subject.is_too_slow |= isinstance(error, TooLongError)
        said = said_of(name, error, subject)
    if said.failure is not None:
        books.failures.append(said.failure)
    books.stages.append(Stage(name, said.status, time.monotonic() - started, said.detail))
