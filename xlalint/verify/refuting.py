"""Whether a program that came to a finding's line speaks against it.

It does where what the finding speaks of is part of the program, and the program passed the stage that the finding says will
fail. Whatever is missing is the reason why the finding was not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xlalint.finding import Finding
from xlalint.verify import claims
from xlalint.verify.claims import Claim
from xlalint.verify.reached import is_differentiated, ops_at, passed
from xlalint.verify.records import EAGER, GRADIENT, LOWER, NUMBERS, OK, RUN, Failure, TargetReport
from xlalint.verify.spans import Span

_Judged = tuple[bool, str]
# Made by every statement that computes, whatever it calls.
_PLUMBING = frozenset({"Const", "Identity", "Placeholder", "NoOp", "PartitionedCall"})


def refuted(finding: Finding, claim: Claim, span: Span, target: TargetReport) -> _Judged:
    """(does the target refute the finding?, the evidence for it, or why it does not). The target came to its statement."""
    stuck = _stuck(target)
    if stuck is not None:
        why = f"{stuck.stage}: {stuck.message}"
        return False, f"{target.function} fails elsewhere: {why}"
    if not passed(target, LOWER):
        return False, f"{target.function} was not compiled"
    if target.is_special:
        why = f"{target.function} compiles with made-up settings, which refutes nothing: {target.inputs}"
        return False, why
    if claim.basis == claims.NEVER:
        return False, f"{target.function} {claim.otherwise}"
    return _BY_BASIS[claim.basis](finding, span, target)


def _stuck(target: TargetReport) -> Failure | None:
    """The failure that keeps a program from being judged. Numbers and gradients come after all that compiles."""
    before = [one for one in target.failures if one.stage not in (NUMBERS, GRADIENT)]
    compiled = [one for one in before if one.stage != EAGER]
    return next(iter(compiled or before), None)


def _by_trace(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    if span.may_be_skipped:
        return False, f"{target.function} compiles, but this part of the line may not have run"
    return True, _compiles(target)


def _by_what_it_holds(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    if span.may_be_skipped:
        return False, f"{target.function} compiles, but this part of the line may not have run"
    return True, f"{_compiles(target)}, and what this tests was known while tracing"


def _by_kernel(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    made = ops_at(span, target)
    named = claims.operations_named(finding)
    there = sorted(made & named)
    if there:
        return True, f"{', '.join(there)} is in the program, and {_compiles(target)}"
    if not made - _PLUMBING:
        return False, f"{target.function} compiles, but nothing that it returns needs this call"
    if span.may_be_skipped or not named:
        return False, f"{target.function} compiles, but this call may not have been made"
    return (
        True,
        f"in this run it makes {', '.join(sorted(made - _PLUMBING))}, and {_compiles(target)}",
    )


def _by_compilation(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    if span.may_be_skipped:
        return False, f"{target.function} compiles, but this part of the line may not have run"
    if not ops_at(span, target):
        return False, f"{target.function} compiles, but nothing that it returns needs this"
    return True, f"{_compiles(target)}: lowered from shapes alone"


def _by_sizes(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    made = ops_at(span, target)
    if not made - _PLUMBING:
        return False, f"{target.function} compiles, but nothing that it returns needs this"
    if span.may_be_skipped:
        return False, f"{target.function} compiles, but this part of the line may not have run"
    return True, f"{_compiles(target)}: all its sizes are known when XLA compiles"


def _by_acceptance(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    if not target.evidence.bounded:
        return False, f"in {target.function} as it was run, no size depends on data"
    if not ops_at(span, target) or span.may_be_skipped:
        return False, f"{target.function} compiles, but nothing that it returns needs this"
    if not passed(target, RUN):
        return False, f"{target.function} lowers, but was not run"
    return True, f"{_compiles(target)}, with sizes that depend on data"


def _by_numbers(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    numbers = target.stage(NUMBERS)
    if numbers is None or numbers.status != OK:
        return False, f"{target.function} compiles, but its numbers were not compared"
    evidence = target.evidence
    if not evidence.bounded:
        return False, f"in {target.function} as it was run, no size depends on data"
    if not ops_at(span, target) or span.may_be_skipped:
        return False, f"{target.function} agrees, but nothing that it returns needs this"
    if any(evidence.kept_all.values()) or not any(evidence.kept_part.values()):
        return False, (
            f"{target.function} agrees, but this run kept every element, with which nothing can go wrong"
        )
    if evidence.is_uniform:
        return False, f"{target.function} agrees, but all its inputs were equal numbers"
    return True, f"{_compiles(target)}, where a part of the elements was kept"


def _by_gradient(finding: Finding, span: Span, target: TargetReport) -> _Judged:
    if not is_differentiated(span, target):
        return False, f"{target.function}: no gradient was compiled through it"
    stage = target.stage(GRADIENT)
    trains = stage is not None and stage.detail == "is part of the step"
    if trains or (stage is not None and stage.status == OK):
        return True, f"the gradient of {target.function} compiles"
    return False, f"{target.function}: its gradient was not compiled"


def _compiles(target: TargetReport) -> str:
    """`step compiles and runs and agrees with eager`, as far as it came."""
    numbers = target.stage(NUMBERS)
    words = f"{target.function} compiles"
    if passed(target, RUN):
        words += " and runs"
    if numbers is not None and numbers.status == OK:
        words += " and agrees with eager"
    if not passed(target, RUN):
        words += " for its shapes"
    return f"{words}, with {target.inputs}" if target.inputs else words


_BY_BASIS: Mapping[str, Callable[[Finding, Span, TargetReport], _Judged]] = {
    claims.TRACES: _by_trace,
    claims.HOLDS: _by_what_it_holds,
    claims.KERNEL: _by_kernel,
    claims.COMPILES: _by_compilation,
    claims.BOUNDED: _by_sizes,
    claims.REJECTED: _by_acceptance,
    claims.NUMBERS: _by_numbers,
    claims.GRADIENT: _by_gradient,
}
