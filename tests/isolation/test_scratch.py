"""Temporary folders are gone when their process is, one way or another."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import xlalint
from xlalint.isolation import scratch

HOUR_AGO = time.time() - 3600
HOLDS_A_FOLDER = """
import tempfile, time
from xlalint.isolation import scratch
with scratch.folder() as folder:
    print(folder, flush=True)
    time.sleep(300)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_behind(temporary: Path, name: str = "xlalint-abc") -> Path:
    folder = temporary / name
    folder.mkdir()
    (folder / "lock").touch()
    os.utime(folder / "lock", (HOUR_AGO, HOUR_AGO))
    return folder


def test_a_folder_is_removed_with_what_was_made_unwritable(temporary: Path) -> None:
    with scratch.folder() as folder:
        (folder / "sealed").mkdir()
        (folder / "sealed" / "file").write_text("x")
        (folder / "sealed").chmod(0o500)
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_behind_is_removed_by_the_next(temporary: Path) -> None:
    stale = left_behind(temporary)
    with scratch.folder():
        assert not stale.exists()


def test_folders_of_living_processes_and_of_others_stay(temporary: Path) -> None:
    not_ours = temporary / "xlalint-but-not-made-by-it"
    not_ours.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_FOLDER],
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "TMPDIR": str(temporary),
            "PYTHONPATH": str(Path(xlalint.__file__).parents[1]),
        },
    )
    assert process.stdout is not None
    theirs = Path(process.stdout.readline().strip())
    os.utime(theirs / "lock", (HOUR_AGO, HOUR_AGO))
    scratch.remove_stale()
    assert theirs.exists() and not_ours.exists()
    process.kill()
    process.wait()
    scratch.remove_stale()
    assert not theirs.exists() and not_ours.exists()
