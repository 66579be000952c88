"""XLA402, XLA105: what is only written for people is written where the code runs eagerly, and nowhere else."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.facts import CALL, CONVERSION, FORMATTING, NUMPY_CALL, NUMPY_METHOD
from xlalint.semantics.hazards import families

MENDS = ("XLA105", "XLA402")
# Before the casts of XLA105: a number that is only printed need not become a tensor.
ORDER = 30

_WRITES = frozenset({"debug", "info", "warning", "warn", "error", "critical", "log", "exception"})
_VALUES = (CONVERSION, FORMATTING, NUMPY_CALL, NUMPY_METHOD)


def propose(site: Site) -> Fix | None:
    """Put a `print`, a line of a log, or `tf.print` behind `if tf.executing_eagerly():`."""
    draft = site.draft
    is_callback = site.finding.code == "XLA402"
    if is_callback and site.finding.variant != "printing":
        return None  # a library's own output, and what a TPU may move to the host, are the author's to judge
    statement = draft.statement(site.node)
    if statement is None or not _is_output(draft, statement, is_callback):
        return None
    run = _run(draft, statement, is_callback)
    edits = _guarded(draft, run)
    tensorflow, imports = draft.import_tensorflow()
    if edits is None:
        return None
    first = draft.span(run[0])
    margin = draft.line(first.line)[: first.column - 1]
    head = f"if {tensorflow}.executing_eagerly():{draft.module.default_newline}"
    start = Span(first.line, first.column, first.line, first.column)
    opening = Edit(start, f"{head}{margin}{draft.module.default_indent}")
    if is_callback:
        return fix(
            UNSAFE,
            "Write only where the code runs eagerly; a traced function, compiled or not, is silent then",
            opening, *edits, *imports,
        )  # fmt: skip
    return fix(
        SAFE,
        "Write only where the code runs eagerly: it could not be traced until now",
        opening, *edits, *imports,
    )  # fmt: skip


def _is_output(draft: Draft, statement: cst.CSTNode, is_callback: bool) -> bool:
    """Whether a statement does nothing but write something that cannot be written from compiled code."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    only = statement.body[0]
    if not isinstance(only, cst.Expr) or not isinstance(only.value, cst.Call):
        return False
    call = only.value
    if is_callback:
        return any(f.detail.family == families.PRINTING for f in draft.facts_at(call, CALL))
    if not _writes_for_people(draft, call.func):
        return False
    return any(draft.facts_at(each, *_VALUES) for each in draft.within(call))


def _writes_for_people(draft: Draft, called: cst.BaseExpression) -> bool:
    """`print`, and the methods of loggers."""
    if isinstance(called, cst.Name):
        return called.value == "print" and draft.api(called) is None
    if not isinstance(called, cst.Attribute) or called.attr.value not in _WRITES:
        return False
    name = draft.api(called) or draft.code(called)
    return "log" in name.rpartition(".")[0].lower()


def _run(draft: Draft, statement: cst.BaseStatement, is_callback: bool) -> list[cst.BaseStatement]:
    """The statement with those of its kind right above and below."""
    block = list(draft.block(statement))
    if not block:
        return []
    first = last = next(i for i, each in enumerate(block) if each is statement)
    while first > 0 and _is_output(draft, block[first - 1], is_callback):
        first -= 1
    while last + 1 < len(block) and _is_output(draft, block[last + 1], is_callback):
        last += 1
    return block[first : last + 1]


def _guarded(draft: Draft, run: list[cst.BaseStatement]) -> list[Edit] | None:
    """One level more before each line but the first; None where that would change a text over several lines."""
    if not run:
        return None
    first, last = draft.span(run[0]), draft.span(run[-1])
    texts = (cst.SimpleString, cst.FormattedString)
    for statement in run:
        for each in draft.within(statement):
            if isinstance(each, texts) and draft.span(each).line != draft.span(each).end_line:
                return None
    return [
        Edit(Span(number, 1, number, 1), draft.module.default_indent)
        for number in range(first.line + 1, last.end_line + 1)
        if draft.line(number).strip()
    ]
