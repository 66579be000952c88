"""Which functions are verified alone, with what knowledge: from findings, beliefs, settings and the project's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint import engine
from xlalint.project.settings import SettingsError, load
from xlalint.verify import jobs
from xlalint.verify.alone import annotations, planning
from xlalint.verify.alone.annotations import Shaped
from xlalint.verify.alone.mentions import TestIndex
from xlalint.verify.records import Evidence, Stage, TargetReport
from xlalint.verify.verdicts import judge

MODULE = """\
import tensorflow as tf


class Gate:
    def open(self, x: tf.Tensor, size, top=3):
        return tf.linalg.logm(x), tf.range(size)


def key(x):
    def turn(y):
        return tf.linalg.sqrtm(y)

    return turn(x)
"""

TESTS = """\
from pkg.doors import Gate, key


def test_both():
    Gate().open(key(1), 2)


def test_key():
    key(1)


class TestGate:
    def test_open(self):
        Gate().open(1, 2)


def helper():
    key(2)
"""


def planned(folder: Path, **known: object) -> tuple[jobs.Wanted, ...]:
    settings = load(("pkg",))
    findings = engine.check(("pkg",), settings).findings
    beliefs = engine.believed_parameters(("pkg",), settings)
    (job,) = planning.jobs_for(findings, folder, planning.Known(beliefs, **known))  # type: ignore[arg-type]
    assert job.kind == jobs.ALONE
    return job.wanted


@pytest.fixture
def project(write: WriteFiles, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write({"pkg/__init__.py": "", "pkg/doors.py": MODULE, "tests/test_doors.py": TESTS})
    monkeypatch.chdir(folder)
    return folder


def test_each_function_with_findings_is_wanted_with_its_statements(project: Path) -> None:
    wanted = {one.qualname: (one.line, one.lines, one.codes) for one in planned(project)}
    assert wanted["Gate.open"][0] == 5
    assert wanted["Gate.open"][1] == ((6, 6),)
    assert wanted["key.<locals>.turn"] == (10, ((11, 11),), ("XLA401",))


def test_what_check_believes_of_parameters_goes_along(project: Path) -> None:
    (gate,) = [one for one in planned(project) if one.qualname == "Gate.open"]
    assert gate.parameters["x"]["kind"] == "tensor"


def test_tests_that_name_the_function_are_found_the_smallest_first(project: Path) -> None:
    tests = TestIndex((project,))
    path = str(project / "tests/test_doors.py")
    assert tests.of("Gate.open") == ((path, "TestGate::test_open"), (path, "test_both"))
    assert tests.of("key.<locals>.turn") == ((path, "test_key"), (path, "test_both"))
    assert tests.of("Lock.open") == ()


def test_a_job_survives_being_written_and_read(project: Path, tmp_path: Path) -> None:
    settings = load(("pkg",))
    findings = engine.check(("pkg",), settings).findings
    beliefs = engine.believed_parameters(("pkg",), settings)
    known = planning.Known(
        beliefs, {"pkg.doors:Gate.open": ("float32[3,3]", "4")}, TestIndex((project,))
    )
    (job,) = planning.jobs_for(findings, project, known)
    job.write(tmp_path / "job.json")
    assert jobs.read(str(tmp_path / "job.json")).wanted[0].inputs == ("float32[3,3]", "4")


def test_settings_give_inputs_per_function(
    write: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(
        {
            "xlalint.toml": "[verify.inputs]\n"
            '"pkg.doors:Gate" = ["units=4"]\n'
            '"pkg.doors:key" = "pkg.made:keys"\n'
        }
    )
    monkeypatch.chdir(folder)
    assert load(()).verify.inputs_of == (
        ("pkg.doors:Gate", ("units=4",)),
        ("pkg.doors:key", ("pkg.made:keys",)),
    )


def test_a_table_of_inputs_names_functions(
    write: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write({"xlalint.toml": '[verify.inputs]\nkey = ["float32[3]"]\n'})
    monkeypatch.chdir(folder)
    with pytest.raises(SettingsError, match=r"package\.module:function"):
        load(())


SHAPED = [
    ("Float[tf.Tensor, 'batch 3']", Shaped("float32", ("batch", "3"))),
    ("Int64[Tensor, '*batch n=4']", Shaped("int64", ("batch", "4"))),
    ("ttf.Tensor2[Batch, Time]", Shaped("float32", ("Batch", "Time"))),
    ("ttf.Tensor3[tf.int32, Batch, Time, Depth]", Shaped("int32", ("Batch", "Time", "Depth"))),
]


@pytest.mark.parametrize(("annotation", "shaped"), SHAPED)
def test_annotations_say_dtypes_and_dimensions(annotation: str, shaped: Shaped) -> None:
    assert annotations.read(annotation).shaped == [shaped]


def test_annotations_say_what_else_a_value_may_be() -> None:
    said = annotations.read("Optional[Union[Literal['a', 'b'], List[tf.Tensor], int]]")
    assert (said.literals, said.plain, said.is_tensor_sequence, said.may_be_none) == (
        ["a", "b"],
        ["int"],
        True,
        True,
    )


SEALED = """\
import os, pathlib, socket, subprocess, tempfile
from xlalint.verify.alone.seal import Seal

seal = Seal(os.getcwd())
seal.close()
seal.let_nothing_start()


def refused(what):
    try:
        what()
    except PermissionError:
        return True
    return False


print(
    refused(lambda: pathlib.Path("x.txt").write_text("x")),
    refused(lambda: os.mkdir("folder")),
    refused(lambda: os.remove("kept.txt")),
    refused(lambda: subprocess.run(["true"])),
    refused(lambda: socket.create_connection(("127.0.0.1", 9), 1)),
    refused(lambda: pathlib.Path("kept.txt").read_text()),
    refused(lambda: tempfile.NamedTemporaryFile().close()),
)
"""


def test_the_seal_keeps_the_project_as_it_is_and_lets_temporary_files_be(write: WriteFiles) -> None:
    folder = write({"kept.txt": "kept"})
    # Another folder than this one: xlalint may be found from here alone.
    path = os.pathsep.join(sys.path)
    ran = subprocess.run(
        [sys.executable, "-c", SEALED],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["True"] * 5 + ["False"] * 2, ran.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["kept.txt"]


def test_what_compiles_with_made_up_settings_refutes_nothing(project: Path) -> None:
    settings = load(("pkg",))
    finding = engine.check(("pkg",), settings).findings[0]
    path = str(project / "pkg/doors.py")
    stages = tuple(Stage(name, "ok") for name in ("eager", "trace", "lower", "run", "numbers"))
    clean = TargetReport(
        "alone:1", "Gate.open", path, 5, "alone", "ok", stages, (), Evidence({path: [6]}, {path: {"6": ["MatrixLogarithm"]}}),
        inputs="inputs found by trying: x float32[3, 3], size=2",
    )  # fmt: skip
    of_tensors = judge([finding], [clean], [], project)[0]
    of_settings = judge([finding], [replace(clean, is_special=True)], [], project)[0]
    assert "refutes nothing" not in of_tensors.evidence
    assert (of_settings.verdict, "refutes nothing" in of_settings.evidence) == ("not reached", True)
