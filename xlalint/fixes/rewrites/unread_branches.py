"""`if` on a tensor whose arms compute what nothing reads: it goes."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source
from xlalint.fixes.branches import Branch, can_move, outputs, read
from xlalint.fixes.effects import Effect, effect_of, never_raises
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace_statements

MENDS = ("XLA101", "XLA106")
# Before the rewrites that would ask in the graph what nobody wants to know.
ORDER = 35


def propose(site: Site) -> Fix | None:
    """Take the conditional away. Its comments are the author's: where it has some, nothing is done."""
    branch = read(site.draft, site.node)
    if branch is None or branch.is_elif or not isinstance(branch.node, cst.If):
        return None
    source = Source(site.draft)
    body = [statement for arm in branch.arms for statement in arm.body]
    if outputs(source, branch) != [] or not can_move(source, body):
        return None
    if effect_of(source, [*branch.tests, *body]) is not Effect.NONE or not _binds(source, body):
        return None
    message = "Leave out the `if`: nothing reads what it computes"
    edit = _without(source, branch)
    if all(never_raises(source, node) for node in (*branch.tests, *body)):
        return fix(SAFE, f"{message}.", edit)
    return fix(UNSAFE, f"{message}. An error that it raises in eager execution goes, too.", edit)


def _binds(source: Source, body: list[ast.stmt]) -> bool:
    """Whether the arms do nothing but assign: what else would stand there is meant for something."""
    for statement in body:
        if isinstance(statement, ast.AugAssign):
            if not source.value(statement.value).is_tensor:
                return False  # a list grows in its place
        elif not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Pass)):
            return False
    return any(not isinstance(statement, ast.Pass) for statement in body)


def _without(source: Source, branch: Branch) -> Edit:
    """The statement with its line end; `pass` where it is all that its block has."""
    draft, span = source.draft, source.span(branch.statement)
    if len(draft.block(branch.node)) < 2:
        return replace_statements(draft, [branch.node], ["pass"])
    return Edit(Span(span.line, 1, span.end_line + 1, 1), "")
