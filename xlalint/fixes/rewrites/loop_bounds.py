"""A loop of the graph without a bound: `maximum_iterations`, as the loop itself has it, or to be filled in."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes import bounds
from xlalint.fixes.asts import Source
from xlalint.fixes.calls import argument, spreads, with_argument
from xlalint.fixes.site import DISPLAY, SAFE, Site, fix
from xlalint.semantics.facts import LOOP_GRADIENT
from xlalint.semantics.gradients.loop_gradients import UNBOUNDED

MENDS = ("XLA102", "XLA103")
ORDER = 30
_EXAMPLE = "100"
_TEMPLATE = f"Give the loop a bound: {_EXAMPLE} stands for the most steps that any input needs."


def propose(site: Site) -> Fix | None:
    """Say how often the loop may run. Shown only where nothing in the code says it."""
    if any(f.detail.reason != UNBOUNDED for f in site.draft.facts_at(site.node, LOOP_GRADIENT)):
        return None
    if isinstance(site.node, cst.Call):
        return _of_call(site, site.node)
    holder = site.draft.parent(site.node)
    if isinstance(holder, cst.While) and holder.test is site.node and site.is_converted:
        return _of_while(site, holder)
    return None


def _of_call(site: Site, call: cst.Call) -> Fix | None:
    draft = site.draft
    name = draft.api(call)
    if name not in ("tf.while_loop", "keras.ops.while_loop") or spreads(call):
        return None
    if argument(call, "maximum_iterations", None) is not None:
        return None
    node = draft.as_ast(call)
    if not isinstance(node, ast.Call):
        return None
    bound = bounds.of_call(Source(draft), node)
    edit = with_argument(draft, call, f"maximum_iterations={bound or _EXAMPLE}")
    if bound is None:
        return fix(DISPLAY, _TEMPLATE, edit)
    return fix(SAFE, "Give the loop the bound that its condition has.", edit)


def _of_while(site: Site, loop: cst.While) -> Fix | None:
    """AutoGraph takes the bound from the first line of the loop."""
    draft, tf = site.draft, site.draft.tensorflow
    node = draft.as_ast(loop)
    is_exact = site.finding.variant in ("converted", "taken", "likely")
    if tf is None or not isinstance(node, ast.While) or not is_exact:
        return None
    if not isinstance(loop.body, cst.IndentedBlock):
        return None
    bound = bounds.of_while(Source(draft), node)
    first = draft.span(loop.body.body[0])
    margin = draft.line(first.line)[: first.column - 1]
    options = (
        f"{tf}.autograph.experimental.set_loop_options(maximum_iterations={bound or _EXAMPLE})"
    )
    place = Span(first.line, first.column, first.line, first.column)
    edit = Edit(place, f"{options}\n{margin}")
    if bound is None:
        return fix(DISPLAY, _TEMPLATE, edit)
    return fix(SAFE, "Give the loop the bound that its condition has.", edit)
