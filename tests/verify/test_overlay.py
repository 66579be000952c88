"""What a program writes, moves and removes happens in an overlay: the program sees it, the user's folder does not."""

from __future__ import annotations

import glob
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlalint.verify import footprint, python_files
from xlalint.verify.overlay import Overlay, kept_folders
from xlalint.verify.patching import Patches

BEFORE = {"data.csv": "a,b\n", "out/old.txt": "old", "out/deep/old.txt": "old"}


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory of a program whose files go to an overlay; it must be as it was in the end."""
    folder = tmp_path / "project"
    for name, text in BEFORE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(folder)
    patches = Patches()
    python_files.redirect(Overlay(tmp_path / "overlay", kept_folders(), [folder]), patches)
    yield folder
    patches.undo()
    assert contents(folder) == BEFORE


def writes_with_open() -> None:
    with open("new.txt", "w") as file:
        file.write("new")
    assert open("new.txt").read() == Path("new.txt").read_text() == "new"
    assert sorted(os.listdir()) == ["data.csv", "new.txt", "out"]


def appends_to_what_is_there() -> None:
    with open("data.csv", "a") as file:
        file.write("1,2\n")
    assert Path("data.csv").read_text() == "a,b\n1,2\n"


def changes_a_file_in_place() -> None:
    with open("data.csv", "r+") as file:
        file.write("A")
    assert Path("data.csv").read_text() == "A,b\n"


def begins_a_folder_anew() -> None:
    shutil.rmtree("out")
    assert not os.path.exists("out/old.txt")
    os.makedirs("out/plots")
    Path("out/plots/loss.png").write_bytes(b"png")
    assert [str(path) for path in sorted(Path("out").rglob("*"))] == [
        "out/plots",
        "out/plots/loss.png",
    ]
    assert glob.glob("out/**/*.png", recursive=True) == ["out/plots/loss.png"]


def adds_to_a_folder() -> None:
    Path("out/new.txt").write_text("new")
    assert sorted(os.listdir("out")) == ["deep", "new.txt", "old.txt"]
    assert [files for _, _, files in os.walk("out")] == [["old.txt", "new.txt"], ["old.txt"]]


def removes_files() -> None:
    os.remove("data.csv")
    Path("out/old.txt").unlink()
    assert os.listdir() == ["out"]
    with pytest.raises(FileNotFoundError) as caught:
        open("data.csv")
    assert caught.value.filename == "data.csv"


def replaces_atomically() -> None:
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write("new")
    os.replace(file.name, "data.csv")
    Path("half.json").write_text("{}")
    os.replace("half.json", "whole.json")
    assert (Path("data.csv").read_text(), Path("whole.json").read_text()) == ("new", "{}")
    assert not Path("half.json").exists()


def moves_a_folder() -> None:
    Path("out/deep/new.txt").write_text("new")
    shutil.move("out", "moved")
    assert contents(Path("moved")) == {
        "old.txt": "old",
        "deep/old.txt": "old",
        "deep/new.txt": "new",
    }
    assert not Path("out").exists()


def copies() -> None:
    shutil.copytree("out", "copied")
    shutil.copy("data.csv", "copied")
    assert sorted(contents(Path("copied"))) == ["data.csv", "deep/old.txt", "old.txt"]


def writes_archives() -> None:
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.write("data.csv")
    with tarfile.open("a.tar.gz", "w:gz") as archive:
        archive.add("out")
    shutil.make_archive("b", "zip", "out")
    assert zipfile.ZipFile("a.zip").namelist() == ["data.csv"]
    assert "out/old.txt" in tarfile.open("a.tar.gz").getnames()
    assert Path("b.zip").is_file()


def writes_with_other_modules() -> None:
    with open("history.json", "w") as file:
        json.dump({}, file)
    with open("history.pkl", "wb") as file:
        pickle.dump({}, file)
    handler = logging.FileHandler("run.log")
    handler.emit(logging.makeLogRecord({"msg": "said"}))
    handler.close()
    Path("touched").touch()
    assert Path("run.log").read_text() == "said\n"
    assert Path("touched").stat().st_size == 0


def works_in_a_folder_that_it_made() -> None:
    os.makedirs("runs/1")
    os.chdir("runs/1")
    Path("log.txt").write_text("said")
    os.chdir("../..")
    assert Path("runs/1/log.txt").read_text() == "said"


def links() -> None:
    os.symlink("data.csv", "latest")
    os.link("data.csv", "same")
    assert open("latest").read() == open("same").read() == "a,b\n"
    assert os.path.islink("latest")


def makes_mistakes() -> None:
    with pytest.raises(FileExistsError):
        os.mkdir("out")
    with pytest.raises(FileNotFoundError) as caught:
        open("absent/new.txt", "w")
    assert caught.value.filename == "absent/new.txt"
    with pytest.raises(IsADirectoryError):
        open("out", "w")
    with pytest.raises(OSError, match="not empty"):
        os.rmdir("out")
    with pytest.raises(FileExistsError):
        open("data.csv", "x")


@pytest.mark.parametrize(
    "program",
    [
        writes_with_open,
        appends_to_what_is_there,
        changes_a_file_in_place,
        begins_a_folder_anew,
        adds_to_a_folder,
        removes_files,
        replaces_atomically,
        moves_a_folder,
        copies,
        writes_archives,
        writes_with_other_modules,
        works_in_a_folder_that_it_made,
        links,
        makes_mistakes,
    ],
)
def test_a_program_sees_what_it_did_and_its_folder_stays(
    program: Callable[[], None], project: Path
) -> None:
    program()


def test_temporary_files_are_files_as_ever(project: Path, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x").write_text("x")
        assert list((tmp_path / "temporary").rglob("x")) == [Path(folder, "x")]


def test_what_was_changed_all_the_same_is_known(tmp_path: Path) -> None:
    for name in ("kept", "changed", "removed", ".git/index", "__pycache__/x.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    before = footprint.take([tmp_path])
    (tmp_path / "changed").write_text("longer")
    (tmp_path / "removed").unlink()
    (tmp_path / "new").write_text("")
    (tmp_path / ".git/index").write_text("longer")
    assert before.changed() == tuple(str(tmp_path / name) for name in ("changed", "new", "removed"))


def test_the_file_that_our_own_words_go_to_is_none_of_theirs(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from xlalint.verify import footprint;"
        "before = footprint.take([Path()]); print('words', flush=True); Path('new').touch();"
        "sys.exit(','.join(Path(one).name for one in before.changed()))"
    )
    with open(tmp_path / "progress.txt", "w") as out:
        ran = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
    assert ran.stderr == "new\n"
