"""One walk over a libcst tree for all rules together.

libcst's own batched visitor looks at every attribute of every visitor by reflection each time one is made, which took
longer than everything else that `check` does; and no rule ever visits whitespace.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Sequence
from functools import cache
from typing import Any

import libcst as cst

from xlalint.rules.base import Rule

Handler = Callable[[Any], None]
_WITHOUT_CODE = (
    cst.BaseParenthesizableWhitespace,
    cst.EmptyLine,
    cst.TrailingWhitespace,
    cst.Newline,
    cst.Comment,
)
# Statements that surround nothing may still say something of others: `global x`.
_PASSED_BY = (cst.BaseExpression, cst.Arg, cst.BaseElement, cst.Decorator)


def walk(root: cst.CSTNode, rules: Sequence[Rule], around: Container[int]) -> None:
    """Call each rule's `visit_X` and `leave_X` in the order of the source.

    Two dozen rules ask of each call what was seen there, and next to nothing was seen of most calls: expressions are
    passed by that are not `around` (by `id`) something seen.
    """
    visits, leaves = _handlers(rules, "visit_"), _handlers(rules, "leave_")
    pending: list[tuple[cst.CSTNode, bool]] = [(root, False)]
    while pending:
        node, is_done = pending.pop()
        kind = type(node)
        if is_done:
            for handler in leaves.get(kind.__name__, ()):
                handler(node)
            continue
        for handler in visits.get(kind.__name__, ()):
            handler(node)
        if kind.__name__ in leaves:
            pending.append((node, True))
        pending.extend(
            (child, False)
            for child in reversed(children(node))
            if id(child) in around or not isinstance(child, _PASSED_BY)
        )


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below one that hold code: no whitespace, commas or parentheses."""
    found: list[cst.CSTNode] = []
    for name in _fields(node.__class__):
        value = getattr(node, name)
        kind: Any = type(value)
        if kind is list or kind is tuple:
            for item in value:
                item_kind: Any = type(item)
                if _holds_code(item_kind):
                    found.append(item)
        elif _holds_code(kind):
            found.append(value)
    return found


@cache
def _holds_code(kind: Any) -> bool:
    return issubclass(kind, cst.CSTNode) and not issubclass(kind, _WITHOUT_CODE)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """The fields of a node type that may hold code."""
    return tuple(
        f.name
        for f in dataclasses.fields(kind)
        if not f.name.startswith(("whitespace", "leading_lines", "lines_after", "header", "footer"))
        and f.name not in ("lpar", "rpar", "trailing_whitespace", "semicolon", "comma", "indent")
    )


def _handlers(rules: Sequence[Rule], prefix: str) -> dict[str, list[Handler]]:
    found: dict[str, list[Handler]] = {}
    for rule in rules:
        kind: Any = type(rule)
        for name in _names(kind, prefix):
            found.setdefault(name.removeprefix(prefix), []).append(getattr(rule, name))
    return found


@cache
def _names(rule: Any, prefix: str) -> tuple[str, ...]:
    return tuple(name for name in dir(rule) if name.startswith(prefix))
