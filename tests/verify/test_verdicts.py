"""Which evidence confirms or refutes which claim."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.verify.records import Evidence, Failure, Place, Stage, TargetReport, TrainingReport
from xlalint.verify.verdicts import CONFIRMED, NOT_REACHED, REFUTED, Verdict, judge, unclaimed

SOURCE = """\
def step(x, n):
    if x.sum() > 0:
        x = x * 2
    y = x[x > 0]
    z = tf.tile(
        x,
        [n],
    )
    return y, z


def other(x):
    return x
"""


@pytest.fixture
def folder(write: WriteFiles) -> Path:
    return write({"m.py": SOURCE})


def finding(code: str, line: int, severity: str = "error") -> Finding:
    span = Span(line, 5, line, 9)
    return Finding(code, "x", Severity(severity), "m.py", span, "", "step", Region("compiled"), "")


def target(
    folder: Path,
    *failures: Failure,
    failed: str = "",
    executed: tuple[int, ...] = (2, 3, 4, 5, 9),
    ops: dict[int, list[str]] | None = None,
    bounded: tuple[int, ...] = (),
    per_value: list[str] | None = None,
    function: str = "step",
) -> TargetReport:
    """A report whose stages pass up to `failed`, at which they stop."""
    path = str(folder / "m.py")
    stages = []
    for name in ("eager", "trace", "lower", "run", "numbers"):
        stages.append(Stage(name, "failed" if name == failed else "ok"))
        if name == failed and failed != "numbers":
            break
    evidence = Evidence(
        executed={path: list(executed)},
        ops={path: {str(line): types for line, types in (ops or {}).items()}},
        bounded={path: list(bounded)} if bounded else {},
        compiled_per_value=per_value,
    )
    status = "failed" if failed else "ok"
    return TargetReport("id", function, path, 1, "plain", status, tuple(stages), failures, evidence)


def failure(folder: Path, line: int, kind: str, stage: str = "trace") -> Failure:
    return Failure(
        stage, kind, f"{kind} in line {line}", place=Place(str(folder / "m.py"), line, 8, "step")
    )


def one(folder: Path, claim: Finding, *targets: TargetReport) -> Verdict:
    (verdict,) = judge([claim], targets, [], folder)
    return verdict


def test_a_failure_in_the_line_of_a_claim_confirms_it(folder: Path) -> None:
    told = target(folder, failure(folder, 2, "symbolic"), failed="trace", executed=(2,))
    verdict = one(folder, finding("XLA101", 2), told)
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, "trace: symbolic in line 2")
    assert verdict.target == "step"


RAISES = """\
def step(x):
    if x.sum() > 0:
        y = x
        raise ValueError("too large")
    while True:
        if x > 1:
            return x
        x = x + 1
"""


@pytest.mark.parametrize(
    ("code", "claimed", "failed", "severity", "verdict"),
    [
        ("XLA106", 2, 4, "error", CONFIRMED),
        ("XLA106", 2, 3, "error", NOT_REACHED),
        ("XLA106", 2, 4, "warning", NOT_REACHED),
        ("XLA102", 5, 7, "error", CONFIRMED),
        ("XLA105", 5, 7, "error", NOT_REACHED),
    ],
)
def test_a_raise_under_a_condition_is_the_conditions_fault(
    code: str, claimed: int, failed: int, severity: str, verdict: str, write: WriteFiles
) -> None:
    folder = write({"m.py": RAISES})
    told = target(folder, failure(folder, failed, "python"), failed="trace", executed=(2,))
    assert one(folder, finding(code, claimed, severity), told).verdict == verdict


def test_a_failure_of_another_kind_in_that_line_does_not(folder: Path) -> None:
    told = target(folder, failure(folder, 4, "no-kernel", "lower"), failed="lower")
    assert one(folder, finding("XLA105", 4), told).verdict == NOT_REACHED


def test_a_failure_of_eager_code_says_nothing_of_xla(folder: Path) -> None:
    told = target(folder, failure(folder, 2, "symbolic", "eager"), failed="eager", executed=())
    assert one(folder, finding("XLA101", 2), told).verdict == NOT_REACHED


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_a_line_that_compiles_runs_and_agrees_refutes_a_claim(folder: Path, severity: str) -> None:
    verdict = one(folder, finding("XLA105", 2, severity), target(folder))
    assert (verdict.verdict, verdict.evidence) == (
        REFUTED,
        "step compiles and runs and agrees with eager",
    )


@pytest.mark.parametrize("code", ["XLA103", "XLA106", "XLA107", "XLA401", "XLA405"])
def test_a_warning_about_other_arguments_or_later_calls_is_not_refuted(
    folder: Path, code: str
) -> None:
    verdict = one(folder, finding(code, 2, "warning"), target(folder))
    assert (verdict.verdict, verdict.evidence) == (
        NOT_REACHED,
        "step compiles with the arguments of this run",
    )
    assert one(folder, finding(code, 2, "error"), target(folder)).verdict == REFUTED


def test_a_claim_on_a_later_line_of_a_statement_is_reached_with_it(folder: Path) -> None:
    assert one(folder, finding("XLA203", 7), target(folder)).verdict == REFUTED


def test_tracing_that_stops_before_a_line_leaves_it_unjudged(folder: Path) -> None:
    told = target(folder, failure(folder, 2, "symbolic"), failed="trace", executed=(2,))
    verdict = one(folder, finding("XLA401", 5), told)
    assert (verdict.verdict, verdict.evidence) == (
        NOT_REACHED,
        "tracing stopped before it, in line 2",
    )


def test_a_function_that_nothing_calls_is_not_reached(folder: Path) -> None:
    verdict = one(folder, finding("XLA101", 2), target(folder, executed=(13,), function="other"))
    assert (verdict.verdict, verdict.evidence) == (NOT_REACHED, "nothing that was run calls step")
    assert one(folder, finding("XLA101", 2)).evidence == "nothing was run that could call it"


SHOWN = [
    ("XLA101", 2, {"ops": {2: ["Sum", "StatelessIf"]}}, "the graph holds StatelessIf made here"),
    ("XLA102", 2, {"ops": {2: ["StatelessWhile"]}}, "the graph holds StatelessWhile made here"),
    (
        "XLA201",
        4,
        {"bounded": (4,)},
        "XLA's program has dimensions known only when it runs, made in line 4",
    ),
    (
        "XLA202",
        4,
        {"bounded": (4,)},
        "XLA's program has dimensions known only when it runs, made in line 4",
    ),
    ("XLA203", 7, {"per_value": ["n"]}, "XLA compiles again for each value of n"),
    (
        "XLA402",
        4,
        {"ops": {4: ["PrintV2"]}},
        "the step holds PrintV2 made here, which only a host can run",
    ),
]


@pytest.mark.parametrize(
    ("code", "line", "shown", "evidence"), SHOWN, ids=[row[0] for row in SHOWN]
)
def test_a_price_is_confirmed_by_the_compiled_program(
    code: str, line: int, shown: dict[str, object], evidence: str, folder: Path
) -> None:
    verdict = one(folder, finding(code, line, "warning"), target(folder, **shown))  # type: ignore[arg-type]
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, evidence)
    assert one(folder, finding(code, line, "warning"), target(folder)).verdict == REFUTED


def test_a_branch_that_becomes_a_cond_does_not_confirm_that_it_fails(folder: Path) -> None:
    verdict = one(folder, finding("XLA101", 2, "error"), target(folder, ops={2: ["StatelessIf"]}))
    assert verdict.verdict == REFUTED


def test_differing_numbers_confirm_what_is_claimed_of_the_function(folder: Path) -> None:
    differs = Failure(
        "numbers", "numbers", "output 0 differs", place=Place(str(folder / "m.py"), 1)
    )
    told = target(folder, differs, failed="numbers")
    verdict = one(folder, finding("XLA204", 4), told)
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, "step: output 0 differs")


def test_the_smallest_program_that_reaches_a_line_judges_it(folder: Path) -> None:
    differs = Failure("numbers", "numbers", "differs", place=Place(str(folder / "m.py"), 12))
    whole = target(folder, failed="", executed=(2, 3, 4, 5, 9, 13), function="whole")
    helper = target(folder, differs, failed="numbers", executed=(13,), function="other")
    verdict = one(folder, finding("XLA204", 13), whole, helper)
    assert (verdict.verdict, verdict.target) == (CONFIRMED, "other")


def test_a_failure_of_the_training_itself_confirms_too(folder: Path) -> None:
    ran = TrainingReport("tpu", 8, "failed", 0, failure=failure(folder, 4, "no-kernel", "script"))
    (verdict,) = judge([finding("XLA401", 4)], [], [ran], folder)
    assert (verdict.verdict, verdict.target) == (CONFIRMED, "training")


def test_failures_that_no_finding_foretold_are_listed_once(folder: Path) -> None:
    missed, foretold = failure(folder, 5, "not-constant", "lower"), failure(folder, 2, "symbolic")
    targets = [
        target(folder, missed, foretold, failed="lower"),
        target(folder, missed, failed="lower"),
    ]
    found = unclaimed(judge([finding("XLA101", 2)], targets, [], folder), targets, folder)
    assert [one.message for _, one in found] == ["not-constant in line 5"]


def compiled(folder: Path, code: str, times: int, why: tuple[str, ...] = ("step",)) -> Verdict:
    """The verdict on a claim about compiling again, made of driver code, after `step` was compiled so many times."""
    claim = dataclasses.replace(finding(code, 12, "warning"), region=Region("eager", why))
    ran = dataclasses.replace(target(folder), compiles=times)
    return one(folder, claim, ran)


@pytest.mark.parametrize("code", ["XLA301", "XLA302", "XLA303", "XLA304", "XLA305"])
def test_a_claim_about_compiling_again_is_judged_by_counting(folder: Path, code: str) -> None:
    confirmed = compiled(folder, code, times=3)
    assert confirmed.verdict == CONFIRMED
    assert confirmed.evidence == "XLA compiled step 3 times in the run"
    # A longer run may yet come to the last batch.
    assert compiled(folder, code, times=1).verdict == NOT_REACHED
    assert compiled(folder, code, times=3, why=("other",)).verdict == NOT_REACHED


def test_what_keras_compiles_for_fit_is_counted_under_its_own_name(folder: Path) -> None:
    claim = dataclasses.replace(finding("XLA301", 12, "warning"), region=Region("eager", ("fit",)))
    ran = TrainingReport("as it is", 1, "stopped", 5, compiles={"one_step_on_data": 2})
    (verdict,) = judge([claim], [], [ran], folder)
    assert (verdict.verdict, verdict.target) == (CONFIRMED, "one_step_on_data")


def test_a_claim_about_a_gradient_is_refuted_by_a_gradient_alone(folder: Path) -> None:
    forward = target(folder)
    assert one(folder, finding("XLA407", 3), forward).verdict == NOT_REACHED
    backward = dataclasses.replace(forward, stages=(*forward.stages, Stage("gradient", "ok")))
    assert one(folder, finding("XLA407", 3), backward).verdict == REFUTED


@pytest.mark.parametrize("code", ["XLA406", "XLA408"])
def test_a_claim_about_other_values_is_not_refuted_by_these(folder: Path, code: str) -> None:
    assert one(folder, finding(code, 3, "info"), target(folder)).verdict == NOT_REACHED
