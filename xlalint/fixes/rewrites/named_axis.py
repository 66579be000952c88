"""What XLA refuses of a data-sized tensor for want of a word: an axis to squeeze, a reversal by its name."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.masks import INDICES
from xlalint.fixes.ranks import Rank, rank_of
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace

MENDS = ("XLA204",)
ORDER = 70


def propose(site: Site) -> Fix | None:
    """`tf.squeeze(tf.where(mask))` and `kept[::-1]`."""
    if isinstance(site.node, cst.Call):
        return _squeezed(site, site.node)
    if isinstance(site.node, cst.Subscript):
        return _reversed(site, site.node)
    return None


def _squeezed(site: Site, call: cst.Call) -> Fix | None:
    draft = site.draft
    if draft.api(call) != "tf.squeeze" or len(call.args) != 1 or call.args[0].star:
        return None
    indices = call.args[0].value
    known = Reader(draft).kept(indices)
    if known is None or known.kind != INDICES or known.mask.is_vector is False:
        return None
    message = "Name the axis. With exactly one index, the result stays a vector, and was a scalar."
    if known.mask.is_vector is None:
        message += " The mask is taken to have one axis."
    return fix(UNSAFE, message, replace(draft, call.args[0], f"{draft.code(indices)}, axis=1"))


def _reversed(site: Site, node: cst.Subscript) -> Fix | None:
    """A step of -1 through the first axis: `tf.reverse` does the same, and compiles."""
    draft = site.draft
    tensorflow = draft.tensorflow
    if tensorflow is None or _code(draft, node.slice[0]) != "::-1":
        return None
    if any(_code(draft, element) != ":" for element in node.slice[1:]):
        return None
    rank = rank_of(draft, node.value)
    if len(node.slice) > 1 and (rank is None or rank.base is not None or rank < Rank(None, 1)):
        return None
    value = draft.code(node.value)
    return fix(
        SAFE, "Reverse it by name.", replace(draft, node, f"{tensorflow}.reverse({value}, [0])")
    )


def _code(draft: Draft, element: cst.SubscriptElement) -> str:
    return "".join(draft.code(element.slice).split())
