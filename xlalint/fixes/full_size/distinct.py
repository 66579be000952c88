"""The different values of a vector as the first of each run of the sorted one: `tf.unique` and `tf.unique_with_counts`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.fixes.bindings import origin, reads, simple_target
from xlalint.fixes.calls import spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.masks import VALUES, Kept, Mask
from xlalint.fixes.ranks import Rank, rank_of

_OUTPUTS = {"tf.unique": 2, "tf.unique_with_counts": 3}
# What can be sorted and searched; NaN, which floats may hold, is never equal to itself.
_WHOLE = frozenset({"int32", "int64"})


def distinct(draft: Draft, node: cst.CSTNode) -> Kept | None:
    """What a name holds that is unpacked of `tf.unique`, or `tf.unique(ids)[0]` and `.y` that are given a name."""
    if isinstance(node, cst.Name):
        found = origin(draft, node.value, node)
        if found is None or not isinstance(found.node, cst.Assign):
            return None
        names = unpacked(draft, found.node)
        return _kept(draft, found.node.value) if names and node.value in _values(names) else None
    is_first = isinstance(node, cst.Subscript) and draft.code(node).endswith(")[0]")
    is_named = isinstance(node, cst.Attribute) and node.attr.value == "y"
    if not (is_first or is_named) or simple_target(draft.parent(node) or node) is None:
        return None
    found_here = _kept(draft, node.value)  # type: ignore[attr-defined]
    if found_here is None:
        return None
    mask, doubt = found_here.mask, found_here.doubt
    return Kept(VALUES, mask, 0, is_source=True, text=draft.code(node), doubt=doubt)


def unpacked(draft: Draft, assignment: cst.CSTNode) -> list[str]:
    """The names in `values, index = tf.unique(ids)`; none for another assignment."""
    if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1:
        return []
    target, call = assignment.targets[0].target, assignment.value
    if not isinstance(target, cst.Tuple) or not isinstance(call, cst.Call):
        return []
    names = [e.value.value for e in target.elements if isinstance(e.value, cst.Name)]
    is_all = len(names) == len(target.elements) == _OUTPUTS.get(draft.api(call) or "")
    known = [name for name in names if name != "_"]
    return names if is_all and len(set(known)) == len(known) else []


def _values(names: list[str]) -> list[str]:
    """The names of the values and of how often they occur, not that of the index."""
    return [name for place, name in enumerate(names) if place != 1]


def is_count(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a name holds how often the values occur: numbers of 32 bits."""
    found = origin(draft, node.value, node) if isinstance(node, cst.Name) else None
    names = unpacked(draft, found.node) if found is not None and found.node is not None else []
    return len(names) == 3 and isinstance(node, cst.Name) and names[2] == node.value


def reads_of(draft: Draft, assignment: cst.Assign) -> list[cst.Name] | None:
    """What reads the values or the counts; None where the index is read, whose numbers would be others."""
    found: list[cst.Name] = []
    for place, name in enumerate(unpacked(draft, assignment)):
        known = reads(draft, assignment, name) if name != "_" else []
        if known is None or (place == 1 and known):
            return None
        found += known
    return found


def _kept(draft: Draft, call: cst.BaseExpression) -> Kept | None:
    if not isinstance(call, cst.Call) or draft.api(call) not in _OUTPUTS or spreads(call):
        return None
    if len(call.args) != 1 or call.args[0].keyword is not None:
        return None
    ids = call.args[0].value
    known, words = draft.value(ids), draft.code(ids)
    if known.is_data_sized or known.is_composite or known.dtype not in {None, *_WHOLE}:
        return None
    doubts = []
    if known.dtype is None:
        doubts.append(f"`{words}` is taken to hold whole numbers.")
    if rank_of(draft, ids) != Rank(None, 1):
        doubts.append(
            f"`{words}` is taken for a vector, of anything else the original raises an error."
        )
    mask = Mask(("distinct", id(call)), ids, Rank(None, 1), made_by=call)
    return Kept(VALUES, mask, 0, doubt=" ".join(doubts) or None)


def is_distinct(draft: Draft, mask: Mask) -> bool:
    """Whether a mask says which of sorted values are the first of their kind."""
    return mask.made_by is not None and draft.api(mask.made_by) in _OUTPUTS


def sorted_values(draft: Draft, mask: Mask) -> str:
    """The code of the values, each as often as it occurs."""
    return f"{draft.tensorflow}.sort({draft.code(mask.node)})"


def first_of_each(draft: Draft, mask: Mask, values: str) -> str:
    """The code of the mask, given the name of the sorted values."""
    tf, known = draft.tensorflow, draft.value(mask.node)
    is_filled = bool(known.shape and known.shape[0])
    first = "[True]" if is_filled else f"{tf}.ones_like({values}[:1], {tf}.bool)"
    return f"{tf}.concat([{first}, {values}[1:] != {values}[:-1]], axis=0)"


def lines_for(
    draft: Draft, assignment: cst.Assign, mask: Mask, values: str, name: str
) -> Iterator[str]:
    """What takes the place of `values, index, counts = tf.unique_with_counts(ids)`; `values` and `name` are names to use."""
    tf, names = draft.tensorflow, unpacked(draft, assignment)
    yield f"{values} = {sorted_values(draft, mask)}"
    yield f"{name} = {first_of_each(draft, mask, values)}"
    if len(names) == 3 and names[2] != "_" and reads(draft, assignment, names[2]):
        last = f'{tf}.searchsorted({values}, {values}, side="right")'
        yield f"{names[2]} = {last} - {tf}.range({tf}.size({values}))"
