"""What many tests share: a project on disk, and the command line run as users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from cli_support import Ran, RunXlalint, WriteFiles

import xlalint as package

# The package under test, also where it is not installed.
_found = {"PYTHONPATH": str(Path(package.__file__).parent.parent)}
# Seconds after which a run will never end: many times what the longest takes on a machine that does other work too.
_HUNG = 900


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs under test find a folder for temporary files of this run alone: two workers may run the same program at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        yield


@pytest.fixture
def write(tmp_path: Path) -> WriteFiles:
    """Write files by relative path, and return the folder that holds them."""

    def write_files(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8", newline="")
        return tmp_path

    return write_files


@pytest.fixture
def xlalint(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> RunXlalint:
    """Run `xlalint ARGUMENTS` in a process of its own, in the test's folder, with an empty cache of its own."""
    cache = tmp_path_factory.mktemp("cache")

    def run(
        *arguments: str, stdin: str | bytes = b"", cwd: Path = tmp_path, **environment: str
    ) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        done = subprocess.run(
            [sys.executable, "-m", "xlalint", *arguments],
            input=given,
            capture_output=True,
            cwd=cwd,
            env={**clean, **_found, "XLALINT_CACHE_DIR": str(cache), **environment},
            timeout=_HUNG,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def verify(write: WriteFiles, xlalint: RunXlalint) -> Any:
    """Write `files`, run `xlalint verify --format json ARGUMENTS` there: (what ran, its report)."""

    def run(files: dict[str, str], *arguments: str) -> tuple[Ran, dict[str, Any]]:
        write(files)
        ran = xlalint("verify", "--format", "json", *arguments)
        assert ran.out.startswith("{"), ran.err
        return ran, json.loads(ran.out)

    return run
