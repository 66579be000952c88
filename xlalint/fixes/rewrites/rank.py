"""`if tf.rank(x) == 1` asks at run time what tracing knows: `x.shape.rank`."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.site import SAFE, Site, fix, receiver, replace

MENDS = ("XLA106",)
ORDER = 10


def propose(site: Site) -> Fix | None:
    """Ask for the static rank instead. Safe where the analysis knows the rank: then both are the same number."""
    draft = site.draft
    edits = []
    for node in draft.within(site.node):
        if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].star:
            continue
        if draft.api(node) != "tf.rank":
            continue
        tensor = node.args[0].value
        value = draft.value(tensor)
        if not value.is_tensor or value.shape is None:
            return None
        edits.append(replace(draft, node, f"{receiver(draft, tensor)}.shape.rank"))
    if not edits:
        return None
    return fix(SAFE, "Ask for the static rank, which tracing knows.", *edits)
