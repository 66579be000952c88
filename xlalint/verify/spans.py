"""Where a finding stands in the source, and what it takes for that to have been evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xlalint.finding import Finding
from xlalint.verify import plan
from xlalint.verify.records import Failure, Place

# How well a failure fits a place.
ELSEWHERE, SAME_STATEMENT, SAME_EXPRESSION, EXACT = range(4)


@dataclass(frozen=True, slots=True)
class Span:
    """A finding's place: real path, its lines and first column, the lines of its statement, of the `if` or `while` that it
    tests, and of the function around it. `may_be_skipped`: its line can run without it: an arm of `a if c else b`, the
    right side of `and`, a lambda, a comprehension."""

    path: str
    lines: range
    columns: range
    statement: range
    block: range
    function: range
    may_be_skipped: bool

    def fit(self, failure: Failure) -> int:
        """How well a failure's place, or the line of the project that led to it, fits."""
        return max(self._fit(failure.place), self._fit(failure.called_from))

    def is_around(self, place: Place | None) -> bool:
        """Is a place in the same function?"""
        return place is not None and place.path == self.path and place.line in self.function

    def _fit(self, place: Place | None) -> int:
        if place is None or place.path != self.path or place.line not in self.statement:
            return ELSEWHERE
        if place.line not in self.lines or not place.column:
            return SAME_STATEMENT
        if place.line == self.lines.start and place.column == self.columns.start:
            return EXACT
        is_within = place.line != self.lines.start or place.column in self.columns
        return SAME_EXPRESSION if is_within else SAME_STATEMENT


def span_of(finding: Finding, folder: Path) -> Span:
    """The place of a finding. `folder` is where relative paths count from."""
    path = Path(folder, finding.path).resolve()
    given = finding.span
    first, last = plan.statement_around(path, given.line)
    function = plan.function_around(path, given.line) or (1, 10**9)
    block = plan.block_around(path, given.line)
    end = given.end_column if given.end_line == given.line else 10**6
    return Span(
        path=str(path),
        lines=range(given.line, given.end_line + 1),
        columns=range(given.column, max(end, given.column + 1)),
        statement=range(first, max(last, given.end_line) + 1),
        block=range(block[0], block[1] + 1),
        function=range(function[0], function[1] + 1),
        may_be_skipped=_may_be_skipped(path, given.line, given.column),
    )


def _may_be_skipped(path: Path, line: int, column: int) -> bool:
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError):
        return False
    text = source.splitlines()[line - 1] if 0 < line <= len(source.splitlines()) else ""
    offset = len(text[: column - 1].encode())
    return any(_holds(part, line, offset) for node in ast.walk(tree) for part in _optional(node))


def _optional(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are not always evaluated when its line runs."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values[1:]
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from (node.elt, *(test for one in node.generators for test in one.ifs))
    elif isinstance(node, ast.DictComp):
        yield from (node.key, node.value)
    elif isinstance(node, ast.Assert) and node.msg is not None:
        yield node.msg
    elif isinstance(node, (ast.If, ast.While, ast.For, ast.With, ast.FunctionDef)):
        yield from (one for one in node.body if one.lineno == node.lineno)


def _holds(node: ast.AST, line: int, offset: int) -> bool:
    first = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    last = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
    return first <= (line, offset) < last
