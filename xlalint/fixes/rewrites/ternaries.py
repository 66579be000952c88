"""`a if test else b` on a tensor: tf.where where both may be computed, tf.cond where only one may."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source
from xlalint.fixes.choices import WHERE, choose, side
from xlalint.fixes.layout import call_lines
from xlalint.fixes.questions import question
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix

MENDS = ("XLA101", "XLA106")
ORDER = 40


def propose(site: Site) -> Fix | None:
    """Put a call in the place of the ternary that has the flagged node as its test."""
    draft = site.draft
    ternary, tf = draft.parent(site.node), draft.tensorflow
    if not isinstance(ternary, cst.IfExp) or ternary.test is not site.node or tf is None:
        return None
    source = Source(draft)
    node, holder = draft.as_ast(ternary), draft.statement(ternary)
    statement = draft.as_ast(holder) if holder is not None else None
    if isinstance(holder, cst.SimpleStatementLine):
        statement = draft.as_ast(holder.body[0])
    if not isinstance(node, ast.IfExp) or not isinstance(statement, ast.stmt):
        return None
    asked = question(source, node.test, tf)
    if asked is None:
        return None
    sides = side(source, node.body), side(source, node.orelse)
    found = choose(source, statement, asked, sides, tf)
    if found is None:
        return None
    if found.how == WHERE:
        lines = call_lines("", f"{tf}.where", [asked.code, found.then, found.otherwise])
        what = "Choose the value with tf.where"
    else:
        arms = [f"lambda: {found.then}", f"lambda: {found.otherwise}"]
        lines = call_lines("", f"{tf}.cond", [asked.code, *arms], tall=True)
        what = "Branch with tf.cond, which computes one of its arms"
    place = _with_parentheses(source, ternary)
    line = draft.line(place.line)
    margin = line[: len(line) - len(line.lstrip())]
    code = "\n".join([lines[0], *(margin + line for line in lines[1:])])
    applicability = SAFE if found.doubt is None else UNSAFE
    message = f"{what}." if found.doubt is None else f"{what}: {found.doubt}."
    return fix(applicability, message, Edit(place, code))


def _with_parentheses(source: Source, ternary: cst.IfExp) -> Span:
    """The place of a ternary with the parentheses around it, which a call does not need; those of a call stay."""
    span = source.draft.span(ternary)
    above, ahead = _text_before(source, span)
    below, behind = _text_behind(source, span)
    before = ahead[-2:-1]
    if (
        not ternary.lpar
        or not ahead.endswith("(")
        or not behind.startswith(")")
        or before.isidentifier()
        or before in (")", "]")
    ):
        return span
    column = len(source.draft.line(below)) - len(behind) + 2
    return Span(above, len(ahead), below, column)


def _text_before(source: Source, span: Span) -> tuple[int, str]:
    """What stands in front of a place, and its line: that of the line above where there is nothing else."""
    ahead = source.draft.line(span.line)[: span.column - 1]
    if ahead.strip() or span.line == 1:
        return span.line, ahead
    return span.line - 1, source.draft.line(span.line - 1).rstrip()


def _text_behind(source: Source, span: Span) -> tuple[int, str]:
    """What stands behind a place, and its line: that of the line below where there is nothing else."""
    behind = source.draft.line(span.end_line)[span.end_column - 1 :]
    if behind.strip():
        return span.end_line, behind
    return span.end_line + 1, source.draft.line(span.end_line + 1).lstrip()
