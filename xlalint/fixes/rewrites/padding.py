"""XLA302: batches of one length, or of a few."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.calls import (
    argument,
    call_at,
    spreads,
    with_argument,
    with_keyword,
    with_value,
)
from xlalint.fixes.draft import Draft
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
    if site.finding.variant == "tokenizer":
        return _tokenizer(site, call)
    if name == "to_tensor":
        return fix(
            DISPLAY,
            "Write the length that the longest row may have; longer ones are cut",
            with_argument(draft, call, "shape=[None, LENGTH]"),
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


def _tokenizer(site: Site, call: cst.Call) -> Fix:
    """One length where the longest is written already, else a few."""
    draft = site.draft
    cuts, longest = argument(call, "truncation"), argument(call, "max_length")
    is_cut = cuts is not None and draft.code(cuts.value) == "True"
    if is_cut and longest is not None and draft.code(longest.value) != "None":
        return fix(
            UNSAFE,
            f"Pad all texts to `{draft.code(longest.value)}` tokens, to which they are cut already: one length; attention masks leave the "
            "padding out",
            with_keyword(draft, call, "padding", '"max_length"'),
        )
    return fix(
        UNSAFE,
        f"Pad to a multiple of {_MULTIPLE}, which leaves a few lengths; texts get more padding, which attention masks leave out, and a "
        "model with fewer positions than that length needs a smaller number",
        *_padded(draft, call),
    )


def _padded(draft: Draft, call: cst.Call) -> list[Edit]:
    given = argument(call, "padding")
    multiple = f"pad_to_multiple_of={_MULTIPLE}"
    if given is None:
        return [with_argument(draft, call, f"padding=True, {multiple}")]
    is_off = draft.code(given.value) == "False"
    on = [with_value(draft, given, "True")] if is_off else []
    return [*on, with_argument(draft, call, multiple)]
