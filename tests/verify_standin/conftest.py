from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import xlalint

DRIVER = Path(__file__).with_name("driver.py")


class Trained(SimpleNamespace):
    """What driver.py reported, with `printed` and the `directory` the script ran in."""

    end: str
    error: str | None
    steps: list[dict[str, Any]]
    done: int
    events: list[dict[str, Any]]
    programs: list[str]
    captured: list[dict[str, Any]]
    outputs: list[str]
    hook_failures: list[str]
    printed: str
    directory: Path

    @property
    def losses(self) -> list[float | None]:
        return [step["loss"] for step in self.steps]

    def capture(self, kind: str, name: str) -> dict[str, Any]:
        (found,) = [
            one for one in self.captured if one["kind"] == kind and one["name"].endswith(name)
        ]
        return found


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., Trained]:
    """Run a training script in a process of its own, for `steps` steps."""

    def run(
        script: str,
        steps: int = 3,
        tpu: int = 0,
        flag: Iterable[str] = (),
        environment: dict[str, str] | None = None,
        files: dict[str, str] | None = None,
    ) -> Trained:
        directory = tmp_path / "project"
        directory.mkdir()
        for name, content in (files or {}).items():
            (directory / name).parent.mkdir(exist_ok=True)
            (directory / name).write_text(content)
        path = directory / "train.py"
        text = textwrap.dedent(script)
        path.write_text(text)
        options = {
            "steps": steps,
            "tpu": tpu,
            "flagged": [(str(path), _line_of(text, start)) for start in flag],
        }
        return _run(path, options, environment or {})

    return run


def _line_of(text: str, start: str) -> int:
    (line,) = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip().startswith(start)
    ]
    return line


def _run(path: Path, options: dict[str, Any], environment: dict[str, str]) -> Trained:
    report = path.parent.parent / "report.json"
    process = subprocess.run(
        [sys.executable, str(DRIVER), json.dumps({**options, "report": str(report)}), str(path)],
        cwd=path.parent,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(xlalint.__file__).parents[1]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert report.exists(), process.stderr[-3000:]
    trained = Trained(
        **json.loads(report.read_text()), printed=process.stdout, directory=path.parent
    )
    assert not trained.hook_failures
    return trained
