"""What `--fix --unsafe-fixes` makes of the programs in fixtures/fixes: `before.py` becomes `after.py`, `near.py` stays."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from xlalint.cli.app import run

CASES = sorted(
    path for path in (Path(__file__).parents[2] / "fixtures" / "fixes").iterdir() if path.is_dir()
)


def announced(path: Path) -> list[str]:
    """The list FIXES of a program, which is not run."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "FIXES":
            found = ast.literal_eval(statement.value)
            assert isinstance(found, list)
            return found
    raise AssertionError(f"{path} has no list FIXES")


def rewritten(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Rewrite a file with all fixes; `CODE applicability` of each, in the order in which they were applied."""
    run(["check", "--fix", "--unsafe-fixes", "--format", "json", "--exit-zero", str(path)])
    report = json.loads(capsys.readouterr().out)
    assert report["errors"] == []
    return [f"{item['code']} {item['fix']['applicability']}" for item in report["fixed"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_rewritten(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = case / "before.py", case / "after.py"
    if not before.exists():
        pytest.skip("only near misses")
    path = tmp_path / "program.py"
    shutil.copy(before, path)
    assert rewritten(path, capsys) == announced(before)
    assert path.read_text(encoding="utf-8") == after.read_text(encoding="utf-8")
    assert rewritten(path, capsys) == [], "a second run must change nothing"


@pytest.mark.parametrize(
    "case", [c for c in CASES if (c / "near.py").exists()], ids=lambda case: case.name
)
def test_a_near_miss_is_left_alone(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.py"
    shutil.copy(case / "near.py", path)
    assert rewritten(path, capsys) == announced(case / "near.py")
    assert path.read_bytes() == (case / "near.py").read_bytes()
