"""A loop over a few steps that makes a tensor longer is unrolled: a Python loop may concatenate."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.semantics.values import PYTHON

MENDS = ("XLA205",)
ORDER = 60
_MOST_STEPS = 64
_LEAVES = (cst.Break, cst.Continue, cst.Return)


def propose(site: Site) -> Fix | None:
    """`for i in tf.range(4)` becomes `for i in range(4)`."""
    draft, values = site.draft, site.node
    loop = draft.parent(values)
    if not isinstance(loop, cst.For) or loop.iter is not values or not isinstance(values, cst.Call):
        return None
    if draft.api(values) != "tf.range" or any(a.keyword or a.star for a in values.args):
        return None
    if not all(_is_number(draft, given.value) for given in values.args):
        return None
    if any(isinstance(node, _LEAVES) for node in draft.within(loop.body)):
        return None
    counter = draft.code(loop.target)
    message = (
        "Unroll the loop. Each step is compiled by itself, which takes longer the more there are, "
        f"and `{counter}` is a Python number."
    )
    return fix(UNSAFE, message, replace(draft, values.func, "range"))


def _is_number(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether it is a Python number, and none that makes a program too long to compile."""
    value = draft.value(node)
    known = value.constant()
    if isinstance(node, cst.Integer):
        return node.evaluated_value <= _MOST_STEPS
    is_few = known is None or not isinstance(known.value, int) or known.value <= _MOST_STEPS
    return value.kind == PYTHON and not value.guess and is_few
