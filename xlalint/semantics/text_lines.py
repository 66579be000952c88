"""Lines of a text that matter, and whether a node of its syntax tree stands on one: most of a tree need not be walked."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from xlalint.project.source import split_lines


def plain(text: str) -> str:
    """The text with every line ended by a newline alone, as `lines_at` counts them."""
    return text if "\r" not in text else "\n".join(split_lines(text))


def lines_at(places: Iterable[int], text: str) -> list[int]:
    """The lines (1-based, in order) of these places in a plain text."""
    lines, line, counted = [], 1, 0
    for place in sorted(places):
        line += text.count("\n", counted, place)
        counted = place
        lines.append(line)
    return lines


def holds_one(first: int, last: int, lines: Sequence[int]) -> bool:
    """Whether one of `lines` (in order) is among those from `first` to `last`."""
    position = bisect_left(lines, first)
    return position < len(lines) and lines[position] <= last


def stands_on(node: ast.AST, lines: Sequence[int]) -> bool:
    """Whether a node has one of `lines` (in order), its decorators included; what has no line of its own may have any."""
    first = getattr(node, "lineno", None)
    if first is None:
        return True
    decorators = getattr(node, "decorator_list", None)
    if decorators:
        first = min([first, *(decorator.lineno for decorator in decorators)])
    return holds_one(first, node.end_lineno or first, lines)  # type: ignore[attr-defined]
