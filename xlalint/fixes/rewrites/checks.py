"""`assert` and `raise` that a tensor decides: checks of the graph, which eager code makes and XLA leaves out."""

from __future__ import annotations

import ast
import json

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.asts import Source
from xlalint.fixes.layout import call_lines
from xlalint.fixes.questions import question
from xlalint.fixes.site import UNSAFE, Site, fix, replace_statements

MENDS = ("XLA101", "XLA106")
ORDER = 30
_LONGEST_QUOTE = 60


def propose(site: Site) -> Fix | None:
    """tf.debugging.Assert, with the words of the author."""
    draft, tf = site.draft, site.draft.tensorflow
    holder = draft.parent(site.node)
    source, test = Source(draft), draft.as_ast(site.node)
    if tf is None or not isinstance(test, ast.expr):
        return None
    if isinstance(holder, cst.Assert) and holder.test is site.node:
        statement = draft.as_ast(holder)
        said = statement.msg if isinstance(statement, ast.Assert) else None
        error, target = "AssertionError", draft.parent(holder)
        is_alone = isinstance(target, cst.SimpleStatementLine) and len(target.body) == 1
        asked = question(source, test, tf)
        code = asked.code if asked is not None else None
    elif isinstance(holder, cst.If) and holder.test is site.node:
        raised = _only_raises(source, draft.as_ast(holder))
        if raised is None or isinstance(draft.parent(holder), cst.If):
            return None
        said, error = raised
        target, is_alone = holder, True
        asked = question(source, test, tf)
        code = f"{tf}.logical_not({asked.code})" if asked is not None else None
    else:
        return None
    if code is None or not is_alone or not isinstance(target, cst.BaseStatement):
        return None
    words = _words(source, said, test)
    lines = call_lines("", f"{tf}.debugging.Assert", [code, f"[{words}]"])
    comments = source.comments(draft.span(target))
    message = (
        f"Check in the graph: eager code raises InvalidArgumentError instead of {error},"
        " and XLA leaves the check out."
    )
    return fix(UNSAFE, message, replace_statements(draft, [target], [*comments, *lines]))


def _only_raises(source: Source, node: ast.AST | None) -> tuple[ast.expr | None, str] | None:
    """What an `if` without further arms says and raises, where it does nothing else."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return None
    only = node.body[0]
    if not isinstance(only, ast.Raise) or only.exc is None:
        return None
    if isinstance(only.exc, ast.Call):
        said = only.exc.args[0] if only.exc.args else None
        return said, source.code(only.exc.func)
    return None, source.code(only.exc)


def _words(source: Source, said: ast.expr | None, test: ast.expr) -> str:
    """What the author says where it is a plain text; otherwise the test itself."""
    if (
        isinstance(said, ast.Constant)
        and isinstance(said.value, str)
        and said.lineno == said.end_lineno
    ):
        return source.code(said)
    text = " ".join(source.code(test).split())
    return json.dumps(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "...")
