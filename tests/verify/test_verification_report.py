"""What `xlalint verify` prints, word for word."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import WriteFiles

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.report import Style
from xlalint.report.verification import full, render
from xlalint.verify.records import Environment, Failure, Place, Stage, TargetReport, TrainingReport
from xlalint.verify.run import Broken
from xlalint.verify.verdicts import CONFIRMED, REFUTED, Verdict
from xlalint.verify.verification import Verification

SOURCE = "def step(x):\n    if x > 0:\n        return helper(x)\n    return x\n"


@pytest.fixture
def folder(write: WriteFiles) -> Path:
    return write({"train.py": SOURCE})


def verification(folder: Path, **parts: Any) -> Verification:
    empty: dict[str, Any] = dict.fromkeys(
        ("targets", "verdicts", "unclaimed", "trainings", "broken", "errors", "notes"), ()
    )
    environment = Environment("3.11.7", "2.21.0", "3.15.1", "")
    return Verification(folder=folder, **{**empty, "environment": environment, **parts})


def failing(folder: Path) -> TargetReport:
    place = Place(str(folder / "train.py"), 2, 8, "step")
    return TargetReport(
        id="1",
        function="step",
        path=str(folder / "train.py"),
        line=1,
        origin="tf.function",
        status="failed",
        stages=(Stage("eager", "ok", 0.25), Stage("trace", "failed", 0.5, "no")),
        failures=(Failure("trace", "symbolic", "a tensor is no bool", place=place),),
        calls=5,
        traces=1,
        compiles=2,
    )


def passing(folder: Path) -> TargetReport:
    return TargetReport(
        id="2",
        function="TensorFlowTrainer.train_step",
        path="/venv/lib/python3.11/site-packages/keras/src/trainer.py",
        line=53,
        origin="train_step",
        status="ok",
        stages=(
            Stage("eager", "ok"),
            Stage("trace", "ok"),
            Stage("lower", "ok", 0.0, "dimensions that depend on data, from train.py:3"),
            Stage("gradient", "skipped", 0.0, "is part of the step"),
            Stage("values", "note", 0.0, "compiles again for each value of argument 1"),
        ),
    )


def finding(line: int) -> Finding:
    span = Span(line, 8, line, 13)
    return Finding("XLA101", "data-dependent-branch", Severity.ERROR, "train.py", span, "`if` on a tensor", "step",
                   Region("compiled"), "")  # fmt: skip


def training(**changes: Any) -> TrainingReport:
    given: dict[str, Any] = {
        "strategy": "none",
        "replicas": 1,
        "status": "stopped",
        "steps": 3,
        "seconds": 2.0,
    }
    return TrainingReport(**{**given, "losses": (1.5, None, 0.75), **changes})


def lines(result: Verification) -> list[str]:
    return full(result, Style()).splitlines()


def test_a_target_is_a_line_and_its_failures_have_the_users_lines(folder: Path) -> None:
    assert lines(verification(folder, targets=(failing(folder), passing(folder)))) == [
        "TensorFlow 2.21.0, Keras 3.15.1, Python 3.11.7, XLA on CPU",
        "",
        "Targets",
        "  FAIL train.py:1 step: eager ok, trace FAILED (5 calls, 1 trace, 2 compiles in the run)",
        "         train.py:2:8: trace: a tensor is no bool",
        "           2 | if x > 0:",
        "  ok   keras/src/trainer.py:53 TensorFlowTrainer.train_step: eager ok, trace ok, lower ok, gradient in the step, "
        "values ok",
        "         note: lower: dimensions that depend on data, from train.py:3",
        "         note: values: compiles again for each value of argument 1",
        "",
        "1 of 2 targets pass",
    ]


def test_a_verdict_gives_the_finding_and_its_evidence(folder: Path) -> None:
    verdicts = (
        Verdict(finding(2), CONFIRMED, "trace: a tensor is no bool", "step"),
        Verdict(finding(3), REFUTED, "step compiles and runs", "step"),
    )
    assert lines(verification(folder, verdicts=verdicts))[2:] == [
        "Findings of check",
        "  confirmed   train.py:2:8: error XLA101 `if` on a tensor",
        "              trace: a tensor is no bool",
        "  refuted     train.py:3:8: error XLA101 `if` on a tensor",
        "              step compiles and runs",
        "",
        "findings: 1 confirmed, 1 refuted, 0 not reached",
    ]


def test_training_shows_the_loss_of_each_step_and_what_was_compiled(folder: Path) -> None:
    trainings = (
        training(compiles={"step": 4}),
        training(strategy="mirrored", replicas=2, events=("replicas disagree on kernel by 0.1",)),
        training(
            strategy="tpu",
            replicas=8,
            status="failed",
            steps=1,
            losses=(),
            detail="left with code 3",
        ),
    )
    assert lines(verification(folder, trainings=trainings))[2:] == [
        "Training",
        "  ok   as it is: 3 steps, loss 1.5 - 0.75 (2.0 s)",
        "         XLA compiled: step 4",
        "  ok   MirroredStrategy, 2 virtual CPUs, without XLA (it cannot run on several CPUs): 3 steps, loss 1.5 - 0.75 (2.0 s)",
        "         replicas disagree on kernel by 0.1",
        "  FAIL TPUStrategy stand-in, 8 replicas: 1 step (2.0 s)",
        "         left with code 3",
        "",
        "training FAILED (1 of 3 runs)",
    ]


def test_what_check_missed_and_what_could_not_run_have_their_sections(folder: Path) -> None:
    target = failing(folder)
    result = verification(
        folder,
        unclaimed=((target, target.failures[0]),),
        broken=(Broken("lib.py", "ImportError: no", Place(str(folder / "train.py"), 3, 0)),),
    )
    assert lines(result)[2:] == [
        "Not found by check",
        "  train.py:2:8: trace: a tensor is no bool (step)",
        "",
        "Could not be run",
        "  lib.py: train.py:3: ImportError: no",
        "",
        "1 failure that check did not find; 1 could not be run",
    ]


def test_the_last_output_of_a_failed_program_is_shown_as_a_terminal_would(folder: Path) -> None:
    bar = "\x1b[1m1/2\x1b[0m 3s/step\r\x1b[1m2/2\x1b[0m 4ms/step\n\nlost\x08\n"
    told = training(status="failed", output=bar)
    shown = lines(verification(folder, trainings=(told,)))
    assert [line for line in shown if "|" in line] == ["         | 2/2 4ms/step", "         | lost"]


def test_colours_only_where_asked_for(folder: Path) -> None:
    result = verification(folder, targets=(failing(folder),))
    assert "\x1b[" in full(result, Style(color=True))
    assert "\x1b[" not in full(result, Style())


def test_json_keeps_its_contract(folder: Path) -> None:
    target = failing(folder)
    result = verification(
        folder,
        targets=(target,),
        verdicts=(Verdict(finding(2), CONFIRMED, "it fails", "step"),),
        trainings=(training(),),
    )
    data = json.loads(render(result, "json", Style()))
    assert list(data) == [
        "schema_version",
        "environment",
        "targets",
        "findings",
        "not_found_by_check",
        "training",
        "recompiles",
        "tpu",
        "broken",
        "errors",
        "notes",
        "summary",
    ]
    (shown,) = data["targets"]
    assert (shown["function"], shown["path"], shown["line"], shown["status"]) == (
        "step",
        "train.py",
        1,
        "failed",
    )
    assert shown["checks"]["eager"] == {"status": "ok", "seconds": 0.25, "detail": ""}
    assert shown["failures"] == [
        {
            "stage": "trace",
            "kind": "symbolic",
            "message": "a tensor is no bool",
            "op": None,
            "path": "train.py",
            "line": 2,
            "column": 8,
            "called_from": None,
            "frames": [],
            "rule": None,
            "explanation": None,
            "instead": None,
        }
    ]
    (judged,) = data["findings"]
    assert (judged["code"], judged["verdict"], judged["evidence"]) == (
        "XLA101",
        "confirmed",
        "it fails",
    )
    assert data["training"][0]["losses"] == [1.5, None, 0.75]
    assert data["summary"]["findings"] == {"confirmed": 1, "refuted": 0, "not reached": 0}


@pytest.mark.parametrize(
    ("parts", "fails", "could_not_run"),
    [
        ({}, False, False),
        ({"verdicts": (Verdict(finding(2), CONFIRMED, ""),)}, True, False),
        ({"verdicts": (Verdict(finding(2), REFUTED, ""),)}, False, False),
        ({"trainings": (training(status="failed"),)}, True, False),
        ({"trainings": (training(status="unfit"),)}, False, False),
        ({"broken": (Broken("lib.py", "no"),)}, False, True),
    ],
)
def test_what_decides_the_exit_status(
    parts: dict[str, Any], fails: bool, could_not_run: bool, folder: Path
) -> None:
    result = verification(folder, **parts)
    assert (result.has_failures, result.could_not_run) == (fails, could_not_run)


def test_a_failing_target_decides_it_too(folder: Path) -> None:
    assert verification(folder, targets=(failing(folder),)).has_failures


def test_a_failure_tells_its_stack_and_what_to_write_instead(folder: Path) -> None:
    path = str(folder / "train.py")
    place = Place(path, 3, 16, "step")
    told = Failure(
        "lower", "no-kernel", "UniqueWithCounts has no XLA kernel", "UniqueWithCounts", place,
        frames=(Place(path, 1, 0, "step"), Place(path, 2, 0, "step"), place),
    )  # fmt: skip
    target = dataclasses.replace(failing(folder), failures=(told, told))
    shown = lines(verification(folder, targets=(target,)))[4:9]
    assert shown == [
        "         train.py:3:16: lower: UniqueWithCounts has no XLA kernel",
        "           3 | return helper(x)",
        "           by way of train.py:1 -> train.py:2",
        "           write instead (xlalint explain XLA401): for tf.unique_with_counts: y, idx = tf.unique(x); "
        "count = tf.math.unsorted_segment_sum(tf.ones_like(idx), idx, tf.size(x)), padded with zeros",
        "         train.py:3:16: lower: UniqueWithCounts has no XLA kernel",
    ]
    (data, _) = json.loads(render(verification(folder, targets=(target,)), "json", Style()))[
        "targets"
    ][0]["failures"]
    assert [frame["line"] for frame in data["frames"]] == [1, 2, 3]
    assert (data["rule"], data["instead"].partition(":")[0]) == (
        "XLA401",
        "for tf.unique_with_counts",
    )


def test_a_finding_at_the_line_that_failed_says_what_to_write_instead(folder: Path) -> None:
    place = Place(str(folder / "train.py"), 2, 8, "step")
    message = "TypeError: <tf.Tensor 'add:0' shape=() dtype=float32> is out of scope and cannot be used here."
    target = dataclasses.replace(
        failing(folder), failures=(Failure("script", "python", message, place=place),)
    )
    kept = dataclasses.replace(
        finding(2), code="XLA107", variant="kept", help="Keep state in a variable."
    )
    result = verification(
        folder, targets=(target,), verdicts=(Verdict(kept, CONFIRMED, "it fails"),)
    )
    said = "           write instead (xlalint explain XLA107): Keep state in a variable."
    assert said in lines(result)
    elsewhere = dataclasses.replace(kept, span=Span(3, 1, 3, 2))
    other = verification(folder, targets=(target,), verdicts=(Verdict(elsewhere, CONFIRMED, ""),))
    (general,) = [line for line in lines(other) if "write instead" in line]
    assert "tf.TensorArray" in general and general != said
    data = json.loads(render(result, "json", Style()))
    assert data["targets"][0]["failures"][0]["instead"] == "Keep state in a variable."


def test_other_formats_give_the_verdict_with_the_finding(folder: Path) -> None:
    target = failing(folder)
    result = verification(
        folder,
        unclaimed=((target, target.failures[0]),),
        verdicts=(
            Verdict(finding(2), CONFIRMED, "it fails", "step"),
            Verdict(finding(3), REFUTED, "it compiles", "step"),
        ),
    )
    first, second, missed = render(result, "github", Style()).splitlines()
    assert first.startswith("::error title=xlalint (XLA101),file=train.py,line=2")
    assert "::confirmed: `if` on a tensor (it fails)" in first
    assert second.startswith("::notice") and "::refuted: " in second
    assert missed.endswith("::check did not foresee: trace: a tensor is no bool")
    (run,) = json.loads(render(result, "sarif", Style()))["runs"]
    assert [one["level"] for one in run["results"]] == ["error", "note"]
    assert 'failures="2" errors="1"' in render(result, "junit", Style())
