"""Whole programs in the style of the examples that people start from, as a new user would try them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import RunXlalint

pytestmark = pytest.mark.slow

PROJECTS = Path(__file__).parents[2] / "fixtures" / "projects"


@pytest.fixture
def verify(tmp_path: Path, xlalint: RunXlalint, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Copy a project, run `xlalint verify --format json ARGUMENTS` in it: its report. Nothing may be left in the copy."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path.parent / "cache"))

    def run(project: str, *arguments: str) -> dict[str, Any]:
        shutil.copytree(PROJECTS / project, tmp_path, dirs_exist_ok=True)
        before = sorted(path.name for path in tmp_path.rglob("*"))
        ran = xlalint("verify", "--format", "json", *arguments)
        assert ran.out.startswith("{"), ran.err
        assert sorted(path.name for path in tmp_path.rglob("*")) == before
        report: dict[str, Any] = json.loads(ran.out)
        return report

    return run


def judged(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    """By rule and the line's text: the verdict."""
    return {
        (one["code"], one["message"].partition("`")[2].partition("`")[0]): one["verdict"]
        for one in report["findings"]
    }


def test_a_notebook_for_a_tpu_trains_on_the_stand_in(verify: Any) -> None:
    report = verify("flowers", "--strategy", "tpu", "flowers_tpu.ipynb")
    (training,) = report["training"]
    assert (training["strategy"], training["status"], training["steps"]) == ("tpu", "ended", 5)
    targets = {one["function"]: one["status"] for one in report["targets"]}
    assert targets == {"masked_loss": "ok", "TensorFlowTrainer.train_step": "ok"}


def test_an_autoencoder_fails_where_it_branches_on_a_tensor(verify: Any) -> None:
    report = verify("autoencoder", "--strategy", "none", "train.py")
    assert judged(report) == {("XLA101", "if"): "confirmed"}
    (training,) = report["training"]
    assert training["status"] == "failed"
    assert training["failure"]["line"] == report["findings"][0]["line"]
    assert any("keras.datasets.mnist cannot be fetched" in note for note in report["notes"])
