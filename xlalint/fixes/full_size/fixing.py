"""The fix for a group of kept elements: the edits that write it again over full tensors, and what may change by them."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.bindings import Origin, origin, reads, simple_target
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.doubts import Doubts
from xlalint.fixes.full_size.ends import written
from xlalint.fixes.full_size.flow import RETURNED, End, Group
from xlalint.fixes.full_size.guards import Guards
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.making import line_of, summary, with_mask
from xlalint.fixes.full_size.masks import VALUES
from xlalint.fixes.full_size.rewriting import Rewriting
from xlalint.fixes.full_size.texts import is_loose, one_by_one
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.fixes.site import SAFE, UNSAFE, fix, insert_before, replace_statements


def fix_for(draft: Draft, reader: Reader, group: Group, tensorflow: str) -> Fix:
    """The fix for the whole group.

    Raises:
        UnfitError: there is none.
    """
    rewriting = Rewriting(draft, reader, group, tensorflow, Guards(draft, reader), written)
    for end in group.ends:
        _settle(rewriting, end)
    doubts = Doubts(draft, reader, group, rewriting.guards, rewriting.doubts)
    doubts.operands()
    doubts.bounds()
    for assignment in rewriting.group.assignments:
        _alias(rewriting, assignment)
    asked = [edit for source in rewriting.group.sources for edit in with_mask(rewriting, source)]
    _edits(rewriting)
    rewriting.name_masks()
    rewriting.bound_lines.clear()
    edits = [*_edits(rewriting), *asked]
    message = summary(rewriting)
    if not rewriting.doubts:
        return fix(SAFE, message, *edits)
    return fix(UNSAFE, " ".join((message, *rewriting.doubts)), *edits)


def _edits(rewriting: Rewriting) -> list[Edit]:
    roots: dict[int, cst.BaseExpression] = {}
    for node in (
        *(e.node for e in rewriting.group.ends),
        *(a.value for a in rewriting.group.assignments),
    ):
        roots[id(node)] = node
    outermost = [
        node
        for node in roots.values()
        if not any(id(above) in roots for above in rewriting.draft.ancestors(node))
    ]
    gone = {id(a) for a in rewriting.group.assignments if id(a) in rewriting.aliases}
    gone |= {id(a) for a in rewriting.group.assignments if _is_of_indices(rewriting, a)}
    gone |= {id(a) for a in rewriting.group.fills}
    edits: list[Edit] = []
    for node in outermost:
        if id(rewriting.draft.parent(node)) in gone:
            continue
        span = rewriting.draft.span(node)
        text = rewriting.render(node)
        if _needs_parentheses(rewriting, node, text):
            text = f"({text})"
        if text != rewriting.source(node):
            edits.append(Edit(span, text))
    edits = one_by_one(rewriting.draft, [end.node for end in rewriting.group.ends], edits)
    return edits + _statement_edits(rewriting, gone)


def _statement_edits(rewriting: Rewriting, gone: set[int]) -> list[Edit]:
    """New lines before statements, and statements that go."""
    ahead: dict[int, tuple[cst.BaseStatement, list[str]]] = {}
    for key, name in rewriting.mask_names.items():
        if key in rewriting.made or key not in rewriting.masks:
            continue
        mask = rewriting.masks[key]
        statement = rewriting.first_statement(key)
        line = f"{name} = {rewriting.mask_code(mask)}"
        ahead.setdefault(id(statement), (statement, []))[1].append(line)
    for statement_id, lines in rewriting.bound_lines.items():
        found = _statement_by_id(rewriting, statement_id)
        ahead.setdefault(statement_id, (found, []))[1].extend(lines)
    edits: list[Edit] = []
    for assignment in (*rewriting.group.assignments, *rewriting.group.fills):
        if id(assignment) not in gone:
            continue
        statement = line_of(rewriting.draft, assignment)
        if id(statement) in ahead:
            _, lines = ahead.pop(id(statement))
            edits.append(replace_statements(rewriting.draft, [statement], lines))
        else:
            edits.append(_without(rewriting, statement))
    for statement, lines in ahead.values():
        edits.append(insert_before(rewriting.draft, statement, lines))
    return edits


def _without(rewriting: Rewriting, statement: cst.SimpleStatementLine) -> Edit:
    """Take a statement out, with its line unless a comment stands behind it, which stays."""
    span = rewriting.draft.span(statement)
    rest = rewriting.draft.line(span.end_line)[span.end_column - 1 :]
    if not rest.strip():
        return Edit(Span(span.line, 1, span.end_line + 1, 1), "")
    end = span.end_column + len(rest) - len(rest.lstrip())
    return Edit(Span(span.line, span.column, span.end_line, end), "")


def _statement_by_id(rewriting: Rewriting, wanted: int) -> cst.BaseStatement:
    for end in rewriting.group.ends:
        statement = rewriting.draft.statement(end.node)
        if statement is not None and id(statement) == wanted:
            return statement
    raise UnfitError


def _needs_parentheses(rewriting: Rewriting, node: cst.BaseExpression, text: str) -> bool:
    if node.lpar:
        return False
    above = rewriting.draft.parent(node)
    is_operator = isinstance(
        above, (cst.BinaryOperation, cst.UnaryOperation, cst.Attribute, cst.Subscript, cst.Call)
    )
    return is_operator and is_loose(text) and not _is_argument(rewriting, node)


def _is_argument(rewriting: Rewriting, node: cst.CSTNode) -> bool:
    return isinstance(rewriting.draft.parent(node), (cst.Arg, cst.Index))


def _is_of_indices(rewriting: Rewriting, assignment: cst.Assign) -> bool:
    known = rewriting.reader.kept(assignment.value)
    return known is not None and known.kind != VALUES


def _alias(rewriting: Rewriting, assignment: cst.Assign) -> None:
    """Let the full tensor's own name stand where the kept elements had one, and the assignment go."""
    known = rewriting.reader.kept(assignment.value)
    assert known is not None
    line = line_of(rewriting.draft, assignment)
    target = simple_target(assignment)
    if known.kind != VALUES:
        if _holds_comment(rewriting, line):
            raise UnfitError
        return
    whole = known.whole
    if not known.is_source or not isinstance(whole, cst.Name):
        return
    if id(assignment.value) in rewriting.guards.at or _holds_comment(rewriting, line):
        return
    if len(rewriting.draft.block(line)) < 2 or target is None:
        return
    came_from = origin(rewriting.draft, whole.value, assignment)
    for read in reads(rewriting.draft, assignment, target) or ():
        found = origin(rewriting.draft, whole.value, read)
        is_this = found == Origin(target, assignment) and target == whole.value
        if came_from is None or (found != came_from and not is_this):
            return
    rewriting.aliases[id(assignment)] = whole.value


def _holds_comment(rewriting: Rewriting, line: cst.SimpleStatementLine) -> bool:
    """Whether a comment stands within a statement, or another statement behind it."""
    span = rewriting.draft.span(line)
    lines = [rewriting.draft.line(n) for n in range(span.line, span.end_line)]
    return any("#" in each for each in lines) or isinstance(line.body[0].semicolon, cst.Semicolon)


def _settle(rewriting: Rewriting, end: End) -> None:
    api = end.how.split(" ")[0]
    known = rewriting.reader.kept(end.operand)
    if known is None or known.kind != VALUES:
        return
    if api in operations.REDUCTIONS or end.how in ("updates", RETURNED):
        rewriting.guards.settle(end.operand)
