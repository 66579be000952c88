"""Members of the project's own enumerations: settings that are known while reading, `Mode.MAX.value` and `for mode in Mode`."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.known_texts import is_certain_text
from xlalint.semantics.values import (
    CLASS,
    NOTHING_KNOWN,
    PYTHON,
    SOME_TEXT,
    OneOf,
    Value,
    constant,
)

_BASES = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum"})
_MOST_MEMBERS = 6


def of_member(value: Value, attr: str) -> Value:
    """`Mode.MAX.value`, where `Mode.MAX` is read as the value that its class writes: no other Python value has one."""
    is_known = value.choices() or is_certain_text(value)
    return value if attr == "value" and is_known else NOTHING_KNOWN


def each(value: Value, frame: Frame) -> Value | None:
    """A member of an enumeration that is iterated over; None of anything else."""
    if value.kind is not CLASS or not isinstance(value.ref, ClassInfo):
        return None
    if _BASES.isdisjoint(frame.analysis.classes.bases(value.ref)):
        return None
    written = [
        part.value.value
        for part in value.ref.node.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
    ]
    if len(written) > _MOST_MEMBERS and all(isinstance(each, str) for each in written):
        return SOME_TEXT
    if not 0 < len(written) <= _MOST_MEMBERS:
        return None
    return constant(written[0]) if len(written) == 1 else Value(PYTHON, ref=OneOf(tuple(written)))
