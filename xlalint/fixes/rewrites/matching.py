"""`match` on a tensor with numbers as its patterns: the questions of an `if`, each asked in the graph."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.asts import Source
from xlalint.fixes.branches import Arm, Branch
from xlalint.fixes.numerics import is_scalar, literal
from xlalint.fixes.questions import Question
from xlalint.fixes.rewrites.branches import chosen
from xlalint.fixes.site import Site

MENDS = ("XLA101",)
ORDER = 40


def propose(site: Site) -> Fix | None:
    """Choose between what the cases return or assign."""
    draft, tf = site.draft, site.draft.tensorflow
    holder = draft.parent(site.node)
    if not isinstance(holder, cst.Match) or holder.subject is not site.node or tf is None:
        return None
    statement, source = draft.as_ast(holder), Source(draft)
    if not isinstance(statement, ast.Match):
        return None
    numbers = [
        n
        for case in statement.cases
        for n in ast.walk(case.pattern)
        if isinstance(n, ast.MatchValue)
    ]
    # What is asked more than once has to be a name.
    if not isinstance(statement.subject, ast.Name) and len(numbers) > 1:
        return None
    arms: list[Arm] = []
    asked: list[Question] = []
    for case in statement.cases:
        if case.guard is not None or (arms and arms[-1].test is None):
            return None
        if (
            isinstance(case.pattern, ast.MatchAs)
            and case.pattern.pattern is None
            and case.pattern.name is None
        ):
            arms.append(Arm(None, tuple(case.body)))
            continue
        code = _question(source, case.pattern, source.code(statement.subject), tf)
        if code is None:
            return None
        asked.append(Question(code, is_scalar(source.value(statement.subject))))
        arms.append(Arm(statement.subject, tuple(case.body)))
    if not asked:
        return None
    path = source.path(statement)
    after = tuple(path[-1].block[path[-1].place + 1 :]) if path else ()
    return chosen(source, Branch(holder, statement, tuple(arms), after, False), asked, tf)


def _question(source: Source, pattern: ast.pattern, subject: str, tf: str) -> str | None:
    """`case 0:` as `tf.equal(x, 0)`, and `case 0 | 1:` as either."""
    if isinstance(pattern, ast.MatchOr):
        parts = [_question(source, part, subject, tf) for part in pattern.patterns]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        code = known[0]
        for part in known[1:]:
            code = f"{tf}.logical_or({code}, {part})"
        return code
    if isinstance(pattern, ast.MatchValue) and literal(source, pattern.value) is not None:
        return f"{tf}.equal({subject}, {source.code(pattern.value)})"
    return None
