"""A rectangle of zeros in a frame of ones, its place from data: made by comparing rows and columns, not by padding.

`tf.pad(tf.zeros([h - (top + bottom), w - (left + right)]), [[top, bottom], [left, right]], constant_values=1)`, as cutout and
random erasing are written, needs sizes that XLA does not have; the whole has a size that it has.
"""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.bindings import is_read, origin, reads, simple_target
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, insert_before, receiver, replace
from xlalint.semantics.values import FROM_SHAPE

MENDS = ("XLA203",)
ORDER = 30
_INSIDE = {"tf.zeros": "0", "tf.ones": "1"}
_AXES = {1: ("places",), 2: ("rows", "columns"), 3: ("planes", "rows", "columns")}


class _Axis(NamedTuple):
    """One dimension: the whole of its size, and how much of it lies before and behind the rectangle."""

    size: cst.BaseExpression
    before: cst.BaseExpression
    behind: cst.BaseExpression
    is_cut: bool


def propose(site: Site) -> Fix | None:
    """Compare the places along each axis with the pads."""
    draft, tf = site.draft, site.draft.tensorflow
    pad = _pad(draft, site.node)
    statement = None if pad is None else draft.parent(draft.parent(pad) or pad)
    if pad is None or tf is None or not isinstance(statement, cst.SimpleStatementLine):
        return None
    made, named = pad.args[0].value, _named(draft, pad.args[0].value)
    made = made if named is None else named[0].value
    if len(statement.body) != 1 or not isinstance(made, cst.Call) or spreads(made):
        return None
    axes, lists = _axes(draft, made, pad)
    names = _AXES.get(sum(axis.is_cut for axis in axes))
    text = None if names is None else _filled(draft, made, pad, draft.fresh("is_inside"))
    if names is None or text is None:
        return None
    lines, terms = [], []
    fresh = iter(draft.fresh(name) for name in names)
    for index, axis in enumerate(axes):
        if not axis.is_cut:
            continue
        name = next(fresh)
        behind = len(axes) - index - 1
        ahead = f"[:, {', '.join([f'{tf}.newaxis'] * behind)}]" if behind else ""
        lines.append(f"{name} = {tf}.range({draft.code(axis.size)}){ahead}")
        terms.append(f"({name} >= {draft.code(axis.before)})")
        is_number = isinstance(axis.behind, cst.Integer)
        behind_it = draft.code(axis.behind) if is_number else receiver(draft, axis.behind)
        last = _last(draft, axis) or f"{draft.code(axis.size)} - {behind_it}"
        terms.append(f"({name} < {last})")
    for index in range(0, len(terms), 2):
        pair = " & ".join(terms[index : index + 2])
        lines.append(
            f"{draft.fresh('is_inside')} = {pair}"
            if index == 0
            else f"{draft.fresh('is_inside')} &= {pair}"
        )
    if not all(axis.is_cut for axis in axes):
        text = f"{tf}.broadcast_to({text}, [{', '.join(draft.code(a.size) for a in axes)}])"
    lists += [named] if named is not None else []
    gone = [edit for each in lists for edit in _without(draft, each)]
    return fix(
        UNSAFE,
        "Compare places with the pads, at full size; pads that are negative, or together more than the size, raised an error",
        insert_before(draft, statement, lines),
        replace(draft, pad, text),
        *gone,
    )


def _named(draft: Draft, node: cst.BaseExpression) -> tuple[cst.Assign, cst.Name] | None:
    """The assignment that a name has its value from, which nothing else reads."""
    assignment = _assigned(draft, node)
    is_only = assignment is not None and isinstance(node, cst.Name)
    if not is_only or reads(draft, assignment, node.value) != [node]:  # type: ignore[arg-type, attr-defined]
        return None
    return assignment, node  # type: ignore[return-value]


def _last(draft: Draft, axis: _Axis) -> str | None:
    """Where the rectangle ends, where its own size is written: `top + size` of `h - top - size`."""
    rest = _difference(axis.behind)
    if rest is None or not isinstance(axis.behind, cst.BinaryOperation):
        return None
    inner = _difference(rest[0])
    if inner is None or draft.code(inner[0]) != draft.code(axis.size):
        return None
    return f"{draft.code(inner[1])} + {receiver(draft, rest[1])}"


def _pad(draft: Draft, node: cst.CSTNode) -> cst.Call | None:
    """The `tf.pad` of zeros that a flagged size or pad is for."""
    for above in (node, *list(draft.ancestors(node))[:4]):
        if isinstance(above, cst.Call) and draft.api(above) in _INSIDE:
            assignment = draft.parent(above)
            name = simple_target(assignment) if isinstance(assignment, cst.Assign) else None
            if name is not None and isinstance(assignment, cst.Assign):
                uses = reads(draft, assignment, name) or ()
                return next((p for use in uses if (p := _pad(draft, use)) is not None), None)
        if isinstance(above, cst.Call) and draft.api(above) == "tf.pad" and len(above.args) >= 2:
            mode = argument(above, "mode", 2)
            is_constant = mode is None or draft.code(mode.value).strip("\"'").upper() == "CONSTANT"
            is_assigned = isinstance(draft.parent(above), cst.Assign)
            return above if is_constant and is_assigned and not spreads(above) else None
    return None


def _axes(
    draft: Draft, made: cst.Call, pad: cst.Call
) -> tuple[list[_Axis], list[tuple[cst.Assign, cst.Name]]]:
    """The dimensions, and the assignments of lists that nothing else reads; nothing where sizes and pads do not go together."""
    shape, pads = argument(made, "shape", 0), argument(pad, "paddings", 1)
    if shape is None or pads is None:
        return [], []
    sizes, pairs = _list(draft, shape.value), _list(draft, pads.value)
    if not sizes or len(sizes) != len(pairs):
        return [], []
    axes = []
    for size, pair in zip(sizes, pairs):
        both = _list(draft, pair)
        axis = _axis(draft, size, *both) if len(both) == 2 else None
        if axis is None or not _is_known(draft, axis, size, pad):
            return [], []
        axes.append(axis)
    lists = [(_assigned(draft, g.value), g.value) for g in (shape, pads)]
    return axes, [(a, n) for a, n in lists if a is not None and isinstance(n, cst.Name)]


def _list(draft: Draft, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The elements of a list that is written out, there or where a name has it from."""
    assignment = _assigned(draft, node)
    written = node if assignment is None else assignment.value
    if not isinstance(written, (cst.List, cst.Tuple)):
        return []
    return [element.value for element in written.elements]


def _assigned(draft: Draft, node: cst.BaseExpression) -> cst.Assign | None:
    found = origin(draft, node.value, node) if isinstance(node, cst.Name) else None
    made = None if found is None else found.node
    return made if isinstance(made, cst.Assign) and simple_target(made) else None


def _axis(
    draft: Draft, size: cst.BaseExpression, before: cst.BaseExpression, behind: cst.BaseExpression
) -> _Axis | None:
    """`n - (before + behind)` or `n - before - behind`; or any size, and no pads."""
    words = ["".join(draft.code(node).split()) for node in (before, behind)]
    if words == ["0", "0"]:
        return _Axis(size, before, behind, False)
    rest = _difference(behind)
    if rest is not None and isinstance(rest[0], cst.BinaryOperation):
        # The size is drawn, and what is behind it is the rest: `h - top - size`.
        inner = _difference(rest[0])
        known = [inner[1], rest[1]] if inner is not None else []
        taken = sorted("".join(draft.code(n).split()) for n in known)
        if inner is not None and taken == sorted([words[0], "".join(draft.code(size).split())]):
            return _Axis(inner[0], before, behind, True)
    if not isinstance(size, cst.BinaryOperation) or not isinstance(size.operator, cst.Subtract):
        return None
    left, right = size.left, size.right
    if isinstance(right, cst.BinaryOperation) and isinstance(right.operator, cst.Add):
        whole, parts = left, [right.left, right.right]
    elif isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Subtract):
        whole, parts = left.left, [left.right, right]
    else:
        return None
    found = ["".join(draft.code(node).split()) for node in parts]
    return _Axis(whole, before, behind, True) if sorted(found) == sorted(words) else None


def _difference(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    is_one = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Subtract)
    return (node.left, node.right) if is_one else None  # type: ignore[attr-defined]


def _is_known(draft: Draft, axis: _Axis, rest: cst.CSTNode, at: cst.CSTNode) -> bool:
    """Whether the whole size is known when XLA compiles, and all names still mean the same where the rectangle is made."""
    value = draft.value(axis.size)
    if value.dependence > FROM_SHAPE or value.dtype not in (None, "int32"):
        return False
    if any(draft.value(n).dtype not in (None, "int32") for n in (axis.before, axis.behind)):
        return False
    return all(
        origin(draft, name.value, name) is not None
        and origin(draft, name.value, name) == origin(draft, name.value, at)
        for node in (axis.before, axis.behind, rest)
        for name in draft.within(node)
        if isinstance(name, cst.Name) and is_read(draft, name)
    )


def _filled(draft: Draft, made: cst.Call, pad: cst.Call, name: str) -> str | None:
    """The rectangle of one number in a frame of another, of the dtype that it had."""
    tf, dtype = draft.tensorflow, argument(made, "dtype", 1)
    inside = _INSIDE.get(draft.api(made) or "")
    given = argument(pad, "constant_values", 3)
    outside = "0" if given is None else draft.code(given.value)
    kind = f"{tf}.float32" if dtype is None else draft.code(dtype.value)
    if len(made.args) != 1 + (dtype is not None) or inside is None:
        return None
    is_bool = draft.value(made).dtype == "bool"
    if is_bool and outside in ("True", "False"):
        outside = str(int(outside == "True"))
    outside = "1" if outside == "1.0" else "0" if outside == "0.0" else outside
    if (inside, outside) not in (("0", "1"), ("1", "0")):
        return None
    truth = f"~{name}" if inside == "0" else name
    return truth if is_bool else f"{tf}.cast({truth}, {kind})"


def _without(draft: Draft, made: tuple[cst.Assign, cst.Name]) -> list[Edit]:
    """Take the assignment of a list out that is read nowhere else, unless a comment is in it."""
    assignment, name = made
    line = draft.parent(assignment)
    if reads(draft, assignment, name.value) != [name] or not isinstance(
        line, cst.SimpleStatementLine
    ):
        return []
    span = draft.span(line)
    lines = [draft.line(n) for n in range(span.line, span.end_line + 1)]
    if any("#" in text for text in lines) or len(line.body) != 1 or len(draft.block(line)) < 2:
        return []
    return [Edit(Span(span.line, 1, span.end_line + 1, 1), "")]
