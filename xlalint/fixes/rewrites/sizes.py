"""A size taken from data becomes that of the tensor which the result is combined with, or a number to be filled in."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.bindings import origin, reads, simple_target
from xlalint.fixes.calls import argument, spreads, with_argument, with_value
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import DISPLAY, UNSAFE, Site, fix, replace
from xlalint.fixes.widths import Width, combined_with

MENDS = ("XLA203",)


class _Size(NamedTuple):
    """The parameter of an operation that says how wide its result is, its place, and what to call the number in a template."""

    parameter: str
    position: int
    template: str


_RANGE = "tf.range"
_WIDTHS = {
    "tf.sequence_mask": _Size("maxlen", 1, "LONGEST"),
    "tf.one_hot": _Size("depth", 1, "NUM_CLASSES"),
    # Places along an axis, compared with lengths: a mask by hand.
    _RANGE: _Size("limit", 0, ""),
}
# Their results are combined with others in too many ways to follow.
_NUMBERS = {
    "tf.math.confusion_matrix": _Size("num_classes", 2, "NUM_CLASSES"),
    **{
        f"tf.math.unsorted_segment_{name}": _Size("num_segments", 2, "NUM_SEGMENTS")
        for name in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
}


_COMPARISONS = frozenset(
    f"tf{module}.{name}"
    for module in ("", ".math")
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
)


def propose(site: Site) -> Fix | None:
    """Give the operation the size of what its result has to fit; show a number to be written where that is not known."""
    draft, call = site.draft, _call(site)
    if call is None or spreads(call):
        return None
    api = draft.api(call) or ""
    size = _WIDTHS.get(api) or _NUMBERS.get(api)
    if size is None or not _is_about(site, call, size):
        return None
    tensorflow = draft.tensorflow
    if api in _WIDTHS and tensorflow is not None and _is_last(draft, call):
        best = _of_all(list(combined_with(draft, call)))
        if best is not None:
            dtype = draft.value(call).dtype if api == _RANGE else None
            edit = _edit(draft, call, size, best, best.code(tensorflow, dtype or "int32"))
            return fix(UNSAFE, _message(size, best, api == _RANGE and dtype is None), edit)
    if api == _RANGE:
        return None
    edit = _given(draft, call, size, size.template)
    return fix(DISPLAY, f"Write the largest `{size.parameter}` that the data may need", edit)


def _of_all(widths: list[Width]) -> Width | None:
    """The width that all have. A known size is more than 1, and so that of the result; of several unknown ones each may be 1."""
    known = [width for width in widths if width.size is not None]
    if known:
        return known[0]
    return widths[0] if len({width.name for width in widths}) == 1 else None


def _is_last(draft: Draft, call: cst.Call) -> bool:
    """Whether the size is that of the last dimension, of whole numbers compared with whole numbers."""
    if draft.api(call) == _RANGE:
        return len(call.args) == 1 and call.args[0].keyword is None and _is_compared(draft, call)
    axis = argument(call, "axis", 4)
    is_whole = not (draft.value(call.args[0].value).dtype or "int").startswith(("float", "bfloat"))
    return is_whole and (axis is None or draft.code(axis.value) == "-1")


def _is_compared(draft: Draft, call: cst.Call) -> bool:
    """Whether the numbers, or the name that they are given, are compared: elsewhere they count, and how many there are does."""
    above = draft.parent(call)
    name = simple_target(above) if isinstance(above, cst.Assign) else None
    uses: list[cst.CSTNode] = [call]
    if name is not None and isinstance(above, cst.Assign):
        uses = list(reads(draft, above, name) or ())
    return bool(uses) and all(_meets_comparison(draft, use) for use in uses)


def _meets_comparison(draft: Draft, node: cst.CSTNode) -> bool:
    for above in draft.ancestors(node):
        if isinstance(above, (cst.Comparison, cst.ComparisonTarget)):
            return True
        is_call = isinstance(above, cst.Call) and draft.api(above) == "tf.expand_dims"
        if not (is_call or isinstance(above, (cst.Subscript, cst.Arg))):
            return isinstance(above, cst.Call) and draft.api(above) in _COMPARISONS
    return False


def _call(site: Site) -> cst.Call | None:
    """The operation that a finding is about: what was flagged is one of its arguments, or all of it."""
    for node in (site.node, *list(site.draft.ancestors(site.node))[:2]):
        if isinstance(node, cst.Call) and (site.draft.api(node) in {*_WIDTHS, *_NUMBERS}):
            return node
    return None


def _is_about(site: Site, call: cst.Call, size: _Size) -> bool:
    """Whether it is this size that comes from data: written out, or left to the operation."""
    given = argument(call, size.parameter, size.position)
    if given is not None and site.draft.code(given.value) != "None":
        return given.value is site.node
    return site.node is call or any(a.value is site.node for a in call.args[: size.position])


def _message(size: _Size, width: Width, is_any_int: bool) -> str:
    assumed = "; the numbers are taken to be of int32" if is_any_int else ""
    doubt = "where the size from the data is another one, the original raised an error"
    one = "a size of 1" if width.size else "a size of 1, on either side,"
    return (
        f"Take `{size.parameter}` from `{width.name}`, which the result is combined with; {doubt}, "
        f"or repeated {one} along that dimension{assumed}"
    )


def _edit(draft: Draft, call: cst.Call, size: _Size, width: Width, code: str) -> Edit:
    """Change the assignment of the size where it is for this call alone, else the argument."""
    given = argument(call, size.parameter, size.position)
    if given is not None and isinstance(given.value, cst.Name):
        name = given.value.value
        found = origin(draft, name, call)
        made = None if found is None else found.node
        if isinstance(made, cst.Assign) and simple_target(made) and found and found.is_sure:
            is_there = origin(draft, width.name, made) == origin(draft, width.name, call)
            own = reads(draft, made, name)
            if is_there and own is not None and len(own) == 1 and own[0] is given.value:
                return replace(draft, made.value, code)
    return _given(draft, call, size, code)


def _given(draft: Draft, call: cst.Call, size: _Size, code: str) -> Edit:
    given = argument(call, size.parameter, size.position)
    if given is not None:
        return with_value(draft, given, code)
    return with_argument(draft, call, f"{size.parameter}={code}")
