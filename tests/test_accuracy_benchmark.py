"""benchmarks/accuracy: what it says of a package whose findings changed since they were recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
FLAGGED = """import tensorflow as tf

@tf.function(jit_compile=True, autograph=False)
def clip(x):
    if tf.reduce_sum(x) > 10.0:
        return x / 2.0
    return x
"""
SILENT = "import tensorflow as tf\n"
HEADER = "path\tline\tcolumn\tcode\tseverity\tconfidence\n"
RECORDED = HEADER + "tiny/__init__.py\t5\t8\tXLA101\terror\tcertain\n"


class Benchmark:
    """The benchmark over one local package, `tiny` 1.0, already unpacked, so that nothing is downloaded."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "cache" / "sources" / "tiny-1.0" / "tiny" / "__init__.py"
        self.source.parent.mkdir(parents=True)
        (folder / "cache" / "wheels").mkdir()
        (folder / "cache" / "wheels" / "tiny-1.0-py3-none-any.whl").touch()
        self.pins = folder / "packages.toml"
        self.pins.write_text('[[package]]\nname = "tiny"\nversion = "1.0"\ntensorflow = "2.21"\n')
        self.record = folder / "recorded" / "tiny-1.0.tsv"

    def run(self, *options: str) -> tuple[int, str]:
        folder = self.pins.parent
        done = subprocess.run(
            [
                *(sys.executable, str(CHECKOUT / "benchmarks" / "accuracy" / "run.py")),
                *("--cache", str(folder / "cache"), "--recorded", str(self.record.parent)),
                *("--packages-file", str(self.pins), *options),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return Benchmark(tmp_path)


def test_a_first_run_shows_every_finding_as_added(benchmark: Benchmark) -> None:
    benchmark.source.write_text(FLAGGED)
    status, output = benchmark.run()
    assert status == 1
    assert "tiny-1.0: 1 finding, 1 added, 0 removed" in output
    assert "  XLA101 1 error\n" in output
    assert "  + tiny/__init__.py:5:8 XLA101 error certain\n" in output


def test_recording_accepts_the_findings_and_the_next_run_is_quiet(benchmark: Benchmark) -> None:
    benchmark.source.write_text(FLAGGED)
    assert benchmark.run("--record")[0] == 0
    assert benchmark.record.read_text() == RECORDED
    status, output = benchmark.run()
    assert status == 0
    assert "1 finding, 0 added, 0 removed" in output


def test_a_finding_that_is_gone_is_shown_as_removed(benchmark: Benchmark) -> None:
    benchmark.source.write_text(SILENT)
    benchmark.record.parent.mkdir()
    benchmark.record.write_text(RECORDED)
    status, output = benchmark.run()
    assert status == 1
    assert "  - tiny/__init__.py:5:8 XLA101 error certain\n" in output
    assert benchmark.record.read_text() == RECORDED


def test_a_finding_of_another_severity_is_removed_and_added(benchmark: Benchmark) -> None:
    benchmark.source.write_text(FLAGGED)
    benchmark.record.parent.mkdir()
    benchmark.record.write_text(RECORDED.replace("error", "warning"))
    status, output = benchmark.run()
    assert status == 1
    assert "  + tiny/__init__.py:5:8 XLA101 error certain\n" in output
    assert "  - tiny/__init__.py:5:8 XLA101 warning certain\n" in output


def test_a_file_that_cannot_be_read_is_part_of_the_record(benchmark: Benchmark) -> None:
    benchmark.source.write_text("def broken(:\n")
    status, output = benchmark.run()
    assert status == 1
    assert "  + tiny/__init__.py:1:12 unread - -\n" in output


def test_a_package_that_nobody_pinned_is_an_error_of_the_command(benchmark: Benchmark) -> None:
    benchmark.source.write_text(SILENT)
    status, output = benchmark.run("missing")
    assert status == 2
    assert "missing" in output
    assert "Traceback" not in output


def test_a_damaged_record_is_named(benchmark: Benchmark) -> None:
    benchmark.source.write_text(SILENT)
    benchmark.record.parent.mkdir()
    benchmark.record.write_text(HEADER + "tiny/__init__.py 5 5\n")
    status, output = benchmark.run()
    assert status == 2
    assert "tiny-1.0.tsv: not a record of findings" in output
    assert "Traceback" not in output
