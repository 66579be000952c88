"""XLA304: the sizes of a signature written out, where every call in the file has the same."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import DISPLAY, UNSAFE, Site, fix, replace

MENDS = ("XLA304",)

_SPEC = "tf.TensorSpec"


def propose(site: Site) -> Fix | None:
    """Write the sizes that are passed; show which have to be written where that is not known."""
    draft, call = site.draft, site.node
    if not isinstance(call, cst.Call) or spreads(call):
        return None
    given = argument(call, "shape", 0)
    if given is None or not isinstance(given.value, (cst.List, cst.Tuple)):
        return None
    sizes = [element.value for element in given.value.elements]
    passed = _passed(draft, call) if draft.api(call) == _SPEC else None
    if passed is not None and len(passed) == len(sizes):
        edits = _written(draft, sizes, [str(size) for size in passed])
        return fix(
            UNSAFE,
            "Write the sizes that every call in this file has; a call with others, from elsewhere, raises then",
            *edits,
        )
    names = [
        "BATCH_SIZE" if n == 0 and draft.api(call) == _SPEC and len(sizes) > 1 else "LENGTH"
        for n in range(len(sizes))
    ]
    return fix(
        DISPLAY,
        "Write the sizes out, if all batches are of one",
        *_written(draft, sizes, names),
    )


def _written(draft: Draft, sizes: list[cst.BaseExpression], values: list[str]) -> list[Edit]:
    return [
        replace(draft, size, value)
        for size, value in zip(sizes, values)
        if isinstance(size, cst.Name) and size.value == "None"
    ]


def _passed(draft: Draft, spec: cst.Call) -> tuple[int, ...] | None:
    """The static shape that all calls in the file give for the parameter of a signature; None where they differ, or there are none."""
    found = _parameter(draft, spec)
    if found is None:
        return None
    function, place = found
    own, *_ = [p.name.value for p in function.params.params[place : place + 1]] or [""]
    shapes: set[tuple[int | None, ...] | None] = set()
    for node in draft.within(draft.module):
        if not isinstance(node, cst.Call) or not _calls(node, function.name.value):
            continue
        is_method = isinstance(node.func, cst.Attribute)
        given = argument(node, own, place - (1 if is_method and _is_method(draft, function) else 0))
        shapes.add(None if given is None else draft.value(given.value).shape)
    if len(shapes) != 1:
        return None
    [shape] = shapes
    if shape is None or any(size is None for size in shape):
        return None
    return tuple(size for size in shape if size is not None)


def _calls(node: cst.Call, name: str) -> bool:
    func = node.func
    if isinstance(func, cst.Attribute):
        return func.attr.value == name
    return isinstance(func, cst.Name) and func.value == name


def _is_method(draft: Draft, function: cst.FunctionDef) -> bool:
    block = draft.parent(function)
    return block is not None and isinstance(draft.parent(block), cst.ClassDef)


def _parameter(draft: Draft, spec: cst.Call) -> tuple[cst.FunctionDef, int] | None:
    """The function that a spec is for, and the place of its parameter, `self` counted."""
    element = draft.parent(spec)
    signature = None if element is None else draft.parent(element)
    decorator = next((a for a in draft.ancestors(spec) if isinstance(a, cst.Decorator)), None)
    function = None if decorator is None else draft.parent(decorator)
    if not isinstance(signature, (cst.List, cst.Tuple)) or not isinstance(
        function, cst.FunctionDef
    ):
        return None
    place = next(n for n, each in enumerate(signature.elements) if each is element)
    return function, place + _is_method(draft, function)
