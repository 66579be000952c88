"""A write to a TensorArray whose result is thrown away is bound to the array's name."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, Site, fix, replace
from xlalint.semantics.control_flow.liveness import binds_in

MENDS = ("XLA107",)


def propose(site: Site) -> Fix | None:
    """`array = array.write(i, x)`, where the function around binds `array` itself."""
    draft, call = site.draft, site.node
    if site.finding.variant != "dropped" or not isinstance(call, cst.Call):
        return None
    array = call.func.value if isinstance(call.func, cst.Attribute) else None
    if not isinstance(array, cst.Name) or not _is_bound_here(draft, call, array.value):
        return None
    edit = replace(draft, array, f"{array.value} = {array.value}")
    return fix(SAFE, "Bind the array that the write returns.", edit)


def _is_bound_here(draft: Draft, call: cst.Call, name: str) -> bool:
    """Whether the function around assigns the name itself: one of a function further out would be bound anew."""
    around = draft.function(call)
    node = None if around is None else draft.as_ast(around)
    return isinstance(node, ast.FunctionDef) and binds_in(node.body, name)
