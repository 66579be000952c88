"""The text of a file as one Python program, and where its lines came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from xlalint.finding import Edit, Finding, Span

# What Python takes for the end of a line. `str.splitlines` splits at form feeds and other characters besides.
_LINE_END = re.compile(r"\r\n|\r|\n")
# Another line of the same loop in a message: "(`x = tf.concat(...)`, line 12)".
_OTHER_LINE = re.compile(r"(?<=`, line )\d+(?=\))")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell of a notebook: its place among all cells (1-based) and the first line of it in the program."""

    number: int
    first_line: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A cell that is not Python, and where and why it is not (`line` counts in the cell, 1-based)."""

    cell: int
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """A program. `cells` is empty for a plain file; `cell_of` and `relocate` then change nothing.

    `unread` are the cells of a notebook that are left out of it, because they do not parse,
    `installs` its shell lines that install packages.
    """

    text: str
    cells: tuple[Cell, ...] = ()
    unread: tuple[Unread, ...] = ()
    installs: tuple[str, ...] = ()

    def cell_of(self, line: int) -> Cell | None:
        """The cell that holds `line` of the program (1-based)."""
        if not self.cells:
            return None
        index = bisect_right([c.first_line for c in self.cells], line) - 1
        return self.cells[max(index, 0)]

    def lines(self, cell: int | None = None) -> list[str]:
        """The lines of the program, or of the cell with that number (none if there is no such cell)."""
        lines = split_lines(self.text)
        if cell is None:
            return lines
        for index, each in enumerate(self.cells):
            if each.number == cell:
                following = self.cells[index + 1 : index + 2]
                return lines[
                    each.first_line - 1 : following[0].first_line - 1 if following else None
                ]
        return []

    def relocate(self, finding: Finding) -> Finding:
        """`finding` counted from its cell's first line, as a notebook's reader sees it. One that is counted so stays as it is."""
        cell = self.cell_of(finding.span.line)
        if cell is None or finding.cell is not None:
            return finding
        fix = finding.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(self._relocated(edit) for edit in fix.edits))
        return replace(
            finding,
            span=_shift(finding.span, cell),
            message=_OTHER_LINE.sub(self._line_in_cell, finding.message),
            fix=fix,
            cell=cell.number,
        )

    def _line_in_cell(self, found: re.Match[str]) -> str:
        """The number of a line that a message names, as its cell counts."""
        cell = self.cell_of(int(found[0]))
        return found[0] if cell is None else str(int(found[0]) - cell.first_line + 1)

    def _relocated(self, edit: Edit) -> Edit:
        """An edit counted from its own cell, which may be another than its finding's: an import, say."""
        cell = self.cell_of(edit.span.line)
        return edit if cell is None else Edit(_shift(edit.span, cell), edit.text, cell.number)


def _shift(span: Span, cell: Cell) -> Span:
    offset = cell.first_line - 1
    return replace(span, line=span.line - offset, end_line=span.end_line - offset)


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends, numbered as Python numbers them."""
    return _LINE_END.split(text)
