"""benchmarks/accuracy/label: unit tests of a package are run, and what they call is labelled; what compiles is handed to a TPU's compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent

PACKAGE = """\
import tensorflow as tf

def doubled(x):
    return x * 2.0

def root(x):
    return tf.linalg.sqrtm(x)

def cut(x, size):
    return tf.reshape(x, size)

class Scale:
    def __init__(self, factor):
        self.factor = factor

    def scaled(self, x):
        return self.factor * doubled(x)

def never_called(x):
    return x
"""
TESTS = """\
import numpy as np
import tensorflow as tf
import tiny

def test_all():
    x = tf.constant([[2.0, 1.0], [1.0, 2.0]])
    assert tiny.root(x).shape == (2, 2)
    assert tiny.cut(x, tf.constant([4])).shape == (4,)
    assert tiny.Scale(tf.constant(3.0)).scaled(np.ones((2, 2), "f4")).shape == (2, 2)

def test_that_fails():
    assert tiny.doubled(tf.constant(1.0)) == 3.0
"""
PINS = '[[package]]\nname = "tiny"\nversion = "1.0"\ntensorflow = "2.21"\n'


@pytest.mark.compiler
def test_calls_of_unit_tests_are_labelled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    (source / "tiny").mkdir(parents=True)
    (source / "tests").mkdir()
    (source / "tiny" / "__init__.py").write_text(PACKAGE)
    (source / "tests" / "test_tiny.py").write_text(TESTS)
    (tmp_path / "packages.toml").write_text(PINS)
    monkeypatch.setenv("PYTHONPATH", str(source))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    results = tmp_path / "work" / "tiny.jsonl"
    told = label(tmp_path, "--tests", str(source / "tests"))
    written = results.read_text()
    assert labels(tmp_path) == {
        ("doubled", "compatible", "0"),
        ("root", "incompatible", "7"),
        ("cut", "compatible", "0"),
        ("Scale.scaled", "compatible", "0"),
    }
    assert "2 tests, 1 failed: test_that_fails" in written
    assert label(tmp_path, "--tests", str(source / "tests")) == told
    assert results.read_text() == written


NOISY = """\
import tensorflow as tf

def doubled(x):
    return x * 2.0

def noisy(x):
    noise = tf.random.normal([2], dtype=tf.float64)
    return x + tf.cast(noise[0], x.dtype)
"""


@pytest.mark.compiler
def test_calls_that_compile_here_are_handed_to_the_compiler_of_a_tpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text(NOISY)
    (tmp_path / "packages.toml").write_text(PINS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    label(tmp_path)
    assert {row[:2] for row in labels(tmp_path)} == {
        ("doubled", "compatible"),
        ("noisy", "compatible"),
    }
    written = (tmp_path / "labels" / "tiny.tsv").read_text()
    counts, *refused = label(tmp_path, "--tpu", "tpu-v5e").splitlines()
    assert counts == "tiny: 1 compiles, 1 refused"
    assert len(refused) == 1
    assert refused[0].startswith(
        "tiny/__init__.py:7: tiny.noisy (forward): PjrtError: While rewriting"
    )
    assert (tmp_path / "labels" / "tiny.tsv").read_text() == written


def label(folder: Path, *options: str) -> str:
    done = subprocess.run(
        [
            *(sys.executable, str(CHECKOUT / "benchmarks" / "accuracy" / "label"), "tiny"),
            *("--work", str(folder / "work"), *options),
            *("--labels", str(folder / "labels")),
            *("--packages-file", str(folder / "packages.toml")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def labels(folder: Path) -> set[tuple[str, str, str]]:
    lines = (folder / "labels" / "tiny.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return {(row[1], row[4], row[5]) for row in rows}
