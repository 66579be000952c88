"""XLA408: the row first, then the part of it: in one subscript XLA takes the part from elsewhere, or refuses its steps."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.site import SAFE, Site, fix, receiver, replace
from xlalint.semantics.values import CONSTANT

MENDS = ("XLA408",)

_VARIANTS = ("moved-slice", "refused-steps")


def propose(site: Site) -> Fix | None:
    """`x[i, 2:]` to `x[i][2:]`, `x[1:, i]` to `x[:, i][1:]`.

    Every part that is no slice is a scalar there: TensorFlow packs it beside the slices' bounds, which are scalars.
    """
    node, draft = site.node, site.draft
    if site.finding.variant not in _VARIANTS or not isinstance(node, cst.Subscript):
        return None
    parts = [element.slice for element in node.slice]
    slices = [part for part in parts if isinstance(part, cst.Slice)]
    indices = [part.value for part in parts if isinstance(part, cst.Index) and not part.star]
    if len(slices) + len(indices) != len(parts) or not indices:
        return None
    if any(_is_unclear(each) for each in indices):
        return None
    if any(draft.value(bound).dependence > CONSTANT for bound in _bounds(slices)):
        return None  # which of two such parts comes first is another question
    rows = [":" if isinstance(part, cst.Slice) else draft.code(part) for part in parts]
    while rows[-1] == ":":
        rows.pop()
    taken = [draft.code(part) for part in slices]
    while taken[-1].strip() == ":":
        taken.pop()
    code = f"{receiver(draft, node.value)}[{', '.join(rows)}][{', '.join(taken)}]"
    return fix(SAFE, "Take one after the other", replace(draft, node, code))


def _bounds(slices: list[cst.Slice]) -> Iterator[cst.BaseExpression]:
    for part in slices:
        yield from (each for each in (part.lower, part.upper, part.step) if each is not None)


def _is_unclear(index: cst.BaseExpression) -> bool:
    """Whether a part may be a new axis, or stand for several: only names, numbers and sums of them are taken for an index."""
    if isinstance(index, (cst.Ellipsis, cst.Attribute)):
        return True
    return isinstance(index, cst.Name) and index.value == "None"
