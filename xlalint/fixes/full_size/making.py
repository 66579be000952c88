"""Tensors of full size that are made together with the mask that says what of them counts: sorted values, suppressed boxes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.finding import Edit
from xlalint.fixes.bindings import simple_target
from xlalint.fixes.calls import with_argument
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.distinct import (
    first_of_each,
    is_distinct,
    lines_for,
    sorted_values,
    unpacked,
)
from xlalint.fixes.full_size.flow import COUNT
from xlalint.fixes.full_size.masks import Mask
from xlalint.fixes.full_size.rewriting import Rewriting
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.fixes.site import insert_behind, replace


def summary(rewriting: Rewriting) -> str:
    """What is done, by what keeps elements here."""
    known = [rewriting.reader.kept(source) for source in rewriting.group.sources]
    masks = [kept.mask for kept in known if kept is not None]
    if any(is_distinct(rewriting.draft, mask) for mask in masks):
        return "Sort the values, and count the first of each run only."
    if any(mask.made_by is not None for mask in masks):
        return "Ask for a fixed number of boxes and how many of them count, and leave out the rest."
    if any(kept is not None and kept.text is not None for kept in known):
        return "Compute on the largest size, and leave out what is beyond the number."
    return "Compute on tensors of full size, and leave out what the mask drops."


def with_mask(rewriting: Rewriting, source: cst.BaseExpression) -> Iterator[Edit]:
    """Make a tensor of full size where a mask has to be made with it, and name the mask."""
    known = rewriting.reader.kept(source)
    call = None if known is None else known.mask.made_by
    if known is None or call is None or known.mask.key in rewriting.mask_names:
        return
    if all(end.how == COUNT for end in rewriting.group.ends):
        raise UnfitError  # there is a shorter way
    assignment = next(
        (a for a in rewriting.draft.ancestors(call) if isinstance(a, cst.Assign)), None
    )
    if assignment is None:
        raise UnfitError
    if is_distinct(rewriting.draft, known.mask):
        yield from _sort(rewriting, assignment, known.mask)
    else:
        yield from _suppress(rewriting, assignment, call, known.mask)


def line_of(draft: Draft, assignment: cst.Assign) -> cst.SimpleStatementLine:
    """The statement of an assignment that stands alone on it.

    Raises:
        UnfitError: others stand beside it.
    """
    line = draft.parent(assignment)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        raise UnfitError
    return line


def _sort(rewriting: Rewriting, assignment: cst.Assign, mask: Mask) -> Iterator[Edit]:
    """Sort what the different values are asked of, and name the first of each."""
    line = line_of(rewriting.draft, assignment)
    name = rewriting.mask_names[mask.key] = rewriting.fresh("is_first", set())
    rewriting.made.add(mask.key)
    names = unpacked(rewriting.draft, assignment)
    if names:
        values = names[0] if names[0] != "_" else rewriting.fresh("ordered", set())
        first, *others = lines_for(rewriting.draft, assignment, mask, values, name)
        yield replace(rewriting.draft, assignment, first)
        yield insert_behind(rewriting.draft, line, *others)
        return
    values = simple_target(assignment) or ""
    yield replace(rewriting.draft, assignment.value, sorted_values(rewriting.draft, mask))
    first_ones = first_of_each(rewriting.draft, mask, values)
    yield insert_behind(rewriting.draft, line, f"{name} = {first_ones}")


def _suppress(
    rewriting: Rewriting, assignment: cst.Assign, call: cst.Call, mask: Mask
) -> Iterator[Edit]:
    """Ask suppression for a fixed number of boxes and for how many of them count; name which do on the next line."""
    if not isinstance(call.func, cst.Attribute):
        raise UnfitError
    line = line_of(rewriting.draft, assignment)
    number, name = rewriting.fresh("num_kept", set()), rewriting.fresh("is_kept", set())
    rewriting.numbers[mask.key], rewriting.mask_names[mask.key] = number, name
    rewriting.made.add(mask.key)
    target = assignment.targets[0].target
    yield replace(rewriting.draft, target, f"{rewriting.draft.code(target)}, {number}")
    yield replace(rewriting.draft, call.func.attr, "non_max_suppression_padded")
    yield with_argument(rewriting.draft, call, "pad_to_max_output_size=True")
    size = rewriting.draft.code(mask.node)
    yield insert_behind(rewriting.draft, line, f"{name} = {rewriting.tf}.range({size}) < {number}")
