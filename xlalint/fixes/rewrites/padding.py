"""XLA302: batches of one length, or of a few."""

from __future__ import annotations

from xlalint.finding import Fix
from xlalint.fixes.calls import argument, call_at, spreads, with_argument, with_keyword
from xlalint.fixes.site import DISPLAY, UNSAFE, Site, fix

MENDS = ("XLA302",)

# What transformers' own examples use; tensor cores and the TPU's registers like multiples of 8.
_MULTIPLE = 64


def propose(site: Site) -> Fix | None:
    """Pad buckets to their boundary, collators to a multiple; show where a length has to be written."""
    call = call_at(site.draft, site.node)
    if call is None or spreads(call):
        return None
    draft = site.draft
    name = draft.code(call.func).rpartition(".")[2]
    if site.finding.variant == "collator":
        return fix(
            UNSAFE,
            f"Pad to a multiple of {_MULTIPLE}, which leaves a few lengths; texts get more padding, and a model with fewer "
            "positions than that length needs a smaller number",
            with_keyword(draft, call, "pad_to_multiple_of", str(_MULTIPLE)),
        )
    if name == "bucket_by_sequence_length":
        return fix(
            UNSAFE,
            "Pad to the bucket's boundary: one length per bucket; an element as long as the last boundary, or longer, then raises",
            with_keyword(draft, call, "pad_to_bucket_boundary", "True"),
        )
    if name == "padded_batch" and argument(call, "padded_shapes", 1) is None:
        return fix(
            DISPLAY,
            "Write the length that the longest element may have, one shape for each component of an element",
            with_argument(draft, call, "padded_shapes=[LENGTH]"),
        )
    return None
