"""Places in the headers and at the ends of compound statements."""

from __future__ import annotations

import ast
import io
import tokenize

from xlalint.finding import Edit, Span
from xlalint.fixes.asts import Source


def colon(source: Source, start: Span) -> tuple[int, int]:
    """Line and column (1-based) of the `:` that ends the header of the compound statement with this span."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source.text(start)).readline):
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        elif token.string == ":" and depth == 0:
            line, column = token.start
            return start.line + line - 1, column + (start.column if line == 1 else 1)
    raise ValueError("a header without a colon")


def end_of_line(source: Source, number: int) -> Span:
    """The empty span behind all that stands on a line, its comment included."""
    column = len(source.draft.line(number)) + 1
    return Span(number, column, number, column)


def air_above(source: Source, start: Span) -> list[Edit]:
    """A blank line in front of what begins there, where a statement stands right above it."""
    above = source.draft.line(start.line - 1).strip() if start.line > 1 else ""
    if not above or above.endswith((":", '"""')) or above.startswith("#"):
        return []
    return [Edit(end_of_line(source, start.line - 1), "\n")]


def is_tight_below(source: Source, statement: ast.stmt) -> bool:
    """Whether another statement of the block stands right below."""
    path = source.path(statement)
    follows = bool(path) and path[-1].place + 1 < len(path[-1].block)
    return follows and bool(source.draft.line(source.span(statement).end_line + 1).strip())
