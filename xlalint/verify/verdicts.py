"""Judge findings by what the compiler did: confirmed, refuted, or not reached, each with its evidence.

A wrong `refuted` costs a user the most: it hides what will fail on a TPU. So a finding is refuted only where what it speaks
of was part of a program that passed the stage which it says will fail, and the data could have shown it.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlalint.finding import Finding, Severity
from xlalint.tpu.program import Emulated
from xlalint.tpu.statuses import COMPILES
from xlalint.verify import claims, counted, plan, priced, refuting
from xlalint.verify.claims import Claim
from xlalint.verify.reached import executed, ops_at, ops_made, passed
from xlalint.verify.recompiles import Recompiles
from xlalint.verify.records import (
    EAGER,
    GRADIENT,
    IN_A_GRADIENT,
    LOWER,
    OUT_OF_REACH,
    TRACE,
    Failure,
    TargetReport,
    TrainingReport,
)
from xlalint.verify.spans import ELSEWHERE, SAME_EXPRESSION, Span, span_of

CONFIRMED, REFUTED, NOT_REACHED = "confirmed", "refuted", "not reached"

# A setting made while the module is imported: what it changes is in all programs.
_MODULE_LEVEL = "<module>"
# What findings about TPUs alone say of themselves.
_ABOUT_TPU = "TPU"
_NO_TPU_KERNEL = "no-tpu-kernel"
# Known by function where the line could not be told.
_OF_THE_WHOLE_FUNCTION = frozenset({"numbers", "crash"})
# Operations whose size depends on data, where XLA's program tells no line of theirs.
_PRODUCERS = frozenset(
    {
        "Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "DynamicPartition", "NonMaxSuppressionV3",
        "NonMaxSuppressionV4", "Slice", "StridedSlice", "TopKV2",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """`finding` as judged. `evidence` is one sentence; `target` the function whose compilation gave it; `failure` what
    confirms it, where a failure does."""

    finding: Finding
    verdict: str
    evidence: str
    target: str = ""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """A finding, what it claims, and where it stands. `unread` says why no run came that far."""

    finding: Finding
    claim: Claim
    span: Span
    unread: str = ""


@dataclass(frozen=True, slots=True)
class _Told:
    """A failure and what failed: a target, or the training where that is None."""

    failure: Failure
    target: TargetReport | None

    @property
    def name(self) -> str:
        return self.target.function if self.target is not None else "training"


def judge(
    findings: Iterable[Finding],
    targets: Sequence[TargetReport],
    trainings: Sequence[TrainingReport],
    folder: Path,
    recompiles: Sequence[Recompiles] = (),
    broken: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """One verdict per finding, in the order given. `folder` is where relative paths count from; `broken` says of modules, by
    real path, why they could not be run.
    """
    spans = [(one, span_of(one, folder)) for one in findings]
    cases = [
        _Case(one, claims.of(one), span, _unread(one, span, broken or {}, trainings))
        for one, span in spans
    ]
    told = [
        _Told(failure, target)
        for target in targets
        for failure in target.failures
        if failure.stage != EAGER
    ]
    told += [_Told(one.failure, None) for one in trainings if one.failure is not None]
    judged = []
    for case in cases:
        if case.finding.code.startswith(plan.ABOUT_DRIVERS) and case.finding.cell is None:
            given = counted.judged(case.finding, targets, trainings, recompiles)
            judged.append(Verdict(case.finding, *given))
        else:
            judged.append(_judge(case, cases, targets, told))
    return judged


def _unread(
    finding: Finding, span: Span, broken: Mapping[str, str], trainings: Sequence[TrainingReport]
) -> str:
    """Why no run came as far as a finding: its module could not be run, or the program ended further up."""
    if span.path in broken:
        return broken[span.path]
    if finding.function != _MODULE_LEVEL:
        return ""
    for one in trainings:
        place = one.failure.place if one.failure is not None else None
        if place is not None and place.path == span.path and place.line < span.statement.start:
            return f"the program ended before it, in line {place.line}"
    return ""


def unclaimed(
    judged: Sequence[Verdict], targets: Sequence[TargetReport], folder: Path
) -> list[tuple[TargetReport, Failure]]:
    """The failures of targets that no finding foretold: at none of their lines, and no verdict rests on them."""
    cases = [
        _Case(one.finding, claims.of(one.finding), span_of(one.finding, folder)) for one in judged
    ]
    rested_on = [one.failure for one in judged if one.failure is not None]
    found: dict[tuple[object, ...], tuple[TargetReport, Failure]] = {}
    for target in targets:
        for failure in target.failures:
            claimed = any(_is_told_by(failure, one) for one in rested_on) or any(
                (case.span.fit(failure) != ELSEWHERE and _is_of_kind(failure, case))
                or _is_raised_within(failure, case)
                or _is_of_its_layer(failure, case)
                for case in cases
            )
            claimed |= any(
                case.span.is_around(failure.place) and _may_be_of_all(failure, case)
                for case in cases
            )
            claimed |= failure.kind == "not-constant" and any(
                case.span.is_around(failure.place) and _stands_for_more(case.finding)
                for case in cases
            )
            if failure.stage != EAGER and not claimed:
                found.setdefault((failure.kind, failure.op, failure.place), (target, failure))
    return list(found.values())


def _is_told_by(failure: Failure, other: Failure) -> bool:
    """Whether it is that failure, where the gradient is asked for and not where it goes through."""
    return failure == other or (
        failure.stage == other.stage
        and other.message.startswith(failure.message.rstrip(".") + IN_A_GRADIENT)
    )


def _stands_for_more(finding: Finding) -> bool:
    """Whether a finding is told once for several sizes of its function, which the same number decides, or for all that its gradient needs."""
    if finding.code == "XLA407":
        return finding.variant in ("in-arm", "in-loop")
    return finding.code == "XLA203" and " of this function" in finding.message


def _judge(
    case: _Case, cases: Sequence[_Case], targets: Sequence[TargetReport], told: Sequence[_Told]
) -> Verdict:
    finding, span = case.finding, case.span
    if finding.cell is not None:
        return Verdict(finding, NOT_REACHED, _why_not(case, targets))
    at_place = [
        one
        for one in told
        if _bears_out(one.failure, case, cases)
        or (case.claim.says and one.target is None and case.claim.says in one.failure.message)
    ]
    if at_place:
        # The one that fits best says most.
        best = max(at_place, key=lambda one: span.fit(one.failure))
        evidence = f"{best.failure.stage}: {best.failure.message}"
        return Verdict(finding, CONFIRMED, evidence, best.name, best.failure)
    if finding.code == "XLA404" and _ABOUT_TPU in finding.message:
        return _by_tpu(case, targets)
    if finding.code in priced.CODES:
        return _by_price(case, targets)
    for target in targets:
        if evidence := _price(case, target):
            return Verdict(finding, CONFIRMED, evidence, target.function)
    reached = _reached(span, targets)
    blamed = _by_whole_function(case, cases, reached)
    if blamed is not None:
        return blamed
    return _refuted_or_not(case, reached, targets)


def _bears_out(failure: Failure, case: _Case, cases: Sequence[_Case]) -> bool:
    """Is a failure what a finding foretold? Where several findings share its statement, it is that of the one it fits."""
    if _is_raised_within(failure, case):
        return True
    if not _is_of_kind(failure, case):
        return False
    if _is_of_its_layer(failure, case):
        return True
    if failure.kind == OUT_OF_REACH:
        return _lets_out(failure, case, cases)
    fit = case.span.fit(failure)
    if fit >= SAME_EXPRESSION or fit == ELSEWHERE:
        return fit != ELSEWHERE
    if _names(case, failure):
        return True
    return not any(
        other is not case
        and _is_of_kind(failure, other)
        and (other.span.fit(failure) > fit or _names(other, failure))
        for other in cases
    )


def _lets_out(failure: Failure, case: _Case, cases: Sequence[_Case]) -> bool:
    """Is it this finding's place that let out a tensor made somewhere in its function? Of several places, the nearest behind that."""
    within = [place for place in failure.frames if case.span.is_around(place)]
    if not within:
        return False
    made = within[-1].line
    places = {
        other.span.lines.start
        for other in cases
        if _is_of_kind(failure, other) and other.span.is_around(within[-1])
    }
    return case.span.lines.start == min(places, key=lambda line: (line < made, abs(line - made)))


def _is_of_kind(failure: Failure, case: _Case) -> bool:
    """Could a failure be what a finding foretells, by its kind, stage and operation?"""
    if failure.kind not in case.claim.kinds:
        return False
    if case.claim.is_of_names:
        return claims.speaks_of(failure.message, case.finding)
    if case.claim.only_backward and not _is_backward(failure):
        return False
    named = claims.operations_named(case.finding)
    if failure.kind != "no-kernel" or not named or failure.op in named:
        return True
    # What lacks a kernel for itself may lack one for its gradient as well.
    _, is_backward, forward = failure.message.partition(IN_A_GRADIENT)
    return bool(is_backward) and forward in named


# How TensorFlow names the operations that a tape adds: `op_name="gradient_tape/strided_slice/StridedSliceGrad"`.
_OF_A_TAPE = '"gradient_tape/'


def _is_backward(failure: Failure) -> bool:
    return (
        failure.stage == GRADIENT
        or failure.kind == "gradient"
        or IN_A_GRADIENT in failure.message
        or _OF_A_TAPE in failure.message
    )


def _names(case: _Case, failure: Failure) -> bool:
    return bool(failure.op) and failure.op in claims.operations_named(case.finding)


def _is_raised_within(failure: Failure, case: _Case) -> bool:
    """Did tracing run into a `raise` in an arm of the `if`, or get stuck in the body of the `while`, of the finding?"""
    place, finding = failure.place, case.finding
    if place is None or place.path != case.span.path or place.line not in case.span.block:
        return False
    if failure.stage != TRACE or finding.severity is not Severity.ERROR:
        return False
    if finding.code == "XLA102":
        return failure.kind in ("python", "symbolic")
    is_raise = linecache.getline(place.path, place.line).lstrip().startswith("raise")
    return finding.code == "XLA106" and failure.kind == "python" and is_raise


def _is_of_its_layer(failure: Failure, case: _Case) -> bool:
    """Is it told of the line that made a layer, which the finding names where a model is given it: `Sequential([features, ...])`?"""
    place, name = failure.place, claims.layer_named(case.finding)
    if not name or failure.kind != "no-kernel" or place is None or place.path != case.span.path:
        return False
    written = linecache.getline(place.path, place.line).lstrip()
    return written.startswith((f"{name} =", f"{name}="))


def _price(case: _Case, target: TargetReport) -> str:
    """What a compiled program shows of a claim that is no failure: a cond, bounded dimensions, values baked in."""
    claim, span, finding = case.claim, case.span, case.finding
    ops = ops_at(span, target)
    made = ops_made(span, target)
    if claim.shows and finding.severity is not Severity.ERROR and (shown := made & claim.shows):
        host = ", which only a host can run" if shown & claims.HOST_OPS else ""
        return f"the graph holds {_listed(shown)} made here{host}"
    if claim.basis == claims.BOUNDED:
        lines = target.evidence.bounded.get(span.path, [])
        bounded = [line for line in lines if line in span.statement]
        if bounded:
            return (
                f"XLA's program has dimensions known only when it runs, made in line {bounded[0]}"
            )
        if ops & _PRODUCERS and (target.evidence.bounded or not passed(target, LOWER)):
            return f"the program holds {_listed(ops & _PRODUCERS)} made here"
    if claim.basis == claims.NUMBERS:
        differs = target.evidence.differs.get(span.path, {})
        told = [what for line, what in differs.items() if int(line) in span.statement]
        if told:
            agrees = not any(one.kind == "numbers" for one in target.failures)
            though = f", though what {target.function} returns agrees" if agrees else ""
            return f"what this line computes {told[0]}{though}"
    per_value = target.evidence.compiled_per_value
    if finding.code == "XLA203" and per_value and executed(span, target):
        return f"XLA compiles again for each value of {', '.join(per_value)}"
    return ""


def _by_tpu(case: _Case, targets: Sequence[TargetReport]) -> Verdict:
    """A claim about what TPUs make of a dtype: theirs alone is the word that counts."""
    finding, span = case.finding, case.span
    is_setting = finding.function == _MODULE_LEVEL
    reached = [target for target in targets if is_setting or executed(span, target)]
    asked = [(target, one) for target in reached for one in target.tpu if one.status == COMPILES]
    for target, one in asked:
        for emulated in one.emulated:
            is_here = emulated.path == span.path and emulated.line in span.statement
            if finding.variant == _NO_TPU_KERNEL and emulated.dtype != "c128":
                continue
            if is_here or (is_setting and emulated.dtype == "f64"):
                told = _of_emulated(finding, one.target, emulated)
                return Verdict(finding, CONFIRMED, told, target.function)
    compiled = [
        (target, one)
        for target, one in asked
        if is_setting or (ops_at(span, target) and not span.may_be_skipped)
    ]
    if compiled:
        target, one = compiled[0]
        told = f"{one.target} compiles {target.function}, and has no 64-bit arrays made here"
        return Verdict(finding, REFUTED, told, target.function)
    if not reached:
        return Verdict(finding, NOT_REACHED, _why_not(case, targets))
    told = "only a TPU's compiler can say: name a TPU, as in --target tpu-v5e"
    return Verdict(finding, NOT_REACHED, told, reached[0].function)


def _of_emulated(finding: Finding, target: str, emulated: Emulated) -> str:
    where = f"{emulated.dtype} in {emulated.instructions} instructions"
    if finding.variant == _NO_TPU_KERNEL:
        return f"{where}: its compiler alone would emulate them, but TensorFlow registers no such kernel for {target}"
    return f"{target} emulates {where}"


def _by_price(case: _Case, targets: Sequence[TargetReport]) -> Verdict:
    """A claim about what TPUs pay: theirs alone is the word that counts."""
    found = priced.judged(case.finding, case.span, targets)
    verdict = {True: CONFIRMED, False: REFUTED, None: NOT_REACHED}[found.is_paid]
    evidence = found.evidence or _why_not(case, targets)
    return Verdict(case.finding, verdict, evidence, found.function)


def _reached(span: Span, targets: Sequence[TargetReport]) -> list[TargetReport]:
    """The targets in which the line ran. The smallest program says most: a helper's own before the whole step's."""
    found = [target for target in targets if executed(span, target)]
    return sorted(found, key=lambda target: len(target.evidence.executed.get(span.path, [])))


def _may_be_of_all(failure: Failure, case: _Case) -> bool:
    """Whether a failure of a program tells no line of its own, and is of a kind that the finding foretells.

    What a tape adds is placed where the gradient is asked for, and not where it goes through.
    """
    if failure.kind not in case.claim.kinds:
        return False
    is_of_tape = case.claim.only_backward and _OF_A_TAPE in failure.message
    return failure.kind in _OF_THE_WHOLE_FUNCTION or is_of_tape


def _by_whole_function(
    case: _Case, cases: Sequence[_Case], reached: Sequence[TargetReport]
) -> Verdict | None:
    """Numbers that differ, or a crash, of a program that holds the line: the finding's doing, if no other finding's."""
    for target in reached:
        for failure in target.failures:
            if not _may_be_of_all(failure, case):
                continue
            evidence = f"{target.function}: {failure.message}"
            line = failure.place.line if failure.place is not None else target.line
            is_at_line = line != target.line
            if is_at_line and line < case.span.lines.start:
                why = f"from line {line} on, {evidence}"
                return Verdict(case.finding, NOT_REACHED, why, target.function)
            rivals = [
                other
                for other in cases
                if other is not case
                and _may_be_of_all(failure, other)
                and executed(other.span, target)
                and not (is_at_line and line < other.span.lines.start)
            ]
            if rivals:
                lines = sorted({other.span.lines.start for other in rivals})
                why = f"{evidence}, because of this or of line {', '.join(map(str, lines))}"
                return Verdict(case.finding, NOT_REACHED, why, target.function)
            return Verdict(case.finding, CONFIRMED, evidence, target.function, failure)
    return None


def _refuted_or_not(
    case: _Case, reached: Sequence[TargetReport], targets: Sequence[TargetReport]
) -> Verdict:
    if not reached:
        return Verdict(case.finding, NOT_REACHED, _why_not(case, targets))
    why = ""
    for target in reached:
        is_refuted, evidence = refuting.refuted(case.finding, case.claim, case.span, target)
        if is_refuted:
            return Verdict(case.finding, REFUTED, evidence, target.function)
        why = why or evidence
    return Verdict(case.finding, NOT_REACHED, why, reached[0].function)


def _why_not(case: _Case, targets: Sequence[TargetReport]) -> str:
    """Why nothing that ran came to a finding's line."""
    finding, span = case.finding, case.span
    if case.unread:
        return case.unread
    if case.claim.is_of_names:
        return "nothing that was run failed in this line"
    if finding.code == plan.ABOUT_PACKAGES:
        return "a claim about packages that do not go together, which installing them shows"
    if finding.code.startswith(plan.ABOUT_TPUS):
        return "a claim about TPUs, which a CPU cannot judge"
    if finding.code.startswith(plan.ABOUT_TRAINING):
        return "a claim about training and its input, which no compiler judges"
    if finding.cell is not None:
        return "in a notebook that this run does not run: xlalint verify NOTEBOOK.ipynb"
    around = [
        failure
        for target in targets
        for failure in target.failures
        if span.is_around(failure.place)
    ]
    for failure in around:
        if failure.stage == TRACE and failure.place is not None:
            return f"tracing stopped before it, in line {failure.place.line}"
    for failure in around:
        if failure.kind == "crash":
            return f"no verdict: {failure.message}"
    if alone := _alone(span, targets):
        return alone
    if not targets:
        return "nothing was run that could call it"
    if finding.function == "<module>":
        return "nothing traced it"
    # The function around a nested one runs its `def`.
    within = {*span.function[1:]}
    if any(within & set(target.evidence.executed.get(span.path, ())) for target in targets):
        return f"{finding.function} was traced, and did not come to this line"
    return f"nothing that was run calls {finding.function}"


def _alone(span: Span, targets: Sequence[TargetReport]) -> str:
    """Of a function that was to be called with made-up inputs: what was tried, or that the line did not run."""
    own = [
        target
        for target in targets
        if target.origin == "alone"
        and target.path == span.path
        and target.line == span.function.start
    ]
    for target in own:
        if not target.stages and target.notes:
            return target.notes[0]
    failed = [target for target in own if target.failures]
    if failed:
        first = failed[0].failures[0]
        return f"{failed[0].function} fails elsewhere: {first.stage}: {first.message}"
    if own:
        return f"line {span.lines.start} does not run with the {own[0].inputs or 'inputs that were tried'}"
    return ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
