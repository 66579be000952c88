"""Code as text: what is spliced into it, and lines that would be longer than anybody likes to read."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from xlalint.finding import Edit, Span
from xlalint.fixes.draft import Draft

WIDTH = 98


def source(draft: Draft, node: cst.CSTNode) -> str:
    """The code of a node without its own parentheses, as it stands in the program."""
    span = draft.span(node)
    lines = [draft.line(number) for number in range(span.line, span.end_line + 1)]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def one_by_one(draft: Draft, ends: Sequence[cst.CSTNode], edits: list[Edit]) -> list[Edit]:
    """The edits, with those in a tuple that is returned as one where its line would be longer than anybody likes to read."""
    lines = {
        id(line): line
        for end in ends
        for line in draft.ancestors(end)
        if isinstance(line, cst.Return)
    }
    for line in lines.values():
        whole = line.value
        if not isinstance(whole, cst.Tuple) or whole.lpar:
            continue
        span = draft.span(whole)
        within = [e for e in edits if span.line == e.span.line == e.span.end_line]
        width = span.end_column + sum(len(e.text) - length(e.span) for e in within)
        if span.line != span.end_line or width <= WIDTH + 1 or len(within) < 2:
            continue
        edits = [e for e in edits if e not in within]
        edits.append(Edit(span, _listed(draft, whole, within)))
    return edits


def _listed(draft: Draft, whole: cst.Tuple, edits: Sequence[Edit]) -> str:
    """A tuple in parentheses, each of its elements on a line."""
    first = draft.line(draft.span(whole).line)
    margin = first[: len(first) - len(first.lstrip())]
    lines = ["("]
    for element in whole.elements:
        node, span = element.value, draft.span(element.value)
        inner = [(e.span, e.text) for e in edits if span.column <= e.span.column < span.end_column]
        text = with_pieces(source(draft, node), span, inner)
        opened, closed = "(" * len(node.lpar), ")" * len(node.rpar)
        lines.append(f"{margin}{draft.module.default_indent}{opened}{text}{closed},")
    return draft.module.default_newline.join((*lines, f"{margin})"))


def length(span: Span) -> int:
    return span.end_column - span.column


def literal(dtype: str | None, number: str) -> str:
    """A number as the dtype has it. A whole one is taken by tensors of any number type."""
    if dtype == "bool":
        return "False" if number == "0" else "True"
    return f"{number}.0" if dtype is not None and dtype.startswith(("float", "bfloat")) else number


def is_loose(text: str) -> bool:
    """Whether an expression needs parentheses beside an operator."""
    try:
        node = cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return True
    tight = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float)
    return not (isinstance(node, tight) or node.lpar)


def short(code: str) -> str:
    text = " ".join(code.split())
    return text if len(text) <= 40 else text[:37] + "..."


def with_pieces(code: str, start: Span, pieces: Sequence[tuple[Span, str]]) -> str:
    """Code that begins at `start`, with stretches of it replaced."""
    offsets = [0]
    for line in code.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    for span, text in sorted(pieces, reverse=True):
        begin = offset(offsets, start, span.line, span.column)
        end = offset(offsets, start, span.end_line, span.end_column)
        code = code[:begin] + text + code[end:]
    return code


def offset(offsets: Sequence[int], start: Span, line: int, column: int) -> int:
    index = line - start.line
    return offsets[index] + (column - start.column if index == 0 else column - 1)
