"""Lists, tuples and dicts that a tf.while_loop carries: it keeps how many tensors there are and what holds them.

`paddings = [3, 4]` becomes two scalar tensors in a list where AutoGraph converts the loop around it, and `paddings =
tf.constant(paddings) - 1` cannot take its place; a list that becomes longer cannot, either (fixtures/XLA206/
flagged_structures.py).
"""

from __future__ import annotations

from xlalint.semantics.values import COLLECTION, MAPPING, SEQUENCE, Value

STRUCTURE = "structure"
_ONE_TENSOR = "one tensor"


def difference(old: Value, new: Value) -> tuple[str, str, str] | None:
    """How what holds tensors differs from itself one step before, in words; None when it may be the same."""
    if old.kind is SEQUENCE and new.kind is SEQUENCE:
        is_one_type = old.dtype is None or new.dtype is None or old.dtype == new.dtype
        if is_one_type and len(old.ref) == len(new.ref):
            return None
    if COLLECTION in (old.kind, new.kind) and not (old.is_tensor or new.is_tensor):
        return None  # of how many nobody knows
    before, after = _words(old), _words(new)
    if before is None or after is None or before == after:
        return None
    return STRUCTURE, before, after


def _words(value: Value) -> str | None:
    if value.structured or value.optional or value.guess:
        return None
    if value.is_tensor:
        return _ONE_TENSOR
    if value.kind is MAPPING:
        return "a dict"
    if value.kind is COLLECTION:
        return "a list"
    if value.kind is SEQUENCE:
        return f"a {value.dtype or 'sequence'} of {len(value.ref)}"
    return None
