"""Eager execution against compiled: the same numbers, as far as their dtypes can tell?"""

from __future__ import annotations

from xlalint.verify import randomness
from xlalint.verify.records import EAGER, FAILED, NUMBERS, Failure
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.pairs import Inputs, Pair
from xlalint.verify.stages.subject import Subject


def numbers(subject: Subject) -> Said:
    """Compare outputs, and the gradients that the program applies; say which operation differs first."""
    inputs = Inputs(subject.first, subject.concrete, subject.compiled)
    with randomness.reproducible() as dice, subject.listening() as program:
        return Pair(subject, inputs, program, dice).compared(NUMBERS)


def without_eager(subject: Subject) -> Said:
    """Eager code raises where the compiled program returned something."""
    what = f"eager code raises {subject.eager_error}; XLA returns a result"
    raised = next((one for one in subject.books.failures if one.stage == EAGER), None)
    if raised is None or raised.place is None:
        return Said(FAILED, what, Failure(NUMBERS, "numbers", what, place=subject.place))
    return Said(FAILED, what, Failure(NUMBERS, "numbers", what, raised.op, raised.place))
