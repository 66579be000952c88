"""A comprehension that keeps elements by a test on tensors, for a sum: what is not kept counts as zero."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source
from xlalint.fixes.choices import WHERE, Side, choose, side
from xlalint.fixes.questions import question
from xlalint.fixes.site import UNSAFE, Site, fix
from xlalint.semantics.syntax import nodes_of

MENDS = ("XLA101",)
ORDER = 50

_SUMS = frozenset(
    {"tf.add_n", "tf.math.add_n", "tf.math.accumulate_n", "tf.reduce_sum", "tf.math.reduce_sum"}
)


def propose(site: Site) -> Fix | None:
    """`tf.add_n([x for x in xs if test])` adds zeros for the others."""
    draft, tf = site.draft, site.draft.tensorflow
    holder = draft.parent(site.node)
    found = next(
        (a for a in draft.ancestors(site.node) if isinstance(a, (cst.ListComp, cst.GeneratorExp))),
        None,
    )
    if not isinstance(holder, cst.CompIf) or found is None or tf is None:
        return None
    node, source = draft.as_ast(found), Source(draft)
    statement = draft.statement(found)
    inner = (
        draft.as_ast(statement.body[0]) if isinstance(statement, cst.SimpleStatementLine) else None
    )
    if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or not isinstance(inner, ast.stmt):
        return None
    if (
        len(node.generators) != 1
        or len(node.generators[0].ifs) != 1
        or not _is_summed(source, node, inner)
    ):
        return None
    asked = question(source, node.generators[0].ifs[0], tf)
    if asked is None:
        return None
    kept = side(source, node.elt)
    zero = ast.copy_location(ast.Constant(0.0), node.elt)
    zeros = Side(zero, kept.value, f"{tf}.zeros_like({kept.code})")
    choice = choose(source, inner, asked, (kept, Side(node.elt, kept.value, zeros.code)), tf)
    if choice is None:
        return None
    arms = [kept.code, zeros.code]
    how = "where" if choice.how == WHERE else "cond"
    if how == "cond":
        arms = [f"lambda: {arm}" for arm in arms]
    element = source.span(node.elt)
    test = source.span(node.generators[0].iter)
    end = source.span(node.generators[0].ifs[0])
    return fix(
        UNSAFE,
        "Add zeros for what is not kept: of nothing kept the sum is zeros, where tf.add_n stops.",
        Edit(element, f"{tf}.{how}({asked.code}, {', '.join(arms)})"),
        Edit(Span(test.end_line, test.end_column, end.end_line, end.end_column), ""),
    )


def _is_summed(source: Source, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether all that is made of the elements is their sum."""
    function = source.function(statement)
    if function is None:
        return False
    calls = [n for n in nodes_of(function.body) if isinstance(n, ast.Call) and _sums(source, n)]
    if any(call.args[0] is node for call in calls):
        return True
    if (
        not isinstance(statement, ast.Assign)
        or statement.value is not node
        or len(statement.targets) != 1
    ):
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [n for n in nodes_of(function.body) if isinstance(n, ast.Name) and n.id == target.id]
    added = [call.args[0] for call in calls]
    return all(n is target or any(n is a for a in added) for n in uses) and len(uses) > 1


def _sums(source: Source, call: ast.Call) -> bool:
    if len(call.args) != 1 or call.keywords:
        return False
    return source.api(call) in _SUMS or (isinstance(call.func, ast.Name) and call.func.id == "sum")
