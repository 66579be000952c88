"""`and`, `or`, `not` and `in` on tensors, where no branch around them is rewritten: tf.logical_and and the like."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.asts import Source
from xlalint.fixes.questions import membership, question
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.semantics.facts import CONDITION, MEMBERSHIP

MENDS = ("XLA101",)
# After the rewrites of what such a question decides.
ORDER = 60


def propose(site: Site) -> Fix | None:
    """Ask in the graph."""
    draft, tf = site.draft, site.draft.tensorflow
    source, node = Source(draft), draft.as_ast(site.node)
    if tf is None or not isinstance(node, ast.expr):
        return None
    if isinstance(node, ast.Compare) and draft.facts_at(site.node, MEMBERSHIP):
        asked = membership(source, node, tf)
        what = "Compare with all at once"
    elif isinstance(node, (ast.BoolOp, ast.UnaryOp)) and _is_asked_for_truth(site):
        asked = question(source, node, tf)
        what = "Ask in the graph, which gives a boolean tensor"
    else:
        return None
    if asked is None:
        return None
    doubt = asked.doubt
    if isinstance(node, ast.BoolOp) and any(source.value(p).dtype != "bool" for p in node.values):
        doubt = doubt or "the result is a boolean, not one of the operands"
    message = f"{what}." if doubt is None else f"{what}: {doubt}."
    return fix(SAFE if doubt is None else UNSAFE, message, replace(draft, site.node, asked.code))


def _is_asked_for_truth(site: Site) -> bool:
    found = {fact.detail for fact in site.draft.facts_at(site.node, CONDITION)}
    holder = site.draft.parent(site.node)
    if isinstance(holder, (cst.If, cst.IfExp, cst.While)) and holder.test is site.node:
        return False
    return bool(found & {"and", "or", "not"})
