"""Small projects before and after the move to a TPU: what check, ready and verify say of them.

`first.py` is how people write it for a GPU, with comments where something is to be found; `migrated.py` does the same on a TPU.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import RunXlalint
from fixtures.fixture_text import read_script
from fixtures.fixture_text import severity as severity_of

PROJECTS = Path(__file__).parents[1] / "fixtures" / "projects"
NAMES = sorted(path.parent.name for path in PROJECTS.glob("*/migrated.py"))


def findings(xlalint: RunXlalint, path: Path) -> set[tuple[int, str, str]]:
    report = json.loads(xlalint("check", "--format", "json", str(path)).out)
    assert report["errors"] == []
    return {(f["line"], f["code"], f["severity"]) for f in report["findings"]}


def states(xlalint: RunXlalint, *arguments: str) -> dict[str, str]:
    document = json.loads(xlalint("ready", "--format", "json", *arguments).out)
    return {item["key"]: item["state"] for item in document["items"]}


def test_there_are_projects_of_each_kind() -> None:
    assert {"gan", "finetune", "workers", "estimator"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_check_finds_what_is_to_be_changed(name: str, xlalint: RunXlalint) -> None:
    path = PROJECTS / name / "first.py"
    script = read_script(f"projects/{name}/flagged_first.py", path.read_text(encoding="utf-8"))
    found = findings(xlalint, path)
    assert {(line, code) for line, code, _ in found} == {(e.line, e.code) for e in script.flagged}
    for expected in script.flagged:
        wanted = severity_of(expected)
        assert wanted is None or (expected.line, expected.code, wanted) in found


@pytest.mark.parametrize("name", NAMES)
def test_check_has_no_more_than_advice_when_it_has_been_changed(
    name: str, xlalint: RunXlalint
) -> None:
    found = findings(xlalint, PROJECTS / name / "migrated.py")
    assert {severity for _, _, severity in found} <= {"info"}


@pytest.mark.parametrize("name", NAMES)
def test_ready_waits_for_nothing_but_the_compiler(name: str, xlalint: RunXlalint) -> None:
    before = states(xlalint, str(PROJECTS / name / "first.py"))
    after = states(xlalint, str(PROJECTS / name / "migrated.py"))
    assert "to do" in before.values()
    assert "to do" not in after.values()
    for key in ("setup", "scope", "batch", "conditionals", "shapes"):
        assert after[key] == "done", key
    assert {after[key] for key in ("compiles", "step", "memory")} == {"unknown"}


def verified(xlalint: RunXlalint, folder: Path, name: str, strategy: str) -> dict[str, Any]:
    """The report of verify for three steps of a program in `folder`, also kept beside it."""
    command = ("--steps", "3", "--strategy", strategy, "--format", "json", "--no-batch-search")
    ran = xlalint("verify", *command, "--", sys.executable, name)
    assert ran.out.startswith("{"), ran.err
    (folder / "verify.json").write_text(ran.out, encoding="utf-8")
    report: dict[str, Any] = json.loads(ran.out)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gan", "workers"])
def test_verify_confirms_what_breaks(name: str, xlalint: RunXlalint, tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / name, tmp_path, dirs_exist_ok=True)
    report = verified(xlalint, tmp_path, "first.py", "none")
    (training,) = report["training"]
    assert training["status"] == "failed"
    errors = [f for f in report["findings"] if f["severity"] == "error" and f["code"] < "XLA5"]
    assert errors
    assert {f["verdict"] for f in errors} == {"confirmed"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workers", "estimator"])
def test_verify_lets_ready_say_so(name: str, xlalint: RunXlalint, tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / name, tmp_path, dirs_exist_ok=True)
    report = verified(xlalint, tmp_path, "migrated.py", "tpu")
    (training,) = report["training"]
    assert training["status"] in ("stopped", "ended")
    assert (training["replicas"], training["steps"]) == (8, 3)
    found = states(xlalint, "migrated.py", "--verified", "verify.json")
    assert (found["compiles"], found["step"]) == ("done", "done")
