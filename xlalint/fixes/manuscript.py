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
        if self.raw != self.source.text:
            self._carried(changes)
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
        return self._carried(every), program

    def _carried(self, changes: Sequence[Change]) -> str:
        """The file with changes of the program made in it. Raises UnfitError."""
        if not self.source.cells:
            if self.raw == self.source.text:
                return applied(self.raw, changes)
            return applied(self.raw, [self._written(change, 1, self.raw) for change in changes])
        originals = cell_sources(self.raw)
        lines = Lines.of(self.source.text)
        by_cell: dict[int, list[Change]] = {}
        for change in changes:
            cell, end = (
                self.source.cell_of(lines.place(at)[0]) for at in (change.start, change.end)
            )
            if cell is None or end is None or cell.number != end.number:
                raise UnfitError("an edit over the end of a cell")
            written = self._written(change, cell.first_line, originals[cell.number])
            by_cell.setdefault(cell.number, []).append(written)
        return with_cells(
            self.raw,
            {number: applied(originals[number], some) for number, some in by_cell.items()},
        )

    def _written(self, change: Change, first_line: int, text: str) -> Change:
        """A change of the program as one of `text`, which line `first_line` of the program is the first line of.

        Lines above may be commands of IPython, which are longer or shorter than what stands for them in the program.

        Raises:
            UnfitError: it is a change of such a line.
        """
        lines, own = Lines.of(self.source.text), Lines.of(text)
        first, last = lines.place(change.start)[0], lines.place(change.end)[0]
        written, read = split_lines(text), split_lines(self.source.text)
        index = first - first_line
        if index >= len(written):
            raise UnfitError("a line below the end of its cell")
        shift = own.starts[index] - lines.starts[first - 1]
        new = change.new.replace("\n", "\r\n") if "\r\n" in text else change.new
        if change.start == change.end == lines.starts[first - 1] and change.new.endswith("\n"):
            # New lines above a command are no change of it; a cell's magic must stay its first line.
            if written[index].startswith("%%") and index + 1 < len(written):
                shift += own.starts[index + 1] - own.starts[index]
            return Change(change.start + shift, change.end + shift, new)
        if written[index : last - first_line + 1] != read[first - 1 : last]:
            raise UnfitError("a line that only IPython reads")
        return Change(change.start + shift, change.end + shift, new)


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
