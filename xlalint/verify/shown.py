"""What a traced program holds, by the user's line: operations that are compiled, and those that a gradient passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from xlalint.verify.forward import original_of
from xlalint.verify.graphs import needed_operations, operations

_Place = tuple[str, int]


@dataclass(slots=True)
class Shown:
    """`made`: path -> line -> types of the operations made there; `needed`: those of them that results need;
    `differentiated`: path -> lines whose operations have a gradient in the program. Of the files asked for only."""

    made: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    needed: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    differentiated: dict[str, list[int]] = field(default_factory=dict)

    def note(
        self, graph: Any, line_of: Callable[[Any], _Place | None], files: Iterable[str]
    ) -> None:
        """Add what a graph and the functions that it calls hold."""
        wanted = frozenset(files)
        if not wanted:
            return
        used = {id(op) for op in needed_operations(graph)}
        for op in operations(graph):
            forward = original_of(op)
            place = line_of(forward)
            if place is None or place[0] not in wanted:
                continue
            if forward is not op and id(op) in used:
                self._add_differentiated(place)
            self.add(place, op.type, is_needed=id(op) in used)

    def add(self, place: _Place, op_type: str, is_needed: bool = True) -> None:
        """Add one operation."""
        for found in (self.made, self.needed) if is_needed else (self.made,):
            types = found.setdefault(place[0], {}).setdefault(str(place[1]), [])
            if op_type not in types:
                types.append(op_type)

    def _add_differentiated(self, place: _Place) -> None:
        lines = self.differentiated.setdefault(place[0], [])
        if place[1] not in lines:
            lines.append(place[1])
