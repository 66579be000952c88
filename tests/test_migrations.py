"""Small projects before and after the move to a TPU: what check, ready and verify say of them.

`first.py` is how people write it for a GPU, with comments where something is to be found; `migrated.py` does the same on a TPU.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import RunXlalint
from fixtures.fixture_text import read_script
from fixtures.fixture_text import severity as severity_of

from xlalint.project.files import SourceFile
from xlalint.project.source import Source

PROJECTS = Path(__file__).parents[1] / "fixtures" / "projects"
NAMES = sorted(path.parent.name for path in PROJECTS.glob("*/migrated.*"))


def project(name: str, stem: str) -> Path:
    """The script or notebook of a project: `first` or `migrated`."""
    (path,) = (PROJECTS / name).glob(f"{stem}.*")
    return path


def findings(xlalint: RunXlalint, path: Path) -> set[tuple[int, str, str]]:
    """(line, code, severity), the lines of a notebook counted through its cells."""
    report = json.loads(xlalint("check", "--format", "json", str(path)).out)
    assert report["errors"] == []
    above = {cell.number: cell.first_line - 1 for cell in source_of(path).cells}
    return {
        (above.get(f.get("cell"), 0) + f["line"], f["code"], f["severity"])
        for f in report["findings"]
    }


def source_of(path: Path) -> Source:
    return SourceFile(path.name, path).read()


def states(xlalint: RunXlalint, *arguments: str) -> dict[str, str]:
    document = json.loads(xlalint("ready", "--format", "json", *arguments).out)
    return {item["key"]: item["state"] for item in document["items"]}


def test_there_are_projects_of_each_kind() -> None:
    assert {"flowers", "finetune", "gan", "workers", "estimator"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_check_finds_what_is_to_be_changed(name: str, xlalint: RunXlalint) -> None:
    path = project(name, "first")
    script = read_script(f"projects/{name}/flagged_first.py", source_of(path).text)
    found = findings(xlalint, path)
    assert {(line, code) for line, code, _ in found} == {(e.line, e.code) for e in script.flagged}
    for expected in script.flagged:
        wanted = severity_of(expected)
        assert wanted is None or (expected.line, expected.code, wanted) in found


@pytest.mark.parametrize("name", NAMES)
def test_check_has_no_more_than_advice_when_it_has_been_changed(
    name: str, xlalint: RunXlalint
) -> None:
    found = findings(xlalint, project(name, "migrated"))
    assert {severity for _, _, severity in found} <= {"info"}


@pytest.mark.parametrize("name", NAMES)
def test_ready_waits_for_nothing_but_the_compiler(name: str, xlalint: RunXlalint) -> None:
    before = states(xlalint, str(project(name, "first")))
    after = states(xlalint, str(project(name, "migrated")))
    assert "to do" in before.values()
    assert "to do" not in after.values()
    for key in ("setup", "scope", "batch", "conditionals", "shapes"):
        assert after[key] == "done", key
    assert {after[key] for key in ("compiles", "step", "memory")} == {"unknown"}


def verified(xlalint: RunXlalint, folder: Path, name: str, strategy: str) -> dict[str, Any]:
    """The report of verify for three steps of a program in `folder`, also kept beside it."""
    command = ("--steps", "3", "--strategy", strategy, "--format", "json", "--no-batch-search")
    run = (name,) if name.endswith(".ipynb") else ("--", sys.executable, name)
    ran = xlalint("verify", *command, *run)
    assert ran.out.startswith("{"), ran.err
    (folder / "verify.json").write_text(ran.out, encoding="utf-8")
    report: dict[str, Any] = json.loads(ran.out)
    return report


WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] sentence very good a bad one"


def runnable(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project in `folder`. The fine-tuning gets a small BERT that needs no download; skipped without transformers."""
    shutil.copytree(PROJECTS / name, folder, dirs_exist_ok=True)
    if name != "finetune":
        return
    # Not imported here: what transformers does to its process would be inherited by those of verify.
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    model = folder / "tiny"
    model.mkdir()
    (model / "vocab.txt").write_text("\n".join(WORDS.split()) + "\n")
    sizes = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 64}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": len(WORDS.split())}
    (model / "config.json").write_text(json.dumps({"model_type": "bert", **sizes, **layers}))
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    monkeypatch.setenv("MODEL", str(model))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flowers", "gan", "workers"])
def test_verify_confirms_what_breaks(
    name: str, xlalint: RunXlalint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runnable(name, tmp_path, monkeypatch)
    report = verified(xlalint, tmp_path, project(name, "first").name, "none")
    (training,) = report["training"]
    assert training["status"] == "failed"
    errors = [f for f in report["findings"] if f["severity"] == "error" and f["code"] < "XLA5"]
    assert errors
    assert {f["verdict"] for f in errors} == {"confirmed"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workers", "estimator", "finetune", "flowers"])
def test_verify_lets_ready_say_so(
    name: str, xlalint: RunXlalint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runnable(name, tmp_path, monkeypatch)
    program = project(name, "migrated").name
    report = verified(xlalint, tmp_path, program, "tpu")
    (training,) = report["training"]
    assert training["status"] in ("stopped", "ended")
    assert (training["replicas"], training["steps"]) == (8, 3)
    found = states(xlalint, program, "--verified", "verify.json")
    assert (found["compiles"], found["step"]) == ("done", "done")
