"""The words that every form of the checklist has."""

from __future__ import annotations

from collections import Counter

from xlalint.readiness.items import Checklist, Evidence, State


def summary(checklist: Checklist) -> str:
    """`Not ready: 2 to do, 3 unknown (9 done, 1 not applicable)`."""
    counts = Counter(item.state for item in checklist.items)
    passed = [f"{counts[s]} {s.value}" for s in State if s.passes and counts[s]]
    aside = ", ".join(passed) or "nothing done"
    if checklist.is_ready:
        return f"Ready for {checklist.target} ({aside})"
    open_ = [f"{counts[s]} {s.value}" for s in (State.TO_DO, State.UNKNOWN) if counts[s]]
    return f"Not ready for {checklist.target}: {', '.join(open_)} ({aside})"


def place(one: Evidence) -> str:
    """Where something was seen, ending in `: `; empty where it has no place."""
    if not one.path:
        return ""
    cell = "" if one.cell is None else f"cell {one.cell}:"
    return f"{one.path}:{cell}{one.line}: " if one.line else f"{one.path}: "
