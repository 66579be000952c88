"""What a fix would change, shown beside its finding: the lines that go and the lines that come."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from xlalint.finding import Fix
from xlalint.fixes.applying import Lines, applied, changes_of
from xlalint.project.source import split_lines

_MOST_LINES = 24


def hunk(lines: Sequence[str], fix: Fix) -> list[str]:
    """The changed lines with `- ` or `+ ` in front; nothing where the lines are no longer what the fix is for."""
    before = "\n".join(lines)
    try:
        after = applied(before, changes_of(Lines.of(before), fix.edits))
    except ValueError:
        return []
    compared = list(difflib.unified_diff(lines, split_lines(after), lineterm="", n=0))[2:]
    shown = [f"{line[0]} {line[1:]}".rstrip() for line in compared if line[0] in "-+"]
    if len(shown) > _MOST_LINES:
        return [*shown[:_MOST_LINES], f"... {len(shown) - _MOST_LINES} more lines"]
    return shown
