"""A Python `for` over a range, left early by a tensor, in code that AutoGraph converts: it counts with tf.range.

AutoGraph makes a loop of the graph of it then, and its `break` and `continue` work.
"""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.asts import Source
from xlalint.fixes.branches import can_move
from xlalint.fixes.effects import Effect, effect_of
from xlalint.fixes.rewrites.left_loops import counts_by_tensor
from xlalint.fixes.rewrites.while_loops import carried, state_doubt
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.semantics.syntax import nodes_of

MENDS = ("XLA104",)
ORDER = 40


def propose(site: Site) -> Fix | None:
    """`for i in tf.range(n)`, where `i` may be a tensor and nothing in the body needs Python's own loop."""
    draft, tf, call = site.draft, site.draft.tensorflow, site.node
    if site.finding.variant != "left-early" or not isinstance(call, cst.Call) or tf is None:
        return None
    holder, source = draft.parent(call), Source(draft)
    if (
        not isinstance(holder, cst.For)
        or holder.iter is not call
        or draft.code(call.func) != "range"
    ):
        return None
    loop = draft.as_ast(holder)
    if not isinstance(loop, ast.For) or loop.orelse or not counts_by_tensor(source, loop):
        return None
    leaves = (ast.Break, ast.Continue)
    body = [s for s in loop.body if not any(isinstance(n, leaves) for n in nodes_of([s]))]
    if not can_move(source, body) or effect_of(source, loop.body) is not Effect.NONE:
        return None
    if any(isinstance(node, ast.Return) for node in nodes_of(loop.body)):
        return None
    names = carried(source, loop)
    if not names:
        return None
    message = (
        "Count with tf.range, so that AutoGraph makes a loop of the graph, which a tensor may end"
    )
    doubt = state_doubt(source, loop, names)
    edit = replace(draft, call.func, f"{tf}.range")
    if doubt is None:
        return fix(SAFE, f"{message}.", edit)
    return fix(UNSAFE, f"{message}: {doubt}.", edit)
