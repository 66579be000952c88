"""Eager execution against compiled: the same numbers, as far as their dtypes can tell?"""

from __future__ import annotations

import contextlib

from xlalint.verify import randomness
from xlalint.verify.differing import differing_lines
from xlalint.verify.records import EAGER, FAILED, NUMBERS, OK, Failure
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.pairs import Inputs, Pair
from xlalint.verify.stages.parts import keeping_part
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.variables import Kept


def numbers(subject: Subject) -> Said:
    """Compare outputs, and the gradients that the program applies; say which operation differs first."""
    said = _compared(subject, Inputs(subject.first, subject.concrete, subject.compiled))
    if said.status == OK and subject.books.bounded:
        for tensors, kept in keeping_part(subject):
            subject.books.fills = kept
            said = _compared(subject, Inputs(tensors))
            if said.status == FAILED:
                subject.books.notes.append("numbers: with values of which a part is kept")
                break
    return said


def _compared(subject: Subject, inputs: Inputs) -> Said:
    with randomness.reproducible() as dice, subject.listening() as program:
        pair = Pair(subject, inputs, program, dice)
        said = pair.compared(NUMBERS)
        if said.status == FAILED or (said.status == OK and subject.books.bounded):
            # Sizes that depend on data go wrong in several places, some of which nothing returned shows.
            with contextlib.suppress(Exception):
                dice.restart()
                _look_inside(subject, pair)
    return said


def _look_inside(subject: Subject, pair: Pair) -> None:
    """Note every line whose numbers differ though those that it is computed from agree."""
    tools, books = subject.tools, subject.books
    with Kept(pair.concrete):
        found = differing_lines(pair.program, pair.tensors, tools.locator.line_of)
    for one in found:
        books.differs.setdefault(one.path, {})[str(one.line)] = one.what


def without_eager(subject: Subject) -> Said:
    """Eager code raises where the compiled program returned something."""
    what = f"eager code raises {subject.eager_error}; XLA returns a result"
    raised = next((one for one in subject.books.failures if one.stage == EAGER), None)
    if raised is None or raised.place is None:
        return Said(FAILED, what, Failure(NUMBERS, "numbers", what, place=subject.place))
    return Said(FAILED, what, Failure(NUMBERS, "numbers", what, raised.op, raised.place))
