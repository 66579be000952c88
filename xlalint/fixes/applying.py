"""Edits put into a text, and where its places are afterwards."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlalint.finding import Edit, Span

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Change:
    """`text[start:end]` (offsets in code points) becomes `new`."""

    start: int
    end: int
    new: str

    def conflicts(self, other: Change) -> bool:
        """Whether both cannot be made: they overlap, or both insert at one place, unless they are the same insertion."""
        if self.start == self.end == other.start == other.end:
            return self.new != other.new
        if self.start == self.end:
            return other.start < self.start < other.end
        if other.start == other.end:
            return self.start < other.start < self.end
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the lines of a text begin, as Python counts lines."""

    text: str
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Lines:
        return cls(text, (0, *(match.end() for match in _LINE_END.finditer(text))))

    def offset(self, line: int, column: int) -> int:
        """The offset of a place (1-based). Raises ValueError where the text has no such place."""
        if not 1 <= line <= len(self.starts) or column < 1:
            raise ValueError(f"no line {line}, column {column}")
        offset = self.starts[line - 1] + column - 1
        if offset > len(self.text):
            raise ValueError(f"no line {line}, column {column}")
        return offset

    def range_of(self, span: Span) -> tuple[int, int]:
        """The offsets of a span. Raises ValueError where the text has no such places."""
        start = self.offset(span.line, span.column)
        end = self.offset(span.end_line, span.end_column)
        if end < start:
            raise ValueError(f"{span} ends before it begins")
        return start, end

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column (1-based) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def changes_of(lines: Lines, edits: Iterable[Edit]) -> tuple[Change, ...]:
    """The edits as changes in order, their line ends those of the text. Raises ValueError for places that are not there."""
    newline = _newline(lines.text)
    found = {
        Change(*lines.range_of(edit.span), _LINE_END.sub(newline, edit.text)) for edit in edits
    }
    return tuple(sorted(found, key=lambda change: (change.start, change.end)))


def _newline(text: str) -> str:
    """The line end that the text uses; the first one decides."""
    match = _LINE_END.search(text)
    return match.group() if match else "\n"


def conflict(changes: Sequence[Change], taken: Iterable[Change]) -> bool:
    """Whether some of the changes cannot be made together with what has been taken."""
    others = tuple(taken)
    return any(change.conflicts(other) for change in changes for other in others)


def applied(text: str, changes: Iterable[Change]) -> str:
    """The text with changes that do not conflict."""
    parts: list[str] = []
    done = 0
    for change in sorted(set(changes), key=lambda c: (c.start, c.end)):
        parts += (text[done : change.start], change.new)
        done = change.end
    return "".join((*parts, text[done:]))


def moved(start: int, end: int, changes: Iterable[Change]) -> tuple[int, int]:
    """Where a stretch of the text is after the changes; those that touch it become part of it, with all that is new in them."""
    new_start, new_end = start, end
    for change in set(changes):
        shift = len(change.new) - (change.end - change.start)
        if change.end <= start and not (change.start == change.end == start):
            new_start += shift
            new_end += shift
        elif change.start < end or change.start == start:
            new_end += shift + max(0, change.end - end)
            new_start -= max(0, start - change.start)
    return new_start, new_end
