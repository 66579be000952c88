"""What a rewrite is given, and the edits that it may answer with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Edit, Finding, Fix, Span
from xlalint.fixes.draft import Draft
from xlalint.rules.base import Aim
from xlalint.semantics.facts import Context, Fact

SAFE = "safe"
UNSAFE = "unsafe"
DISPLAY = "display"


@dataclass(frozen=True, slots=True)
class Site:
    """One finding and the program it is in. `node` is what was flagged, `facts` what the analysis saw there."""

    finding: Finding
    draft: Draft
    node: cst.CSTNode
    facts: tuple[Fact, ...]
    aim: Aim

    @property
    def contexts(self) -> tuple[Context, ...]:
        """Where the flagged code runs: one for each way in which it is reached."""
        return tuple(dict.fromkeys(fact.context for fact in self.facts))

    @property
    def is_converted(self) -> bool:
        """Whether AutoGraph rewrites the function wherever it runs compiled."""
        return bool(self.facts) and all(context.converted for context in self.contexts)


def replace(draft: Draft, node: cst.CSTNode, code: str | cst.CSTNode) -> Edit:
    """Put other code in the place of a node (its own parentheses stay)."""
    return Edit(draft.span(node), code if isinstance(code, str) else draft.code(code))


def replace_statements(
    draft: Draft, statements: Sequence[cst.CSTNode], lines: Sequence[str]
) -> Edit:
    """Put other statements in the place of some that follow each other. `lines` are indented as if these stood at the margin.

    Comments above the first statement and behind the last one stay where they are.
    """
    first, last = draft.span(statements[0]), draft.span(statements[-1])
    span = Span(first.line, first.column, last.end_line, last.end_column)
    return Edit(span, _indented(draft, first, lines))


def insert_before(draft: Draft, statement: cst.CSTNode, lines: Sequence[str]) -> Edit:
    """Put statements in front of one, below the comments above it."""
    first = draft.span(statement)
    span = Span(first.line, first.column, first.line, first.column)
    return Edit(span, _indented(draft, first, (*lines, "")))


def insert_behind(draft: Draft, statement: cst.CSTNode, *lines: str) -> Edit:
    """Put statements on the lines after one that stands alone on its lines; a comment behind that one stays there."""
    span = draft.span(statement)
    margin = draft.line(span.line)[: span.column - 1]
    end = len(draft.line(span.end_line)) + 1
    place = Span(span.end_line, end, span.end_line, end)
    return Edit(place, "".join(f"{draft.module.default_newline}{margin}{line}" for line in lines))


def _indented(draft: Draft, first: Span, lines: Sequence[str]) -> str:
    """The lines from where a statement begins, on. What the first line has in front of it is its indentation."""
    margin = draft.line(first.line)[: first.column - 1]
    ahead = margin if not margin.strip() else " " * len(margin)
    return draft.module.default_newline.join(
        line if index == 0 else (ahead + line if line or index == len(lines) - 1 else line)
        for index, line in enumerate(lines)
    )


def receiver(draft: Draft, node: cst.BaseExpression) -> str:
    """The source of an expression so that `.name`, `[index]` or `(arguments)` can follow it."""
    code = draft.code(node)
    is_tight = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    return code if is_tight or (node.lpar and node.rpar) else f"({code})"


def fix(applicability: str, message: str, *edits: Edit) -> Fix:
    """A fix with its edits in the order of the text. `message` says what is done and, unless it is safe, what may change."""
    return Fix(applicability, message, tuple(sorted(edits, key=lambda edit: edit.span)))
