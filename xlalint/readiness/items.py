"""The plain data of the checklist: its items, what state they are in, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(str, Enum):
    """How far an item is. Only DONE and NOT_APPLICABLE let a project pass."""

    DONE = "done"
    TO_DO = "to do"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"

    @property
    def passes(self) -> bool:
        return self in (State.DONE, State.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen: in words, and where (line 0 and an empty path where it has no place)."""

    text: str
    path: str = ""
    line: int = 0
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the checklist. `next` is the command to run, or the code to write, to get further; empty when done."""

    key: str
    title: str
    state: State
    evidence: tuple[Evidence, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """All items, in the order in which one works through them.

    `paths` are as the user gave them, `report` is the report of verify that was read, empty for none.
    """

    items: tuple[Item, ...]
    target: str
    tf_version: str
    files_checked: int
    paths: tuple[str, ...] = ()
    report: str = ""

    @property
    def is_ready(self) -> bool:
        return all(item.state.passes for item in self.items)
