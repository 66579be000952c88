"""Calls as rewrites edit them: their arguments, with one added, taken out or given another value."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Span
from xlalint.fixes.draft import Draft


def call_at(draft: Draft, node: cst.CSTNode) -> cst.Call | None:
    """The call that a finding is about: flagged itself, by the name that is called, or by one of its arguments."""
    if isinstance(node, cst.Call):
        return node
    inner = node
    for above in draft.ancestors(node):
        if isinstance(above, cst.Call):
            is_about = above.func is inner or any(a is inner for a in above.args)
            return above if is_about else None
        is_part = (isinstance(above, cst.Attribute) and above.attr is inner) or (
            isinstance(above, cst.Arg)
        )
        if not is_part:
            return None
        inner = above
    return None


def argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """The argument given for a parameter: by its name, or by its place (from 0) among those without a name."""
    for index, given in enumerate(call.args):
        if given.star:
            position = None  # what stands behind `*values` has no place that is known
        if given.keyword is not None and given.keyword.value == name:
            return given
        if given.keyword is None and not given.star and index == position:
            return given
    return None


def spreads(call: cst.Call) -> bool:
    """Whether it hands on arguments that are not written out: `f(*values)`, `f(**options)`."""
    return any(given.star for given in call.args)


def with_argument(draft: Draft, call: cst.Call, code: str) -> Edit:
    """Add an argument behind the last one, on a line of its own where that one has one."""
    if not call.args:
        end = draft.span(call)
        place = Span(end.end_line, end.end_column - 1, end.end_line, end.end_column - 1)
        return Edit(place, code)
    last = draft.span(call.args[-1])
    margin = draft.line(last.line)[: last.column - 1]
    last_line = draft.line(last.end_line)
    behind = last_line[last.end_column - 1 :]
    has_own_line = not margin.strip()
    if has_own_line and behind.lstrip().startswith(","):
        place = Span(last.end_line, len(last_line) + 1, last.end_line, len(last_line) + 1)
        return Edit(place, f"{draft.module.default_newline}{margin}{code},")
    place = Span(last.end_line, last.end_column, last.end_line, last.end_column)
    if has_own_line and not behind.strip():
        return Edit(place, f",{draft.module.default_newline}{margin}{code}")
    return Edit(place, f", {code}")


def without_argument(draft: Draft, call: cst.Call, gone: cst.Arg) -> Edit:
    """Take an argument out, with the comma that parts it from its neighbour."""
    index = next(i for i, given in enumerate(call.args) if given is gone)
    span = draft.span(gone)
    if index + 1 < len(call.args):
        following = draft.span(call.args[index + 1])
        return Edit(Span(span.line, span.column, following.line, following.column), "")
    if index > 0:
        before = draft.span(call.args[index - 1])
        return Edit(Span(before.end_line, before.end_column, span.end_line, span.end_column), "")
    end = draft.span(call)
    return Edit(Span(span.line, span.column, end.end_line, end.end_column - 1), "")


def with_value(draft: Draft, given: cst.Arg, code: str) -> Edit:
    """Give an argument another value; its name, if it has one, stays."""
    return Edit(draft.span(given.value), code)


def with_keyword(draft: Draft, call: cst.Call, name: str, code: str) -> Edit:
    """Give a parameter a value by its name: another one where it has one, else behind the other arguments."""
    given = argument(call, name)
    return with_value(draft, given, code) if given else with_argument(draft, call, f"{name}={code}")
