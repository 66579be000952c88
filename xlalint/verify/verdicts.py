"""Judge findings by what the compiler did: confirmed, refuted, or not reached, each with its evidence."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlalint.finding import Finding, Severity
from xlalint.tpu.compiler import COMPILES
from xlalint.verify import plan
from xlalint.verify.recompiles import Recompiles
from xlalint.verify.recompiling import cause_seen, is_ruled_out, other_cause, times_compiled
from xlalint.verify.records import (
    EAGER,
    FAILED,
    GRADIENT,
    LOWER,
    NUMBERS,
    OK,
    RUN,
    TRACE,
    Failure,
    Place,
    TargetReport,
    TrainingReport,
)

CONFIRMED, REFUTED, NOT_REACHED = "confirmed", "refuted", "not reached"

# Operations that show what a warning claims.
_CONDITIONALS = frozenset(
    {"If", "StatelessIf", "Case", "StatelessCase", "LogicalAnd", "LogicalOr", "LogicalNot", "Cond"}
)
_LOOPS = frozenset({"While", "StatelessWhile"})
_PRODUCERS = frozenset(
    {
        "Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "DynamicPartition", "NonMaxSuppressionV3",
        "NonMaxSuppressionV4", "Slice", "StridedSlice", "TopKV2",
    }
)  # fmt: skip
_HOST_OPS = frozenset(
    {
        "PrintV2",
        "Print",
        "StringFormat",
        "PyFunc",
        "EagerPyFunc",
        "PyFuncStateless",
        "WriteScalarSummary",
    }
)


# Claims about what a program computes: that it compiles says nothing of them.
_ABOUT_NUMBERS = frozenset({"XLA204"})
# Claims about values that this run may not have met (a check that fails, a seed set twice), or about what a TPU refuses.
_ABOUT_OTHER_VALUES = frozenset({"XLA404", "XLA406", "XLA408"})
# Warnings of these say what the compiled program holds, and are refuted by one that does not. Other warnings say what
# happens with other arguments, in training, or in the next call: a program that compiles says nothing of those.
_SEEN_IN_PROGRAM = frozenset({"XLA101", "XLA102", "XLA105", "XLA201", "XLA202", "XLA203", "XLA402"})

# Which failures bear out which claims. Two claims may share a line, and only one of them have failed there.
# A setting made while the module is imported: what it changes is in all programs.
_MODULE_LEVEL = "<module>"
# What findings about TPUs alone say of themselves.
_ABOUT_TPU = "TPU"
_BORNE_OUT_BY = {
    "XLA101": frozenset({"symbolic", "python", "compiler", "gradient"}),
    "XLA102": frozenset({"symbolic", "python", "compiler", "gradient", "not-constant"}),
    "XLA105": frozenset({"symbolic", "python"}),
    "XLA201": frozenset({"compiler", "not-constant", "numbers", "crash", "gradient"}),
    "XLA202": frozenset({"compiler", "not-constant", "numbers", "crash", "gradient"}),
    "XLA203": frozenset({"not-constant", "compiler", "gradient"}),
    "XLA401": frozenset({"no-kernel", "compiler"}),
    "XLA402": frozenset({"no-kernel", "compiler", "python"}),
    "XLA403": frozenset({"no-kernel", "compiler", "python"}),
    "XLA405": frozenset({"no-kernel", "compiler", "not-constant", "python"}),
    "XLA406": frozenset(),
    "XLA408": frozenset({"numbers"}),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`finding` as judged. `evidence` is one sentence; `target` the function whose compilation gave it."""

    finding: Finding
    verdict: str
    evidence: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class _Span:
    """A finding's place: real path, its lines, those of its statement, those of the `if` or `while` it tests, those of the
    function around it."""

    path: str
    lines: range
    statement: range
    block: range
    function: range

    def holds(self, place: Place | None) -> bool:
        """Is a place in the finding's lines, or at another line of a statement over several?"""
        if place is None or place.path != self.path:
            return False
        return place.line in self.lines or place.line in self.statement

    def is_around(self, place: Place | None) -> bool:
        return place is not None and place.path == self.path and place.line in self.function


def judge(
    findings: Iterable[Finding],
    targets: Sequence[TargetReport],
    trainings: Sequence[TrainingReport],
    folder: Path,
    recompiles: Sequence[Recompiles] = (),
) -> list[Verdict]:
    """One verdict per finding, in the order given. `folder` is where relative paths count from."""
    return [
        _by_compilations(finding, targets, trainings, recompiles)
        if finding.code.startswith(plan.ABOUT_DRIVERS) and finding.cell is None
        else _judge(finding, _span_of(finding, folder), targets, trainings)
        for finding in findings
    ]


def unclaimed(
    judged: Sequence[Verdict], targets: Sequence[TargetReport], folder: Path
) -> list[tuple[TargetReport, Failure]]:
    """The failures of targets that no finding foretold: at none of their lines, and no verdict rests on them."""
    claims = [(one.finding, _span_of(one.finding, folder)) for one in judged]
    rested_on = {one.target for one in judged if one.verdict == CONFIRMED}
    found: dict[tuple[object, ...], tuple[TargetReport, Failure]] = {}
    for target in targets:
        for failure in target.failures:
            claimed = any(
                _is_told_by(failure, span) or _is_raised_within(failure, finding, span)
                for finding, span in claims
            )
            claimed |= failure.kind in ("numbers", "crash") and target.function in rested_on
            if failure.stage != EAGER and not claimed:
                found.setdefault((failure.kind, failure.op, failure.place), (target, failure))
    return list(found.values())


def _is_told_by(failure: Failure, span: _Span) -> bool:
    if span.holds(failure.place) or span.holds(failure.called_from):
        return True
    # Differing numbers and crashes are known by function only.
    return failure.kind in ("numbers", "crash") and span.is_around(failure.place)


def _span_of(finding: Finding, folder: Path) -> _Span:
    path = Path(folder, finding.path).resolve()
    lines = range(finding.span.line, finding.span.end_line + 1)
    first, last = plan.statement_around(path, finding.span.line)
    function = plan.function_around(path, finding.span.line) or (1, 10**9)
    block = plan.block_around(path, finding.span.line)
    return _Span(
        str(path),
        lines,
        range(first, max(last, finding.span.end_line) + 1),
        range(block[0], block[1] + 1),
        range(function[0], function[1] + 1),
    )


def _judge(
    finding: Finding,
    span: _Span,
    targets: Sequence[TargetReport],
    trainings: Sequence[TrainingReport],
) -> Verdict:
    told = [(failure, target) for failure, target in _failures(targets) if failure.stage != EAGER]
    told += [(one.failure, "training") for one in trainings if one.failure is not None]
    if finding.cell is not None:
        return Verdict(finding, NOT_REACHED, _why_not(finding, span, targets))
    for failure, target in told:
        at_span = span.holds(failure.place) or span.holds(failure.called_from)
        if (at_span and _bears_out(failure, finding)) or _is_raised_within(failure, finding, span):
            return Verdict(finding, CONFIRMED, _told(failure), target)
    if finding.code == "XLA404" and _ABOUT_TPU in finding.message:
        return _by_tpu(finding, span, targets)
    shown = _shown_by_program(finding, span, targets)
    if shown is not None:
        return shown
    return _by_function(finding, span, targets)


def _by_compilations(
    finding: Finding,
    targets: Sequence[TargetReport],
    trainings: Sequence[TrainingReport],
    recompiles: Sequence[Recompiles],
) -> Verdict:
    """A claim about compiling again: several compilations bear it out where what it names had changed, or the data
    bring that; one compilation says nothing of runs that are longer."""
    function, count = times_compiled(finding, targets, trainings)
    if not count:
        return Verdict(finding, NOT_REACHED, f"nothing that was run compiled {function or 'it'}")
    told = f"XLA compiled {function} {'once' if count == 1 else f'{count} times'} in the run"
    seen = cause_seen(finding, recompiles)
    if seen:
        return Verdict(finding, CONFIRMED, f"{told}; {seen}", function)
    if ruled_out := is_ruled_out(finding, recompiles):
        return Verdict(finding, REFUTED, f"{told}; {ruled_out}", function)
    if other := other_cause(finding, recompiles):
        return Verdict(finding, NOT_REACHED, f"{told}, for other reasons: {other}", function)
    if count > 1:
        return Verdict(finding, CONFIRMED, told, function)
    evidence = f"{told}: it did not come to a batch or a value that is different"
    return Verdict(finding, NOT_REACHED, evidence, function)


def _is_raised_within(failure: Failure, finding: Finding, span: _Span) -> bool:
    """Did tracing run into a `raise` in an arm of the `if`, or get stuck in the body of the `while`, of the finding?"""
    place = failure.place
    if place is None or place.path != span.path or place.line not in span.block:
        return False
    if failure.stage != TRACE or finding.severity is not Severity.ERROR:
        return False
    if finding.code == "XLA102":
        return failure.kind in ("python", "symbolic")
    is_raise = linecache.getline(place.path, place.line).lstrip().startswith("raise")
    return finding.code == "XLA106" and failure.kind == "python" and is_raise


def _bears_out(failure: Failure, finding: Finding) -> bool:
    return failure.kind in _BORNE_OUT_BY.get(finding.code, {failure.kind})


def _by_tpu(finding: Finding, span: _Span, targets: Sequence[TargetReport]) -> Verdict:
    """A claim about what TPUs make of a dtype: theirs alone is the word that counts."""
    is_setting = finding.function == _MODULE_LEVEL
    reached = [target for target in targets if is_setting or _executed(span, target)]
    asked = [(target, one) for target in reached for one in target.tpu if one.status == COMPILES]
    for target, one in asked:
        for emulated in one.emulated:
            is_here = emulated.path == span.path and emulated.line in span.statement
            if is_here or (is_setting and emulated.dtype == "f64"):
                told = f"{one.target} emulates {emulated.dtype} in {emulated.instructions} instructions"
                return Verdict(finding, CONFIRMED, told, target.function)
    if asked:
        target, one = asked[0]
        told = f"{one.target} compiles {target.function}, and has no 64-bit arrays made here"
        return Verdict(finding, REFUTED, told, target.function)
    if not reached:
        return Verdict(finding, NOT_REACHED, _why_not(finding, span, targets))
    told = "only a TPU's compiler can say: name a TPU, as in --target tpu-v5e"
    return Verdict(finding, NOT_REACHED, told, reached[0].function)


def _shown_by_program(
    finding: Finding, span: _Span, targets: Sequence[TargetReport]
) -> Verdict | None:
    """What a compiled program shows of a claim that is no failure: a cond, bounded dimensions, values baked in."""
    for target in targets:
        ops = {
            op
            for line, types in target.evidence.ops.get(span.path, {}).items()
            if int(line) in span.statement
            for op in types
        }
        bounded = [
            line for line in target.evidence.bounded.get(span.path, []) if line in span.statement
        ]
        evidence = _price(finding, span, target, ops, bounded)
        if evidence:
            return Verdict(finding, CONFIRMED, evidence, target.function)
    return None


def _price(
    finding: Finding, span: _Span, target: TargetReport, ops: set[str], bounded: list[int]
) -> str:
    family = finding.code[:6]
    claims_failure = finding.severity is Severity.ERROR
    if family == "XLA101" and not claims_failure and ops & _CONDITIONALS:
        return f"the graph holds {_listed(ops & _CONDITIONALS)} made here"
    if family == "XLA102" and not claims_failure and ops & _LOOPS:
        return f"the graph holds {_listed(ops & _LOOPS)} made here"
    if family in ("XLA201", "XLA202") and bounded:
        return f"XLA's program has dimensions known only when it runs, made in line {bounded[0]}"
    has_bounds = bool(target.evidence.bounded) or _failed_to_compile(target)
    if family in ("XLA201", "XLA202") and ops & _PRODUCERS and has_bounds:
        return f"the graph holds {_listed(ops & _PRODUCERS)} made here"
    if family == "XLA203" and target.evidence.compiled_per_value and _executed(span, target):
        return (
            f"XLA compiles again for each value of {', '.join(target.evidence.compiled_per_value)}"
        )
    if family == "XLA402" and ops & _HOST_OPS:
        return f"the step holds {_listed(ops & _HOST_OPS)} made here, which only a host can run"
    return ""


def _by_function(finding: Finding, span: _Span, targets: Sequence[TargetReport]) -> Verdict:
    """No failure at the line itself: was it executed in a program that compiled, ran and agreed?"""
    reached = [target for target in targets if _executed(span, target)]
    # The smallest program says most: a helper's own before the whole step's.
    reached.sort(key=lambda target: len(target.evidence.executed.get(span.path, [])))
    for target in reached:
        failed = [one for one in target.failures if one.kind in ("numbers", "crash")]
        if failed and target.inputs and not _bears_out(failed[0], finding):
            continue  # with made-up inputs, numbers that differ are no proof of another claim
        if failed:
            return Verdict(
                finding, CONFIRMED, f"{target.function}: {failed[0].message}", target.function
            )
    if finding.code == "XLA103":
        for target in reached:
            of_gradient = [one for one in target.failures if one.stage == GRADIENT]
            if of_gradient:
                return Verdict(finding, CONFIRMED, _told(of_gradient[0]), target.function)
    if finding.code == "XLA407":
        return _by_gradient(finding, reached, span, targets)
    for target in reached:
        if _is_clean(target) and _is_conditional(finding):
            evidence = f"{target.function} compiles with the arguments of this run"
            return Verdict(finding, NOT_REACHED, evidence, target.function)
        if _is_clean(target) and target.is_special:
            evidence = f"{target.function} compiles with plain Python values where tensors are expected ({target.inputs})"
            return Verdict(finding, NOT_REACHED, evidence, target.function)
        if _is_clean(target):
            return Verdict(finding, REFUTED, _clean(target), target.function)
    for target in reached:
        if _passed(target, LOWER) and not target.failures and target.stage(EAGER) is None:
            if finding.code in _ABOUT_NUMBERS:
                evidence = f"{target.function} compiles, but no values were seen to compare its numbers with"
                return Verdict(finding, NOT_REACHED, evidence, target.function)
            return Verdict(
                finding,
                REFUTED,
                f"{target.function} compiles for its shapes; no values to run it with",
                target.function,
            )
    if reached:
        first = reached[0].failures[0] if reached[0].failures else None
        why = f": {_told(first)}" if first else ""
        return Verdict(
            finding, NOT_REACHED, f"{reached[0].function} fails elsewhere{why}", reached[0].function
        )
    return Verdict(finding, NOT_REACHED, _why_not(finding, span, targets))


def _by_gradient(
    finding: Finding, reached: Sequence[TargetReport], span: _Span, targets: Sequence[TargetReport]
) -> Verdict:
    """A claim about a gradient: that the function itself compiles says nothing of it."""
    for target in reached:
        stage = target.stage(GRADIENT)
        if stage is not None and stage.status == OK:
            evidence = f"the gradient of {target.function} compiles"
            return Verdict(finding, REFUTED, evidence, target.function)
    if reached:
        evidence = f"{reached[0].function}: no gradient was compiled through it"
        return Verdict(finding, NOT_REACHED, evidence, reached[0].function)
    return Verdict(finding, NOT_REACHED, _why_not(finding, span, targets))


def _why_not(finding: Finding, span: _Span, targets: Sequence[TargetReport]) -> str:
    if finding.code.startswith(plan.ABOUT_TPUS):
        return "a claim about TPUs, which a CPU cannot judge"
    if finding.cell is not None:
        return "in a notebook, which verify does not run"
    stopped = [
        failure
        for failure, _ in _failures(targets)
        if failure.stage == TRACE and span.is_around(failure.place) and failure.place is not None
    ]
    if stopped and stopped[0].place is not None:
        return f"tracing stopped before it, in line {stopped[0].place.line}"
    dead = [
        failure
        for failure, _ in _failures(targets)
        if failure.kind == "crash" and span.is_around(failure.place)
    ]
    if dead:
        return f"no verdict: {dead[0].message}"
    if alone := _alone(span, targets):
        return alone
    if not targets:
        return "nothing was run that could call it"
    return (
        f"nothing that was run calls {finding.function}"
        if finding.function != "<module>"
        else "nothing traced it"
    )


def _alone(span: _Span, targets: Sequence[TargetReport]) -> str:
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
        return f"{failed[0].function} fails elsewhere: {_told(failed[0].failures[0])}"
    if own:
        return f"line {span.lines.start} does not run with the {own[0].inputs or 'inputs that were tried'}"
    return ""


def _failures(targets: Sequence[TargetReport]) -> list[tuple[Failure, str]]:
    return [(failure, target.function) for target in targets for failure in target.failures]


def _executed(span: _Span, target: TargetReport) -> bool:
    lines = {*target.evidence.executed.get(span.path, [])}
    lines |= {int(line) for line in target.evidence.ops.get(span.path, {})}
    return any(line in span.statement for line in lines)


def _passed(target: TargetReport, name: str) -> bool:
    stage = target.stage(name)
    return stage is not None and stage.status not in (FAILED, "skipped")


def _failed_to_compile(target: TargetReport) -> bool:
    return not _passed(target, LOWER)


def _is_clean(target: TargetReport) -> bool:
    return (
        _passed(target, LOWER)
        and _passed(target, RUN)
        and not any(
            failure.stage in (EAGER, TRACE, LOWER, RUN, NUMBERS) for failure in target.failures
        )
    )


def _is_conditional(finding: Finding) -> bool:
    """Is it a claim about some values of arguments, which a run with others does not refute?"""
    if finding.code in _ABOUT_OTHER_VALUES:
        return True
    return finding.severity is not Severity.ERROR and finding.code not in _SEEN_IN_PROGRAM


def _clean(target: TargetReport) -> str:
    numbers = target.stage(NUMBERS)
    agrees = numbers is not None and numbers.status == OK
    told = f"{target.function} compiles and runs" + (" and agrees with eager" if agrees else "")
    return f"{told}, with {target.inputs}" if target.inputs else told


def _told(failure: Failure) -> str:
    return f"{failure.stage}: {failure.message}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
