"""Which TensorFlow works with which libtpu: as measured, in the README's table, and said before any work starts."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

from xlalint.tpu.installed import OLDEST, Installed, why_not

README = Path(__file__).resolve().parents[2] / "README.md"


# Each pair compiled a step with convolutions, dropout, a sort and (from two replicas on) an all-reduce, or did not.
@pytest.mark.parametrize(
    ("tensorflow", "libtpu", "works"),
    [
        ("2.12.1", "0.0.17", False),  # tells no peak of memory
        ("2.12.1", "0.0.21", True),
        ("2.15.1", "0.0.21", True),
        ("2.15.1", "0.0.52", True),
        ("2.18.1", "0.0.21", True),
        ("2.18", "0.0.24", True),
        ("2.21.0", "0.0.11.1", False),  # "Instruction with id > INT_MAX"
        ("2.21.0", "0.0.23", False),  # aborts
        ("2.21.0", "0.0.24", True),
        ("2.21.0", "0.0.30", True),
        ("2.21.0", "0.0.52", True),
        ("2.21.0", "0.1.0.dev20270101+nightly", True),
        ("2.11.1", "0.0.52", False),
    ],
)
def test_pairs_that_were_measured(tensorflow: str, libtpu: str, works: bool) -> None:
    why = why_not(Installed(Path("libtpu.so"), libtpu), tensorflow)
    assert (not why) == works
    assert works or (tensorflow in why and ("later" in why))


def test_the_readme_has_the_table() -> None:
    rows = re.findall(r"^\| (2\.\d+) to 2\.\d+ \| ([\d.]+) \|", README.read_text(), re.M)
    told = {
        tuple(map(int, since.split("."))): tuple(map(int, least.split(".")))
        for since, least in rows
    }
    assert told == dict(OLDEST)


@pytest.mark.compiler
def test_a_pair_that_does_not_work_is_told_before_any_work(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write(
        {
            "old/libtpu/__init__.py": "",
            "old/libtpu/libtpu.so": "",
            "old/libtpu-0.0.7.dist-info/METADATA": "Metadata-Version: 2.1\nName: libtpu\nVersion: 0.0.7\n",
            "train.py": "raise SystemExit('it ran')\n",
        }
    )
    path = f"{folder / 'old'}:{Path(__file__).resolve().parents[2]}"
    ran = xlalint("verify", "--target", "tpu-v5e", "--", "python", "train.py", PYTHONPATH=path)
    minor = ".".join(importlib.metadata.version("tensorflow").split(".")[:2])
    assert ran.status == 2
    assert f"libtpu 0.0.7 does not work with TensorFlow {minor}" in ran.err
    assert "it ran" not in ran.out + ran.err
