"""What a fix would change, shown beside its finding: the lines that go and the lines that come."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from xlalint.finding import Edit, Fix
from xlalint.fixes.applying import Lines, applied, changes_of
from xlalint.project.source import split_lines

_MOST_LINES = 24


def hunk(lines: Callable[[int | None], Sequence[str]], fix: Fix) -> list[str]:
    """The changed lines with `- ` or `+ ` in front; nothing where the lines are no longer what the fix is for.

    `lines` gives those that edits count from: of a cell of a notebook, by its number; of the file where that is None.
    """
    by_cell: dict[int | None, list[Edit]] = {}
    for edit in fix.edits:
        by_cell.setdefault(edit.cell, []).append(edit)
    shown: list[str] = []
    for cell, edits in sorted(by_cell.items(), key=lambda item: item[0] or 0):
        shown += [f"cell {cell}:"] if len(by_cell) > 1 else []
        shown += _changed(lines(cell), edits)
    if len(shown) > _MOST_LINES:
        return [*shown[:_MOST_LINES], f"... {len(shown) - _MOST_LINES} more lines"]
    return shown


def _changed(lines: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    before = "\n".join(lines)
    try:
        after = applied(before, changes_of(Lines.of(before), edits))
    except ValueError:
        return []
    compared = list(difflib.unified_diff(lines, split_lines(after), lineterm="", n=0))[2:]
    return [f"{line[0]} {line[1:]}".rstrip() for line in compared if line[0] in "-+"]
