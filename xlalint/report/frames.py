"""Code frames: the lines around a finding with carets under its span."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xlalint.finding import FileError, Span
from xlalint.project.files import UnreadableError, named
from xlalint.project.settings import Settings
from xlalint.project.source import Source

_CONTEXT = 1
_MOST_LINES = 4
_MOST_COLUMNS = 140
_TAB = "    "
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Sources:
    """The text of the files of one report, read when a frame wants it and kept until the report is written."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._sources: dict[str, Source] = {}
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def lines(self, path: str, cell: int | None = None) -> list[str]:
        """The lines that a span in `path` (and `cell`) counts from; none where the file cannot be read any more."""
        known = self._lines.get((path, cell))
        if known is None:
            if path not in self._sources:
                self._sources[path] = self._read(path)
            source = self._sources[path]
            known = self._lines[path, cell] = source.lines(cell) if source.text else []
        return known

    def _read(self, path: str) -> Source:
        file = named(path, self._settings)
        try:
            return Source("") if isinstance(file, FileError) else file.as_written()
        except UnreadableError:
            return Source("")


@dataclass(frozen=True, slots=True)
class FrameLine:
    """A line of a frame: its number and text, and the `carets` under it (empty, or spaces and carets)."""

    number: int
    text: str
    carets: str


def frame(lines: Sequence[str], span: Span) -> tuple[FrameLine, ...]:
    """The lines of `span` with one line of context on either side, tabs expanded and overlong lines cut.

    Of a span over many lines, only the first one is shown.
    """
    if not 1 <= span.line <= len(lines):
        return ()
    last = min(span.end_line, len(lines))
    if last - span.line >= _MOST_LINES:
        last = span.line
        span = replace(span, end_line=last, end_column=len(lines[last - 1].rstrip()) + 1)
    shown = range(max(1, span.line - _CONTEXT), min(len(lines), last + _CONTEXT) + 1)
    numbered = [(n, lines[n - 1]) for n in shown if span.line <= n <= last or lines[n - 1].strip()]
    start = _window(lines[span.line - 1], span.column)
    return tuple(_line(number, text, span, start) for number, text in numbered)


def _window(text: str, column: int) -> int:
    """Where to start showing lines (0-based): at the left unless the span would fall off the right."""
    return 0 if _shown_width(text[: column - 1]) < _MOST_COLUMNS - 40 else column - 41


def _line(number: int, text: str, span: Span, start: int) -> FrameLine:
    carets = _carets(number, text, span)
    cells = list(_cells(text, carets))[start:]
    used = 0
    shown: list[tuple[str, str]] = []
    for cell in cells:
        used += len(cell[1])
        if used > _MOST_COLUMNS:
            shown.append(("...", ""))
            break
        shown.append(cell)
    mark = "..." if start and cells else ""
    below = " " * len(mark) + "".join(below for _, below in shown)
    return FrameLine(number, (mark + "".join(t for t, _ in shown)).rstrip(), below.rstrip())


def _carets(number: int, text: str, span: Span) -> range:
    """The columns (0-based) of `text` to underline."""
    if not span.line <= number <= span.end_line:
        return range(0)
    indent = len(text) - len(text.lstrip())
    start = span.column - 1 if number == span.line else indent
    end = span.end_column - 1 if number == span.end_line else len(text.rstrip())
    return range(start, max(end, start + 1) if number == span.line else end)


def _cells(text: str, carets: range) -> Iterator[tuple[str, str]]:
    """Each character as shown, with what stands under it (as wide as it is). One more for a span at the line's end."""
    for column, character in enumerate(text):
        shown = _TAB if character == "\t" else _INVISIBLE.sub("?", character)
        yield shown, ("^" if column in carets else " ") * _shown_width(shown)
    if carets and carets.stop > len(text):
        yield " ", "^"


def _shown_width(text: str) -> int:
    """The columns that `text` takes on a terminal: two for wide East Asian characters, none for combining ones."""
    return sum(_character_width(c) for c in text.replace("\t", _TAB))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
