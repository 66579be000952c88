"""Whether a value counts as true, for the conditions of Python."""

from __future__ import annotations

from xlalint.semantics.values import ANY_OF, EXTERNAL, FUNCTION, Usual, Value


def truth(value: Value) -> bool | None:
    """Whether a value counts as true, where that is known while reading."""
    known = value.constant()
    if known is not None:
        return bool(known.value)
    if value.kind in (FUNCTION, EXTERNAL, ANY_OF) and not value.optional:
        return True
    return None


def is_usual(test: Value) -> bool | None:
    """Whether a condition holds where nobody passes other than defaults; None where that says nothing."""
    return bool(test.ref.value) if type(test.ref) is Usual else None
