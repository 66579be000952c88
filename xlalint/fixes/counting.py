"""Tensors of which only the number of elements is asked."""

from __future__ import annotations

import libcst as cst

from xlalint.fixes.bindings import reads
from xlalint.fixes.draft import Draft


def count_of(draft: Draft, values: cst.BaseExpression) -> cst.BaseExpression | None:
    """`tf.size(values)` or `tf.shape(values)[0]` around a vector; None where something else is done with it."""
    given = draft.parent(values)
    call = draft.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    api = draft.api(call)
    if api == "tf.size":
        return call
    above = draft.parent(call)
    is_length = api == "tf.shape" and isinstance(above, cst.Subscript)
    return above if is_length and draft.code(above).endswith("[0]") else None  # type: ignore[return-value, arg-type]


def counts_of(draft: Draft, assignment: cst.Assign, name: str) -> list[cst.BaseExpression]:
    """The counts of what an assignment gave to a name; empty where anything else reads it."""
    found = [count_of(draft, read) for read in reads(draft, assignment, name) or ()]
    counts = [count for count in found if count is not None]
    return counts if len(counts) == len(found) else []
