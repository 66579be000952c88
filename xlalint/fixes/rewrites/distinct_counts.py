"""How many different values a tensor has: counted after sorting, where `tf.unique` made a tensor only to count it."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.bindings import reads
from xlalint.fixes.calls import spreads
from xlalint.fixes.counting import count_of, counts_of
from xlalint.fixes.draft import Draft
from xlalint.fixes.ranks import Rank, rank_of
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, insert_before, replace

MENDS = ("XLA202",)
ORDER = 60
_WHOLE = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
# What is evaluated each time, or not always, and not where the statement begins.
_ELSEWHERE = (
    cst.Lambda,
    cst.IfExp,
    cst.BooleanOperation,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)


def propose(site: Site) -> Fix | None:
    """Sort, and count where a value differs from the one before it."""
    draft, call = site.draft, site.node
    if not isinstance(call, cst.Call) or draft.api(call) != "tf.unique" or spreads(call):
        return None
    tf, line = draft.tensorflow, draft.statement(call)
    if len(call.args) != 1 or tf is None or not isinstance(line, cst.SimpleStatementLine):
        return None
    values = call.args[0].value
    known = draft.value(values)
    if known.is_data_sized or known.is_composite or known.dtype not in {None, *_WHOLE, *_FLOATS}:
        return None
    counts = _counts(draft, call)
    if not counts or len(line.body) != 1:
        return None
    ordered = draft.fresh("ordered")
    made = f"{ordered} = {tf}.sort({draft.code(values)})"
    changes = f"{tf}.reduce_sum({tf}.cast({ordered}[1:] != {ordered}[:-1], {tf}.int32))"
    is_filled = bool(known.shape and known.shape[0])
    first = "1" if is_filled else f"{tf}.minimum({tf}.size({ordered}), 1)"
    total = f"{first} + {changes}"
    edits = [
        replace(draft, count, total if _stands_alone(draft, count) else f"({total})")
        for count in counts
    ]
    assignment = draft.parent(draft.parent(call) or call)
    unpacked = draft.parent(call)
    if isinstance(unpacked, cst.Assign):
        edits.append(replace(draft, unpacked, made))
    elif isinstance(assignment, cst.Assign) and counts[0] is not assignment.value:
        edits.append(replace(draft, assignment, made))
    elif _is_elsewhere(draft, call) or _calls_others(draft, values):
        return None
    else:
        edits.append(insert_before(draft, line, (made,)))
    doubts = []
    if known.dtype not in _WHOLE:
        doubts.append("a NaN among the values may be counted more than once outside XLA")
        if known.dtype in (None, "float16", "bfloat16"):
            doubts.append("0 and -0 of half precision count as one")
    if rank_of(draft, values) != Rank(None, 1):
        doubts.append(
            f"`{draft.code(values)}` is taken for a vector, of anything else the original raises an error"
        )
    message = "Sort the values, and count where one differs from the one before it"
    return fix(UNSAFE if doubts else SAFE, "; ".join((message, *doubts)), *edits)


def _stands_alone(draft: Draft, node: cst.BaseExpression) -> bool:
    return bool(node.lpar) or isinstance(draft.parent(node), (cst.Return, cst.Assign, cst.Arg))


def _is_elsewhere(draft: Draft, call: cst.Call) -> bool:
    """Whether the statement that the call is in may not run it, or more than once."""
    for above in draft.ancestors(call):
        if isinstance(above, _ELSEWHERE):
            return True
        if isinstance(above, cst.SimpleStatementLine):
            return False
    return True


def _calls_others(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether something other than TensorFlow runs in an expression, which may have to run in its turn."""
    calls = (n for n in draft.within(node) if isinstance(n, cst.Call))
    return any(not (draft.api(call) or "").startswith("tf.") for call in calls)


def _counts(draft: Draft, call: cst.Call) -> list[cst.BaseExpression]:
    """The expressions that count the different values; empty where anything else is done with them."""
    above = draft.parent(call)
    if isinstance(above, cst.Assign):
        return _counts_of_pair(draft, above)
    is_first = isinstance(above, cst.Subscript) and draft.code(above).endswith("[0]")
    is_named = isinstance(above, cst.Attribute) and above.attr.value == "y"
    if not (is_first or is_named):
        return []
    assert isinstance(above, (cst.Subscript, cst.Attribute))
    return _uses(draft, above)


def _uses(draft: Draft, values: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What counts the values, where they are used or where the name is that they are given."""
    count = count_of(draft, values)
    if count is not None:
        return [count]
    above = draft.parent(values)
    if isinstance(above, cst.Assign) and len(above.targets) == 1:
        target = above.targets[0].target
        if isinstance(target, cst.Name):
            return counts_of(draft, above, target.value)
    return []


def _counts_of_pair(draft: Draft, assignment: cst.Assign) -> list[cst.BaseExpression]:
    """`values, index = tf.unique(x)` with an index that nobody reads."""
    target = assignment.targets[0].target
    if len(assignment.targets) > 1 or not isinstance(target, cst.Tuple):
        return []
    names = [e.value.value for e in target.elements if isinstance(e.value, cst.Name)]
    if len(target.elements) != 2 or len(set(names)) != 2:
        return []
    return (
        [] if reads(draft, assignment, names[1]) != [] else counts_of(draft, assignment, names[0])
    )
