"""What to write instead, for a failure: the catalogue's replacement of its operation, or the words of its rule's page."""

from __future__ import annotations

from dataclasses import dataclass

from xlalint.messages import explained, known
from xlalint.semantics.catalog import CatalogError
from xlalint.verify.records import Failure

_KERNEL = "No registered '{op}' OpKernel for XLA_CPU_JIT devices"
_CONSTANT = "Input 0 to node `x` with op {op} must be a compile-time constant"


@dataclass(frozen=True, slots=True)
class Advice:
    """`code` is the rule that knows such failures, empty where there is none."""

    code: str
    says: str
    instead: str


def advice(failure: Failure, tensorflow: str) -> Advice | None:
    """None for a failure that no known message is about. `tensorflow` is the version that failed."""
    if failure.kind == "no-kernel" and failure.op:
        text = _KERNEL.format(op=failure.op)
    elif failure.kind == "not-constant" and failure.op:
        text = _CONSTANT.format(op=failure.op)
    else:
        text = failure.message
    match = known.find(text)
    if match is None:
        return None
    try:
        instead = explained.instead(match, failure.op, tensorflow)
    except CatalogError:
        instead = match.known.instead
    return Advice(match.known.code or "", match.says, instead)
