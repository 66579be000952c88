"""What to write instead, for a failure: the words of a finding at the line that failed, the catalogue's replacement of its
operation, or the words of its rule's page.
"""

from __future__ import annotations

from dataclasses import dataclass

from xlalint.messages import explained, known
from xlalint.messages.known import Known
from xlalint.semantics.catalog.shipped import CatalogError
from xlalint.verify.records import Failure
from xlalint.verify.verification import Verification

_KERNEL = "No registered '{op}' OpKernel for XLA_CPU_JIT devices"
_CONSTANT = "Input 0 to node `x` with op {op} must be a compile-time constant"


@dataclass(frozen=True, slots=True)
class Advice:
    """`code` is the rule that knows such failures, empty where there is none."""

    code: str
    says: str
    instead: str


def advice(failure: Failure, result: Verification) -> Advice | None:
    """None for a failure that no known message is about."""
    if failure.kind == "no-kernel" and failure.op:
        text = _KERNEL.format(op=failure.op)
    elif failure.kind == "not-constant" and failure.op:
        text = _CONSTANT.format(op=failure.op)
    else:
        text = failure.message
    match = known.find(text)
    if match is None:
        return None
    for each in result.verdicts:
        if each.failure == failure and each.finding.help and each.finding.code != match.known.code:
            # What foretold the failure has seen its cause, of which the message may know nothing.
            return Advice(each.finding.code, match.says, each.finding.help)
    instead = _said_there(failure, match.known, result)
    if instead is None:
        try:
            instead = explained.instead(match, failure.op, result.environment.tensorflow)
        except CatalogError:
            instead = match.known.instead
    return Advice(match.known.code or "", match.says, instead)


def _said_there(failure: Failure, message: Known, result: Verification) -> str | None:
    """The help of a finding at the line that failed, where it is another of its rule's than the message is about: one message
    has several causes, and the finding has seen which.
    """
    lines = {(one.path, one.line) for one in (failure.place, failure.called_from) if one}
    for each in result.verdicts:
        finding = each.finding
        if finding.code != message.code or finding.variant == (message.variant or finding.variant):
            continue
        if (str((result.folder / finding.path).resolve()), finding.span.line) in lines:
            return finding.help
    return None
