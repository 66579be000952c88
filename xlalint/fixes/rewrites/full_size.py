"""Boolean masks, one-argument tf.where and prefixes, followed to where they are reduced, written over tensors of full size."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import call_at
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.distinct import reads_of
from xlalint.fixes.full_size.fixing import fix_for
from xlalint.fixes.full_size.flow import Follower, kept_under
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.fixes.site import Site

MENDS = ("XLA201", "XLA202", "XLA203", "XLA204", "XLA206", "XLA401")
ORDER = 20


def propose(site: Site) -> Fix | None:
    """Write the whole of what hangs together with the flagged expression again, or nothing."""
    draft = site.draft
    tensorflow = draft.tensorflow
    if tensorflow is None or not isinstance(site.node, cst.BaseExpression):
        return None
    reader = Reader(draft)
    node: cst.CSTNode = site.node
    if site.finding.code == "XLA401":
        # Of what has no kernel at all, one is only another way to count.
        node = call_at(draft, node) or node
        if not isinstance(node, cst.Call) or draft.api(node) != "tf.unique_with_counts":
            return None
    if site.finding.code == "XLA203":
        # An argument was flagged, in what is made of it.
        around = (a for a in draft.ancestors(node) if not isinstance(a, (cst.Arg, cst.Element)))
        node = next((a for a in around if not isinstance(a, (cst.List, cst.Tuple))), node)
    start = next(kept_under(draft, reader, node), None) or _distinct(draft, reader, node)
    if start is None:
        return None
    group = Follower(draft, reader).follow(start)
    if group is None:
        return None
    try:
        return fix_for(draft, reader, group, tensorflow)
    except UnfitError:
        return None


def _distinct(draft: Draft, reader: Reader, node: cst.CSTNode) -> cst.BaseExpression | None:
    """Where the different values go that a call makes: the element of its result, or a read of a name that it is unpacked to."""
    above = draft.parent(node)
    if isinstance(above, (cst.Subscript, cst.Attribute)):
        return above if reader.kept(above) is not None else None
    names = reads_of(draft, above) if isinstance(above, cst.Assign) else None
    return next((name for name in names or () if reader.kept(name) is not None), None)
