"""What check says of programs drawn at random is what XLA does with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .checked import errors
from .drawing import INPUTS, SIGNATURE, programs

pytestmark = pytest.mark.compiler

_DRAWN = 300
_HEAD = "import tensorflow as tf\n"


def _under_xla(drawn: list[str], folder: Path) -> dict[int, str | None]:
    """Why programs fail, by position; None of those that do not."""
    given, answers = folder / "given.json", folder / "answers.txt"
    values = [value for value, _ in INPUTS.values()]
    given.write_text(json.dumps([values, SIGNATURE, drawn]), encoding="utf-8")
    answers.touch()
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_them.py")), str(given), str(answers)],
        check=True,
        capture_output=True,
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TMPDIR": str(folder),
        },
    )
    found = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    return {position: answer for position, answer in found if answer != "begins"}


@pytest.mark.parametrize("seed", range(2))
def test_errors_are_where_xla_fails(seed: int, tmp_path: Path) -> None:
    drawn = programs(seed, _DRAWN)
    compiled = _under_xla(drawn, tmp_path)
    # Without values, XLA on a CPU refuses what a TPU does; with errors that are true of a TPU alone, it has no quarrel.
    for_tpus = errors(drawn, "tpu-vm", tmp_path / "drawn.py", _HEAD)
    for_cpus = errors(drawn, "cpu", tmp_path / "drawn.py", _HEAD)
    failing = [position for position, why in compiled.items() if why is not None]
    missed = [f"{compiled[p]}\n{drawn[p]}" for p in failing if p not in for_tpus]
    false = [
        f"{for_cpus[p]}\n{drawn[p]}" for p, why in compiled.items() if why is None and p in for_cpus
    ]
    assert len(failing) > 25 and len(compiled) - len(failing) > 80  # else nothing was asked
    # A few are right or wrong by luck of these values, or of what is never read.
    assert len(missed) <= len(failing) * 0.05, "\n\n".join(missed)
    assert len(false) <= (len(compiled) - len(failing)) * 0.01, "\n\n".join(false)
