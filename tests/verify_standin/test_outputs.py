"""Where a script's files go: a temporary place that mirrors the paths it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.verify.outputs import Outputs


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outputs:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return Outputs(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("given", "below"),
    [
        ("gs://bucket/run/model.keras", "gs/bucket/run/model.keras"),
        ("/data/ckpt/weights.{epoch:02d}.h5", "data/ckpt/weights.{epoch:02d}.h5"),
        ("/data/../tmp/x", "tmp/x"),
    ],
)
def test_a_path_that_is_written_lies_below_the_temporary_place(
    outputs: Outputs, given: str, below: str
) -> None:
    path = outputs.to_write(given)
    assert path == str(outputs.root / below)
    assert Path(path).parent.is_dir()


def test_a_relative_path_counts_from_the_working_directory(
    outputs: Outputs, tmp_path: Path
) -> None:
    project = (tmp_path / "project").resolve()
    expected = outputs.root / project.relative_to(project.anchor) / "logs/run"
    assert outputs.to_write("logs/run") == str(expected)


def test_a_path_that_is_sent_elsewhere_already_stays(outputs: Outputs) -> None:
    once = outputs.to_write("model.h5")
    assert outputs.to_write(once) == once


def test_what_was_written_is_read_from_there_and_all_else_from_the_users_own_path(
    outputs: Outputs,
) -> None:
    assert outputs.to_read("model.h5") == "model.h5"
    Path(outputs.to_write("model.h5")).write_text("new")
    assert outputs.to_read("model.h5") == outputs.to_write("model.h5")


def test_a_checkpoint_is_found_by_the_prefix_of_its_files(outputs: Outputs) -> None:
    Path(outputs.to_write("ckpt-1") + ".index").write_text("")
    assert outputs.to_read("ckpt-1") == outputs.to_write("ckpt-1")


def test_an_open_file_is_left_alone(outputs: Outputs, tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        assert outputs.to_write(file) is file


def test_a_directory_of_its_own_is_made_when_needed_and_removed_by_undo() -> None:
    outputs = Outputs(project=[Path.cwd()])
    assert outputs.to_read("model.h5") == "model.h5"
    written = Path(outputs.to_write("model.h5"))
    written.write_text("new")
    outputs.undo()
    assert not written.exists()
    assert outputs.to_read("model.h5") == "model.h5"
