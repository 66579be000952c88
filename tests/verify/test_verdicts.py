"""Which evidence confirms or refutes which claim."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.tpu.outcome import Outcome
from xlalint.tpu.program import Waste
from xlalint.verify.reconciling import reconciled
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


def finding(
    code: str,
    line: int,
    severity: str = "error",
    variant: str = "",
    message: str = "",
    columns: tuple[int, int] = (5, 9),
) -> Finding:
    span = Span(line, columns[0], line, columns[1])
    return Finding(
        code, "x", Severity(severity), "m.py", span, message, "step", Region("compiled"), "", variant=variant
    )  # fmt: skip


def target(
    folder: Path,
    *failures: Failure,
    failed: str = "",
    executed: tuple[int, ...] = (2, 3, 4, 5, 9),
    ops: dict[int, list[str]] | None = None,
    needed: dict[int, list[str]] | None = None,
    bounded: tuple[int, ...] = (),
    per_value: list[str] | None = None,
    differentiated: tuple[int, ...] = (),
    kept_part: tuple[int, ...] = (),
    kept_all: tuple[int, ...] = (),
    uniform: bool = False,
    differs: dict[int, str] | None = None,
    function: str = "step",
    line: int = 1,
    origin: str = "tf.function",
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
        needed={path: {str(line): types for line, types in (needed or ops or {}).items()}},
        bounded={path: list(bounded)} if bounded else {},
        compiled_per_value=per_value,
        differentiated={path: list(differentiated)},
        kept_part={path: list(kept_part)},
        kept_all={path: list(kept_all)},
        is_uniform=uniform,
        differs={path: {str(at): what for at, what in (differs or {}).items()}},
    )
    status = "failed" if failed else "ok"
    return TargetReport(
        "id", function, path, line, origin, status, tuple(stages), failures, evidence
    )


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


@pytest.mark.parametrize(("made", "confirmed"), [(2, [3]), (3, [3]), (4, [5]), (6, [5]), (11, [])])
def test_of_several_places_that_let_a_tensor_out_the_nearest_is_confirmed(
    made: int, confirmed: list[int], folder: Path
) -> None:
    place = Place(str(folder / "m.py"), made)
    leak = Failure("trace", "out-of-reach", "is out of scope", place=place, frames=(place,))
    claims = [finding("XLA107", 3), finding("XLA107", 5), finding("XLA105", made)]
    verdicts = judge(claims, [target(folder, leak, failed="trace")], [], folder)
    lines = [one.finding.span.line for one in verdicts if one.verdict == CONFIRMED]
    assert lines == confirmed


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


GONE = "`{}` is gone from the TensorFlow and Keras that this code runs with"
FILE_NAME = "`Model.save` is given `model`: Keras 3, which wants a file that ends in `.keras` or `.h5`, raises a ValueError"
REFUSED = "`tf.matmul` is called with what `keras.Input` stands for, and Keras 3 refuses that"


@pytest.mark.parametrize(
    ("variant", "claim", "error", "verdict"),
    [
        ("gone", GONE.format("lr"), "Argument(s) not recognized: {'lr': 0.01}", CONFIRMED),
        ("gone", GONE.format("tf.contrib.opt"), "module has no attribute 'contrib'", NOT_REACHED),
        ("gone", GONE.format("fit_generator"), "no attribute 'fit_generator'", CONFIRMED),
        ("file-name", FILE_NAME, "Please add either a `.keras` extension", CONFIRMED),
        ("file-name", FILE_NAME, "unexpected keyword argument 'save_format'", NOT_REACHED),
        ("refused", REFUSED, "A KerasTensor cannot be used as input", CONFIRMED),
    ],
)
def test_what_is_gone_is_confirmed_by_an_error_that_speaks_of_it(
    variant: str, claim: str, error: str, verdict: str, folder: Path
) -> None:
    place = Place(str(folder / "m.py"), 4, 1, "<module>")
    ran = TrainingReport(
        "as it is", 1, "failed", 0, failure=Failure("script", "python", error, place=place)
    )
    told = finding("XLA504", 4, variant=variant, message=claim)
    assert [one.verdict for one in judge([told], [], [ran], folder)] == [verdict]


def test_what_a_program_did_not_come_to_is_told_with_the_line_in_which_it_ended(
    folder: Path,
) -> None:
    place = Place(str(folder / "m.py"), 2, 1, "<module>")
    ran = TrainingReport(
        "as it is", 1, "failed", 0, failure=Failure("script", "python", "no", place=place)
    )
    told = dataclasses.replace(
        finding("XLA504", 4, variant="gone", message=GONE.format("lr")), function="<module>"
    )
    (verdict,) = judge([told], [], [ran], folder)
    assert verdict.evidence == "the program ended before it, in line 2"


@pytest.mark.parametrize("code", ["XLA201", "XLA504"])
def test_a_module_that_cannot_be_imported_is_why_its_findings_are_not_reached(
    code: str, folder: Path
) -> None:
    broken = {str(folder / "m.py"): "its module could not be run: no such library"}
    (verdict,) = judge([finding(code, 4)], [], [], folder, broken=broken)
    assert (verdict.verdict, verdict.evidence) == (NOT_REACHED, broken[str(folder / "m.py")])


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("XLA502", "a claim about TPUs, which a CPU cannot judge"),
        ("XLA506", "a claim about packages that do not go together, which installing them shows"),
        ("XLA602", "a claim about training and its input, which no compiler judges"),
    ],
)
def test_what_no_compiler_judges_is_said_to_be_so(code: str, why: str, folder: Path) -> None:
    verdict = one(folder, finding(code, 9), target(folder, executed=()))
    assert (verdict.verdict, verdict.evidence) == (NOT_REACHED, why)


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


@pytest.mark.parametrize("code", ["XLA401", "XLA403", "XLA405"])
def test_a_warning_about_other_arguments_is_not_refuted(folder: Path, code: str) -> None:
    verdict = one(folder, finding(code, 2, "warning"), target(folder))
    assert (verdict.verdict, verdict.evidence) == (
        NOT_REACHED,
        "step compiles with the arguments of this run",
    )


@pytest.mark.parametrize("severity", ["warning", "error"])
def test_what_a_run_says_nothing_of_is_not_refuted(folder: Path, severity: str) -> None:
    verdict = one(folder, finding("XLA107", 2, severity), target(folder))
    assert (verdict.verdict, verdict.evidence) == (
        NOT_REACHED,
        "step compiles, which says nothing of later calls",
    )


NEEDS_DET = "`tf.linalg.det` needs MatrixDeterminant, which XLA has no kernel for: the function does not compile"
KERNELS: list[tuple[str, dict[int, list[str]], str, str]] = [
    (
        "the operation itself is in a program that compiled",
        {4: ["MatrixDeterminant"]},
        REFUTED,
        "MatrixDeterminant is in the program, and step compiles and runs and agrees with eager",
    ),
    (
        "the call makes another operation",
        {4: ["Mul"]},
        REFUTED,
        "in this run it makes Mul, and step compiles and runs and agrees with eager",
    ),
    (
        "nothing needs the result",
        {},
        NOT_REACHED,
        "step compiles, but nothing that it returns needs this call",
    ),
    (
        "constants only",
        {4: ["Const"]},
        NOT_REACHED,
        "step compiles, but nothing that it returns needs this call",
    ),
]


@pytest.mark.parametrize(("ops", "verdict", "evidence"), [row[1:] for row in KERNELS], ids=[row[0] for row in KERNELS])  # fmt: skip
def test_a_missing_kernel_is_refuted_by_a_program_that_holds_the_call(
    ops: dict[int, list[str]], verdict: str, evidence: str, folder: Path
) -> None:
    claim = finding("XLA401", 4, message=NEEDS_DET)
    judged = one(folder, claim, target(folder, ops=ops))
    assert (judged.verdict, judged.evidence) == (verdict, evidence)


CONDITIONAL = """\
def step(x, flag):
    a = tf.linalg.det(x) if flag else x
    b = flag and tf.linalg.det(x)
    c = lambda: tf.linalg.det(x)
    d = [tf.linalg.det(i) for i in flag]
    if flag: e = tf.linalg.det(x)
    return tf.linalg.det(x)
"""


@pytest.mark.parametrize("line", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("code", ["XLA101", "XLA105", "XLA203", "XLA401"])
def test_a_line_that_ran_without_the_flagged_part_refutes_nothing(
    line: int, code: str, write: WriteFiles
) -> None:
    folder = write({"m.py": CONDITIONAL})
    start = CONDITIONAL.splitlines()[line - 1].index("tf.linalg") + 1
    claim = finding(code, line, message=NEEDS_DET, columns=(start, start + 16))
    ran = target(folder, executed=(line,), ops={line: ["Mul"]})
    assert one(folder, claim, ran).verdict == (REFUTED if line == 7 else NOT_REACHED)


def test_a_claim_on_a_later_line_of_a_statement_is_reached_with_it(folder: Path) -> None:
    assert one(folder, finding("XLA203", 7), target(folder, ops={5: ["Tile"]})).verdict == REFUTED


def test_a_size_that_nothing_needs_is_not_judged(folder: Path) -> None:
    assert one(folder, finding("XLA203", 7), target(folder)).verdict == NOT_REACHED


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


NESTED = """\
def outer(x):
    def inner(y):
        return tf.linalg.det(y)
    return x
"""


def test_the_def_of_a_nested_function_is_no_call_of_it(write: WriteFiles) -> None:
    folder = write({"m.py": NESTED})
    verdict = one(folder, finding("XLA401", 3), target(folder, executed=(2, 4), function="outer"))
    assert verdict.verdict == NOT_REACHED
    assert verdict.evidence.startswith("nothing that was run calls ")
    begun = target(folder, executed=(2, 3, 4), function="outer")
    assert not one(folder, finding("XLA401", 3), begun).evidence.startswith("nothing")


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
        "the graph holds PrintV2 made here, which only a host can run",
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
    # Where something else is made in that line, and its sizes and values are known, the claim is wrong.
    other = one(folder, finding(code, line, "warning"), target(folder, ops={line: ["Mul"]}))
    assert other.verdict == (NOT_REACHED if code == "XLA402" else REFUTED)


def test_a_branch_that_becomes_a_cond_does_not_confirm_that_it_fails(folder: Path) -> None:
    verdict = one(folder, finding("XLA101", 2, "error"), target(folder, ops={2: ["StatelessIf"]}))
    assert verdict.verdict == REFUTED


def numbers(folder: Path, line: int) -> Failure:
    place = Place(str(folder / "m.py"), line)
    return Failure("numbers", "numbers", "output 0 differs", place=place)


def test_numbers_that_differ_in_the_line_of_a_claim_confirm_it(folder: Path) -> None:
    told = target(folder, numbers(folder, 4), failed="numbers")
    verdict = one(folder, finding("XLA204", 4), told)
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, "numbers: output 0 differs")


def test_numbers_that_differ_somewhere_confirm_the_only_claim_about_them(folder: Path) -> None:
    told = target(folder, numbers(folder, 1), failed="numbers")
    verdict = one(folder, finding("XLA204", 4), told)
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, "step: output 0 differs")
    assert one(folder, finding("XLA401", 4), told).verdict != CONFIRMED
    written = finding("XLA107", 4, variant="dropped")
    assert one(folder, written, told).verdict == CONFIRMED
    assert one(folder, finding("XLA107", 4, variant="kept"), told).verdict != CONFIRMED


def test_numbers_that_differ_somewhere_leave_two_claims_open(folder: Path) -> None:
    told = target(folder, numbers(folder, 1), failed="numbers")
    first, second = judge([finding("XLA204", 3), finding("XLA204", 4)], [told], [], folder)
    assert (first.verdict, second.verdict) == (NOT_REACHED, NOT_REACHED)
    assert first.evidence == "step: output 0 differs, because of this or of line 4"


def test_numbers_that_differ_later_confirm_the_only_claim_before(folder: Path) -> None:
    told = target(folder, numbers(folder, 9), failed="numbers")
    verdict = one(folder, finding("XLA205", 4, variant="loses-rows"), told)
    assert (verdict.verdict, verdict.evidence) == (CONFIRMED, "step: output 0 differs")


def test_a_conditional_that_nothing_needs_is_one_nevertheless(folder: Path) -> None:
    ran = target(folder, ops={2: ["StatelessIf"]}, needed={2: []})
    assert one(folder, finding("XLA101", 2, "warning"), ran).verdict == CONFIRMED


def test_a_failure_in_the_line_of_an_unrelated_finding_is_a_miss(folder: Path) -> None:
    told = target(folder, failure(folder, 4, "not-constant", "lower"), failed="lower")
    judged = judge([finding("XLA406", 4, "info")], [told], [], folder)
    assert [one.message for _, one in unclaimed(judged, [told], folder)] == [
        "not-constant in line 4"
    ]


def test_a_line_after_that_at_which_numbers_differ_is_not_judged(folder: Path) -> None:
    told = target(folder, numbers(folder, 3), failed="numbers")
    verdict = one(folder, finding("XLA204", 4), told)
    assert (verdict.verdict, verdict.evidence) == (
        NOT_REACHED,
        "from line 3 on, step: output 0 differs",
    )


AGREES: list[tuple[str, dict[str, object], str]] = [
    ("part of the elements was kept", {"kept_part": (4,)}, REFUTED),
    ("every element was kept", {"kept_all": (4,)}, NOT_REACHED),
    ("one mask kept all", {"kept_part": (4,), "kept_all": (3,)}, NOT_REACHED),
    ("it is not known", {}, NOT_REACHED),
    ("the inputs are all ones", {"kept_part": (4,), "uniform": True}, NOT_REACHED),
    ("no size depends on data", {"kept_part": (4,), "bounded": ()}, NOT_REACHED),
    ("nothing needs it", {"kept_part": (4,), "ops": {}}, NOT_REACHED),
    ("it differs, unseen", {"kept_part": (4,), "differs": {4: "differs by 1"}}, CONFIRMED),
]


@pytest.mark.parametrize(("shown", "verdict"), [row[1:] for row in AGREES], ids=[row[0] for row in AGREES])  # fmt: skip
def test_numbers_that_agree_refute_where_the_data_could_have_shown_it(
    shown: dict[str, object], verdict: str, folder: Path
) -> None:
    ran = target(folder, **{"ops": {4: ["StridedSlice"]}, "bounded": (4,), **shown})  # type: ignore[arg-type]
    assert one(folder, finding("XLA204", 4), ran).verdict == verdict


def test_the_smallest_program_that_reaches_a_line_judges_it(folder: Path) -> None:
    differs = numbers(folder, 12)
    whole = target(folder, failed="", executed=(2, 3, 4, 5, 9, 13), function="whole")
    helper = target(
        folder, differs, failed="numbers", executed=(13,), function="other", line=12, origin="plain"
    )
    verdict = one(folder, finding("XLA204", 13), whole, helper)
    assert (verdict.verdict, verdict.target) == (CONFIRMED, "other")


TWO_CALLS = """\
def step(x):
    return (
        tf.linalg.det(x),
        tf.math.bessel_i0(x),
    )
"""


def test_each_claim_of_a_statement_gets_the_failure_that_is_its_own(write: WriteFiles) -> None:
    folder = write({"m.py": TWO_CALLS})
    claims = [
        finding("XLA401", 3, message=NEEDS_DET, columns=(9, 25)),
        finding("XLA401", 4, message=NEEDS_DET.replace("MatrixDeterminant", "BesselI0"), columns=(9, 29)),
    ]  # fmt: skip
    path = str(folder / "m.py")
    only_one = Failure("lower", "no-kernel", "BesselI0", op="BesselI0", place=Place(path, 4, 9))
    det, bessel = judge(claims, [target(folder, only_one, failed="lower")], [], folder)
    assert (det.verdict, bessel.verdict) == (NOT_REACHED, CONFIRMED)


def test_a_failure_by_another_column_of_the_line_belongs_to_the_claim_there(folder: Path) -> None:
    claims = [finding("XLA203", 4, columns=(9, 13)), finding("XLA203", 4, columns=(20, 30))]
    path = str(folder / "m.py")
    failed = Failure("lower", "not-constant", "limit", op="Range", place=Place(path, 4, 20))
    first, second = judge(claims, [target(folder, failed, failed="lower")], [], folder)
    assert (first.verdict, second.verdict) == (NOT_REACHED, CONFIRMED)


def test_a_failure_in_the_forward_pass_does_not_confirm_a_claim_about_a_gradient(
    folder: Path,
) -> None:
    forward = target(folder, failure(folder, 3, "compiler", "lower"), failed="lower")
    assert one(folder, finding("XLA407", 3), forward).verdict == NOT_REACHED
    backward = target(folder, failure(folder, 3, "compiler", "gradient"))
    assert one(folder, finding("XLA407", 3), backward).verdict == CONFIRMED


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


def test_a_failure_told_where_it_goes_through_is_no_other_where_the_tape_asks(folder: Path) -> None:
    asked = failure(folder, 9, "gradient", "lower")
    through = dataclasses.replace(
        failure(folder, 4, "gradient", "lower"),
        message=f"{asked.message}, in the gradient of StatelessIf",
    )
    told = target(folder, asked, through, failed="lower")
    claim = finding("XLA407", 4, variant="empty-arm")
    judged = judge([claim], [told], [], folder)
    assert judged[0].verdict == CONFIRMED
    assert unclaimed(judged, [told], folder) == []
    assert len(unclaimed(judge([], [told], [], folder), [told], folder)) == 2


def test_an_operation_without_a_kernel_foretells_that_its_gradient_has_none(folder: Path) -> None:
    lowered = failure(folder, 4, "no-kernel", "lower")
    forward = dataclasses.replace(lowered, op="SparseSegmentMean")
    backward = dataclasses.replace(
        lowered,
        op="SparseSegmentMeanGrad",
        message="SparseSegmentMeanGrad has no XLA kernel, in the gradient of SparseSegmentMean",
    )
    told = target(folder, forward, backward, failed="lower")
    needs = "`x` makes sparse tensors of its columns ({}), and XLA has no kernels for these"
    ours = finding("XLA405", 4, message=needs.format("SparseSegmentMean"))
    assert unclaimed(judge([ours], [told], [], folder), [told], folder) == []
    other = finding("XLA405", 4, message=needs.format("SparseReshape"))
    assert len(unclaimed(judge([other], [told], [], folder), [told], folder)) == 2


def test_a_layer_that_a_model_is_given_by_its_name_fails_where_it_was_made(
    write: WriteFiles,
) -> None:
    source = "features = DenseFeatures(columns)\nothers = Dense(1)\nmodel = Sequential([features, others])\n"
    folder = write({"m.py": source})
    makes = "`features` makes sparse tensors of its columns (SparseReshape), and XLA has no kernels for these"
    claim = finding("XLA405", 3, message=makes, columns=(21, 29))
    own = dataclasses.replace(failure(folder, 1, "no-kernel", "lower"), op="SparseReshape")
    beside = dataclasses.replace(failure(folder, 2, "no-kernel", "lower"), op="SparseReshape")
    told = target(folder, own, failed="lower")
    judged = judge([claim], [told], [], folder)
    assert judged[0].verdict == CONFIRMED
    assert unclaimed(judged, [told], folder) == []
    elsewhere = target(folder, beside, failed="lower")
    judged = judge([claim], [elsewhere], [], folder)
    assert judged[0].verdict != CONFIRMED
    assert len(unclaimed(judged, [elsewhere], folder)) == 1


def test_a_finding_told_once_for_several_sizes_foretells_each(folder: Path) -> None:
    told = target(folder, failure(folder, 5, "not-constant", "lower"), failed="lower")
    folded = finding("XLA203", 2, message="`n` comes from data, like 1 more size of this function")
    assert unclaimed(judge([folded], [told], [], folder), [told], folder) == []
    alone = finding("XLA203", 2, message="`n` comes from data")
    assert len(unclaimed(judge([alone], [told], [], folder), [told], folder)) == 1


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


@pytest.mark.parametrize("code", ["XLA103", "XLA407"])
def test_a_claim_about_a_gradient_is_refuted_by_a_gradient_that_passes_it(
    folder: Path, code: str
) -> None:
    forward = target(folder)
    assert one(folder, finding(code, 3), forward).verdict == NOT_REACHED
    elsewhere = dataclasses.replace(forward, stages=(*forward.stages, Stage("gradient", "ok")))
    assert one(folder, finding(code, 3), elsewhere).verdict == NOT_REACHED
    through = target(folder, differentiated=(3,))
    backward = dataclasses.replace(through, stages=(*through.stages, Stage("gradient", "ok")))
    assert one(folder, finding(code, 3), backward).verdict == REFUTED


def test_a_helper_that_fails_alone_only_is_no_failure(folder: Path) -> None:
    told = failure(folder, 7, "not-constant", "lower")
    helper = target(folder, told, failed="lower", function="helper", origin="plain")
    step = target(folder, ops={7: ["Tile"]})
    (helped, _) = reconciled([helper, step])
    assert (helped.status, helped.failures) == ("skipped", ())
    assert reconciled([helper])[0].status == "failed"
    assert one(folder, finding("XLA203", 7), helped, step).verdict == REFUTED
    elsewhere = target(folder, executed=(2,))
    assert reconciled([helper, elsewhere])[0].status == "failed"


@pytest.mark.parametrize("code", ["XLA406", "XLA408"])
def test_a_claim_about_other_values_is_not_refuted_by_these(folder: Path, code: str) -> None:
    assert one(folder, finding(code, 3, "info"), target(folder)).verdict == NOT_REACHED


def test_a_condition_that_is_no_boolean_may_fail_in_the_compiler_only(folder: Path) -> None:
    claim = finding("XLA101", 2, variant="not-boolean")
    told = target(folder, failure(folder, 2, "compiler", "lower"), failed="lower")
    assert one(folder, claim, told).verdict == CONFIRMED
    assert one(folder, finding("XLA101", 2), told).verdict == NOT_REACHED


def on_tpu(**found: object) -> Outcome:
    return Outcome(target="tpu-v5e", chips=1, replicas=1, status="compiles", **found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "found", "verdict"),
    [
        (("XLA803", "masked-reduction", "which moves 277 MB"), {"bytes_accessed": 3e8}, CONFIRMED),
        (("XLA803", "masked-reduction", "which moves 277 MB"), {"bytes_accessed": 1e6}, REFUTED),
        (
            ("XLA803", "unrolled", "holds its body 120 times"),
            {"repeated": ("tanh", 120)},
            CONFIRMED,
        ),
        (("XLA803", "unrolled", "holds its body 120 times"), {"repeated": ("add", 40)}, REFUTED),
        (("XLA802", "single-precision", ""), {"products": (("bf16", 9), ("f32", 1))}, REFUTED),
        (("XLA802", "single-precision", ""), {"products": (("f32", 9),)}, CONFIRMED),
        (("XLA802", "half-precision", ""), {"products": ()}, NOT_REACHED),
        (("XLA801", "table", "rows up in 9,000 x 64: each"), {}, REFUTED),
        (
            ("XLA801", "table", "rows up in 9,000 x 64: each"),
            {"wasted": (Waste("f32[9000,64] copy", 5, 10, "", "", 0),)},
            CONFIRMED,
        ),
    ],
)
def test_what_a_tpu_pays_is_judged_by_its_compiler(
    folder: Path, claim: tuple[str, str, str], found: dict[str, object], verdict: str
) -> None:
    code, variant, message = claim
    ran = dataclasses.replace(target(folder, ops={4: ["Mean"]}), tpu=(on_tpu(**found),))
    said = finding(code, 4, "info", variant, message)
    assert one(folder, said, ran).verdict == verdict
    assert one(folder, said, target(folder, ops={4: ["Mean"]})).verdict == NOT_REACHED
