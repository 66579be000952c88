"""Where the nodes of a libcst tree stand in the source.

libcst's own PositionProvider takes twice as long, longer than parsing: it makes three objects for each node, and hashes
nodes in Python code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst
from libcst._nodes.internal import CodegenState

# Line, column, end line, end column. Lines count from 1, columns in code points from 0; the end is exclusive.
Place = tuple[int, int, int, int]


class Positions(CodegenState):
    """The places of all nodes of a module, noted while libcst writes its code out again.

    `lines` holds the line number to report for each line of the module's text. Of the places in `wanted`, `found` says
    which nodes stand there (by `id`), and `around` which hold one of those, or are one.
    """

    def __init__(
        self, module: cst.Module, lines: Sequence[int], wanted: Collection[Place] = ()
    ) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.places: dict[int, Place] = {}
        self.found: dict[int, Place] = {}
        self.around: set[int] = set()
        self._wanted = wanted
        self._lines = lines
        self._line = lines[0]
        self._index = 0
        self._column = 0
        self._starts: list[tuple[int, int, int]] = []
        module._codegen(self)

    def of(self, node: cst.CSTNode) -> Place:
        """The place of a node, without the parentheses and spaces around it."""
        return self.places[id(node)]

    # What libcst calls on its way.

    def add_token(self, value: str) -> None:
        if "\n" not in value and "\r" not in value:
            self._column += len(value)
            return
        parts = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._index += len(parts) - 1
        self._column = len(parts[-1])
        # The last newline of a text ends on a line that it does not have.
        self._line = self._lines[min(self._index, len(self._lines) - 1)]

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self._column += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append((self._line, self._column, len(self.found)))

    def after_codegen(self, node: cst.CSTNode) -> None:
        line, column, already_found = self._starts.pop()
        number = id(node)
        place = self.places.get(number)
        if place is None:
            place = self.places[number] = (line, column, self._line, self._column)
        if place in self._wanted:
            self.found[number] = place
        if len(self.found) > already_found:
            self.around.add(number)

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)


class _Syntactic:
    """While a node's own code is written: within its parentheses, and without what trails its last statement."""

    __slots__ = ("_ends", "_node", "_positions", "_start", "_starts")

    def __init__(
        self,
        positions: Positions,
        node: cst.CSTNode,
        starts: cst.CSTNode | None,
        ends: cst.CSTNode | None,
    ) -> None:
        self._positions, self._node, self._starts, self._ends = positions, node, starts, ends
        self._start = (0, 0)

    def __enter__(self) -> None:
        self._start = (self._positions._line, self._positions._column)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        positions = self._positions
        start, end = self._start, (positions._line, positions._column)
        if self._starts is not None:
            start = positions.of(self._starts)[:2]
        if self._ends is not None:
            end = positions.of(self._ends)[2:]
        positions.places[id(self._node)] = (*start, *end)
