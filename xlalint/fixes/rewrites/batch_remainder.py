"""XLA301: batches of one size, by leaving out the last, smaller one."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import call_at, spreads, with_argument
from xlalint.fixes.site import UNSAFE, Site, fix

MENDS = ("XLA301",)

_BATCHING = frozenset({"batch", "padded_batch", "to_tf_dataset"})


def propose(site: Site) -> Fix | None:
    """`dataset.batch(n)` to `dataset.batch(n, drop_remainder=True)`."""
    call = call_at(site.draft, site.node)
    if call is None or spreads(call) or not isinstance(call.func, cst.Attribute):
        return None
    if call.func.attr.value not in _BATCHING:
        return None
    return fix(
        UNSAFE,
        "Add drop_remainder=True; the elements of a last batch that is not full are left out from then on "
        "(do not do so with data that are evaluated)",
        with_argument(site.draft, call, "drop_remainder=True"),
    )
