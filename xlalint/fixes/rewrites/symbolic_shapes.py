"""XLA504: shapes of Keras 3's symbolic tensors are tuples: `list(x.shape)` for `x.shape.as_list()`, which it is in Keras 2, too."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.site import SAFE, Site, fix, replace
from xlalint.semantics.facts import RENAMED
from xlalint.semantics.symbolic import MARK

MENDS = ("XLA504",)

_CALLED = {"as_list": "list"}
_READ = {"rank": "len", "ndims": "len"}


def propose(site: Site) -> Fix | None:
    """`x.get_shape()`, `.as_list()`, `.rank` and `.ndims` of a symbolic tensor or of its shape."""
    node = site.node
    is_symbolic = any(fact.kind == RENAMED and fact.value.given == MARK for fact in site.facts)
    if not is_symbolic or not isinstance(node, cst.Attribute):
        return None
    if node.attr.value != "get_shape":
        return _mended(site, node, site.draft.code(node.value))
    asked = _without_arguments(site, node)
    if asked is None:
        return None
    shape = f"{site.draft.code(node.value)}.shape"
    above = site.draft.parent(asked)
    if isinstance(above, cst.Attribute) and above.value is asked:
        return _mended(site, above, shape)
    return fix(SAFE, f"`{shape}` is the shape", replace(site.draft, asked, shape))


def _mended(site: Site, node: cst.Attribute, shape: str) -> Fix | None:
    """What is asked of a shape, asked of a tuple."""
    name = node.attr.value
    asked = _without_arguments(site, node) if name in _CALLED else node
    by = _CALLED.get(name) or _READ.get(name)
    if asked is None or by is None:
        return None
    return fix(SAFE, "The shape is a tuple", replace(site.draft, asked, f"{by}({shape})"))


def _without_arguments(site: Site, node: cst.Attribute) -> cst.Call | None:
    """The call of a method without arguments."""
    call = site.draft.parent(node)
    is_call = isinstance(call, cst.Call) and call.func is node and not call.args
    return call if is_call else None  # type: ignore[return-value]
