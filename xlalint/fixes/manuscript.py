"""A file while it is rewritten: its text as on disk, the program in it, and changes of the one carried into the other."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlalint.finding import Edit
from xlalint.fixes.applying import Change, Lines, applied, changes_of
from xlalint.project.notebook_cells import with_cells
from xlalint.project.notebooks import cell_sources
from xlalint.project.source import Source, split_lines


class UnfitError(Exception):
    """Edits that cannot be made in this file. The message says why."""


@dataclass(frozen=True, slots=True)
class Manuscript:
    """`raw` is the decoded file (the JSON of a notebook), `source` the program that it holds."""

    raw: str
    source: Source

    def changes(self, edits: Iterable[Edit], *, takes_comments: bool = False) -> tuple[Change, ...]:
        """The edits as changes of the program. `takes_comments`: it is what they are for.

        Raises:
            UnfitError: they name places that are not there, lose a comment, or cannot be written into the cells.
        """
        lines = Lines.of(self.source.text)
        try:
            changes = changes_of(lines, edits)
        except ValueError as error:
            raise UnfitError(f"an edit of a place that is not there ({error})") from error
        if any(one.conflicts(other) for i, one in enumerate(changes) for other in changes[i + 1 :]):
            raise UnfitError("its edits overlap")
        lost = _lost_comments(self.source.text, lines, changes)
        if lost and not takes_comments:
            raise UnfitError(f"the comment `{lost[0]}` would be lost")
        if self.source.cells:
            self._into_cells(changes)
        return changes

    def rewritten(self, changes: Iterable[Change]) -> tuple[str, str]:
        """The file and the program after the changes.

        Raises:
            UnfitError: the program would not parse.
        """
        every = tuple(changes)
        program = applied(self.source.text, every)
        try:
            compile(
                program, "<rewritten>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            )
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UnfitError(f"the result would not parse ({error})") from error
        if not self.source.cells:
            return program, program
        return with_cells(self.raw, self._into_cells(every)), program

    def _into_cells(self, changes: Sequence[Change]) -> dict[int, str]:
        """The new sources of the cells that the changes are in. Raises UnfitError."""
        lines = Lines.of(self.source.text)
        originals = cell_sources(self.raw)
        by_cell: dict[int, list[Change]] = {}
        for change in changes:
            first, last = lines.place(change.start)[0], lines.place(change.end)[0]
            cell, end = self.source.cell_of(first), self.source.cell_of(last)
            if cell is None or end is None or cell.number != end.number:
                raise UnfitError("an edit over the end of a cell")
            written = split_lines(originals[cell.number])
            read = self.source.lines(cell.number)
            for number in range(first - cell.first_line, last - cell.first_line + 1):
                if written[number : number + 1] != read[number : number + 1]:
                    raise UnfitError("a line with a magic command")
            offset = lines.starts[cell.first_line - 1]
            own = Lines.of(originals[cell.number])
            # Lines above may be magics, which are longer or shorter than what stands for them in the program.
            shift = own.starts[first - cell.first_line] - (lines.starts[first - 1] - offset)
            by_cell.setdefault(cell.number, []).append(
                Change(change.start - offset + shift, change.end - offset + shift, change.new)
            )
        return {number: applied(originals[number], some) for number, some in by_cell.items()}


def _lost_comments(text: str, lines: Lines, changes: Sequence[Change]) -> list[str]:
    """The comments that stand in what the changes take away and not in what they put there."""
    if all(change.start == change.end for change in changes):
        return []
    new = "\n".join(change.new for change in changes)
    lost = []
    for comment, start in _comments(text, lines):
        if any(change.start <= start < change.end for change in changes):
            if comment not in new:
                lost.append(comment)
            else:
                new = new.replace(comment, "", 1)
    return lost


def _comments(text: str, lines: Lines) -> list[tuple[str, int]]:
    # tokenize knows "\n" only as the end of a line; the columns stay what they are.
    readline = io.StringIO("\n".join(split_lines(text)) + "\n").readline
    found = []
    try:
        for token in tokenize.generate_tokens(readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                found.append((token.string.rstrip(), lines.offset(line, column + 1)))
    except (tokenize.TokenError, IndentationError):
        # A form feed or a tab that the parser allows and tokenize does not: what has been seen so far counts.
        pass
    return found
