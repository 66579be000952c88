"""Why the gradient of a call does not compile where the call does, as the catalogue measured it of each API and its arguments."""

from __future__ import annotations

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import Verdict
from xlalint.semantics.hazards import eigenvalues
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    FROM_SHAPE,
    NOTHING_KNOWN,
    PYTHON,
    TENSOR,
    Value,
)

NO_KERNEL = "no-kernel"
LOOP = "loop"
DATA_SIZED = "data-sized"
PARTITION = "partition"
COUNT = "count"
SLICE = "slice"
PARTNER = "partner"
EIGENVECTORS = "eigenvectors"
IN_STEP = "in-step"
IN_ARM = "in-arm"
MASKED_ARMS = "masked-arms"
KEPT_IN_ELSE = "kept-in-else"
EMPTY_ARM = "empty-arm"
TRACED_BEFORE = "traced-before"

# Loops that callers write themselves have a rule of their own: whether they are bounded is what counts there.
_LOOPS = ("while_loop", "fori_loop", "scan")


def of_call(api: Api, verdict: Verdict, bound: dict[str, Value]) -> str | None:
    """Why the gradient of a call that compiles does not; None where it does."""
    if verdict.status != "compiles" or verdict.possible:
        return None
    if verdict.gradient == "fails":
        return _reason_of_failure(api, verdict, bound)
    if eigenvalues.has_no_gradient(api.name, bound):
        return EIGENVECTORS
    if _is_of_data_sized(api, bound):
        return DATA_SIZED
    if "TopKV2" in api.ops and api.name.rpartition(".")[2] in ("sort", "top_k"):
        return COUNT if _is_from_data(bound.get("k", NOTHING_KNOWN)) else None
    return None


def _reason_of_failure(api: Api, verdict: Verdict, bound: dict[str, Value]) -> str | None:
    if api.name.rpartition(".")[2] in _LOOPS:
        return None
    if verdict.gradient_missing:
        return NO_KERNEL
    if api.ops == ("DynamicPartition",):
        return None if _is_settled(bound.get("partitions", NOTHING_KNOWN)) else PARTITION
    # What failed otherwise is no matter of XLA's: indices without a gradient, arguments that eager execution refuses, too.
    return LOOP if api.gradient_reason == "gradient" else None


def _is_of_data_sized(api: Api, bound: dict[str, Value]) -> bool:
    """Whether the gradient needs the size of the argument that the data size, and the call does not.

    Where the gradient for either of two arguments is refused, it was measured beside a tensor of a known size (`note_partner`).
    """
    if len(api.bounded_gradient) != 1:
        return False
    ((parameter, status),) = api.bounded_gradient
    is_refused = status == "rejected" and (parameter, "fine") in api.bounded
    return is_refused and bound.get(parameter, NOTHING_KNOWN).is_data_sized


def _is_settled(places: Value) -> bool:
    """Whether XLA knows a tensor when it compiles: literals, and what is made of sizes."""
    parts = leaves(places)
    return bool(parts) and all(
        part.kind is PYTHON or (part.kind is TENSOR and part.sure and part.dependence <= FROM_SHAPE)
        for part in parts
    )


def _is_from_data(count: Value) -> bool:
    """Whether a count is a tensor that the data decide: XLA refuses the gradient of as many values (TensorFlow 2.15, 2.21)."""
    is_vague = count.structured or count.optional or count.guess
    is_late = count.dependence >= ARRIVING or count.dependence == BOUNDED
    return count.is_tensor and is_late and not is_vague
