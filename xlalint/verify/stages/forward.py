"""The program itself: eagerly, traced, lowered from shapes alone, compiled and run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from xlalint.verify import fills, hlo, retrace
from xlalint.verify.coverage import watching
from xlalint.verify.patching import Patches
from xlalint.verify.records import LOWER, OK, TRACE
from xlalint.verify.stages import compiling
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.tensors import are_uniform, on_host
from xlalint.verify.stages.variables import Kept


def eager(subject: Subject) -> Said:
    """The program as plain Python, the reference for the numbers."""
    books = subject.books
    books.is_uniform = are_uniform(subject.first)
    try:
        with (
            subject.listening() as program,
            fills.watching(subject.tools.locator.is_user, books.fills),
        ):
            subject.eager = on_host(subject.run_eagerly(subject.first, program))
    except tf.errors.OpError as error:
        subject.eager_error = type(error).__name__
        raise
    return Said(OK)


def trace(subject: Subject) -> Said:
    """Python to graph, AutoGraph included."""
    subject.concrete = _traced(subject)
    _note_operations(subject)
    return Said(OK)


def ask_on(subject: Subject) -> None:
    """After a tensor was asked for its value while tracing: who else asks?"""
    failures = subject.books.failures
    if not any(one.stage == TRACE and one.kind == "symbolic" for one in failures):
        return
    known = {(one.place.path, one.place.line) for one in failures if one.place is not None}
    with subject.tools.locator.answering() as asked, contextlib.suppress(Exception):
        _traced(subject)
    for failure in asked:
        if failure.place is not None and (failure.place.path, failure.place.line) not in known:
            failures.append(failure)


def lower(subject: Subject) -> Said:
    """Graph to XLA from static shapes, no value known: what a TPU would be asked to compile."""
    text = compiling.lowered(subject.concrete, subject.specs)
    subject.books.bounded = hlo.bounded_lines(text)
    return Said(OK, _bounded_words(subject.tools.locator.of_users(subject.books.bounded)))


def run(subject: Subject) -> Said:
    """Compile and run with the values that were seen."""
    with Kept(subject.concrete):
        subject.compiled = compiling.run(subject.concrete, subject.first)
    if not subject.books.passed(LOWER):
        return Said(OK, "only because the values are known: each new value compiles again")
    return Said(OK)


def _traced(subject: Subject) -> Any:
    patches = Patches()
    retrace.anew(patches, subject.program.call)
    try:
        with (
            subject.listening() as program,
            watching(subject.tools.flagged_files, subject.books.lines),
        ):
            traced = tf.function(program, jit_compile=True, autograph=False)
            return traced.get_concrete_function(*subject.specs)
    finally:
        patches.undo()


def _note_operations(subject: Subject) -> None:
    tools, books = subject.tools, subject.books
    books.shown.note(subject.graph, tools.locator.line_of, tools.flagged_files)
    for path, line in tools.offloaded.lines:
        if line in books.lines.as_dict().get(path, ()):
            books.shown.add((path, line), "PrintV2")


def _bounded_words(lines: Mapping[str, Sequence[int]]) -> str:
    places = [f"{Path(path).name}:{line}" for path, numbers in lines.items() for line in numbers]
    if not places:
        return ""
    more = f" and {len(places) - 3} more lines" if len(places) > 3 else ""
    return f"dimensions that depend on data, from {', '.join(places[:3])}{more}"
