"""Lines that rewrites made too long for their project, laid out over several as black does it.

Lines that were too long before, or stand for some that were, are left alone: their author does not care. A line is broken
inside of brackets, or of parentheses put around a value: the program stays the same, which is checked.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from difflib import SequenceMatcher

from xlalint.fixes.breaking import broken


def fitted(before: str, after: str, width: int) -> str:
    """The text after rewrites with their lines in `width` columns, as far as they can be broken."""
    new = after.splitlines(keepends=True)
    rows = list(new)
    for start, end in _rewritten(before.splitlines(keepends=True), new, width):
        for number in range(start, end):
            rows[number] = _row(rows[number], width)
    result = "".join(rows)
    return result if result != after and _is_same(result, after) else after


def _rewritten(before: list[str], after: list[str], width: int) -> Iterator[tuple[int, int]]:
    """The stretches of lines that are new, but for those that stand for lines too long themselves."""
    if not any(_length(row) > width for row in after):
        return
    matcher = SequenceMatcher(None, before, after)
    for kind, a, b, start, end in matcher.get_opcodes():
        if kind in ("replace", "insert") and not any(_length(row) > width for row in before[a:b]):
            yield start, end


def _length(row: str) -> int:
    return len(row.rstrip("\r\n"))


def _row(row: str, width: int) -> str:
    if _length(row) <= width:
        return row
    code = row.rstrip("\r\n")
    rows = broken(code, width)
    newline = row[len(code) :]
    return row if rows is None else (newline or "\n").join(rows) + newline


def _is_same(one: str, other: str) -> bool:
    """Whether two texts are one program, with the same comments."""
    try:
        trees = [ast.dump(ast.parse(text)) for text in (one, other)]
        return trees[0] == trees[1] and _comments(one) == _comments(other)
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return False


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
