"""Non-maximum suppression with as many boxes as may be kept, and the number that are."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.bindings import simple_target
from xlalint.fixes.calls import argument, spreads, with_argument
from xlalint.fixes.counting import counts_of
from xlalint.fixes.site import DISPLAY, UNSAFE, Site, fix, replace

MENDS = ("XLA202",)
ORDER = 60
_WRITTEN = "tf.image.non_max_suppression"
_DOUBT = "boxes with corners in the other order (y2 before y1), and scores that are NaN, may be kept where they were not"


def propose(site: Site) -> Fix | None:
    """Ask for the number that are kept, where nothing else is read; else show what there is to leave out."""
    draft, call = site.draft, site.node
    if not isinstance(call, cst.Call) or draft.api(call) != _WRITTEN or spreads(call):
        return None
    assignment = draft.parent(call)
    name = simple_target(assignment) if assignment is not None else None
    # A sixth argument is the name here, and something else there.
    if name is None or len([a for a in call.args if a.keyword is None]) > 5:
        return None
    limit = argument(call, "max_output_size", 2)
    boxes = argument(call, "boxes", 0)
    if not isinstance(assignment, cst.Assign) or limit is None or boxes is None:
        return None
    if draft.value(boxes.value).is_data_sized:
        return None  # XLA compares all boxes there are, and refuses those that a mask has left (XLA204)
    target, tensorflow, method = assignment.targets[0].target, draft.tensorflow, call.func
    if tensorflow is None or not isinstance(method, cst.Attribute):
        return None
    number = draft.fresh("num_kept")
    padded = (
        replace(draft, method.attr, "non_max_suppression_padded"),
        with_argument(draft, call, "pad_to_max_output_size=True"),
    )
    counts = counts_of(draft, assignment, name)
    if counts:
        asked = [replace(draft, count, number) for count in counts]
        named = replace(draft, target, f"_, {number}")
        return fix(UNSAFE, f"Ask how many boxes are kept; {_DOUBT}", named, *padded, *asked)
    size = draft.code(limit.value)
    return fix(
        DISPLAY,
        f"Keep `{size}` boxes: leave out of what follows where `{tensorflow}.range({size}) < {number}` is false; {_DOUBT}",
        replace(draft, target, f"{name}, {number}"),
        *padded,
    )
