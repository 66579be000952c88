"""The example project of the README: what check and verify say of it, and that the rewrites mend it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_support import RunXlalint

CHECKOUT = Path(__file__).parent.parent
PROJECT = CHECKOUT / "fixtures" / "projects" / "quickstart"
# The lines of train.py with what is wrong with them.
FAULTS = [
    ("losses = tf.nn.sparse_softmax", "XLA201", "warning"),
    ("if tf.size(losses) > 0:", "XLA101", "warning"),
    ('method="bicubic"', "XLA401", "error"),
    ("tf.print(", "XLA402", "warning"),
    ("tf.unique(", "XLA202", "warning"),
]


def test_check_reports_every_fault_of_the_script(xlalint: RunXlalint) -> None:
    ran = xlalint("check", "train.py", "--format", "json", cwd=PROJECT)
    lines = (PROJECT / "train.py").read_text().splitlines()
    report = json.loads(ran.out)
    expected = {
        (number, code, severity)
        for part, code, severity in FAULTS
        for number, line in enumerate(lines, 1)
        if part in line
    }
    found = {(f["line"], f["code"], f["severity"]) for f in report["findings"]}
    assert ran.status == 1
    assert found == expected
    assert {f["region"]["kind"] for f in report["findings"]} == {"compiled"}
    assert {f["region"]["why"][0] for f in report["findings"]} == {"strategy.run"}


def test_check_has_nothing_to_say_after_the_rewrites(xlalint: RunXlalint) -> None:
    ran = xlalint("check", "train_for_tpu.py", cwd=PROJECT)
    assert (ran.status, ran.err) == (0, "")


@pytest.mark.compiler
def test_verify_confirms_what_its_compiler_came_to(xlalint: RunXlalint) -> None:
    ran = xlalint("verify", "--steps", "5", "--", sys.executable, "train.py", cwd=PROJECT)
    assert ran.status == 1
    found = [line for line in ran.out.splitlines() if ": warning " in line or ": error " in line]
    open_ones = [line for line in found if not line.startswith("  confirmed")]
    assert len(found) == 6
    # A value for tf.print alone, which goes to the host, in a step that fails for its resize.
    assert [line.split(":")[1] for line in open_ones] == ["61"]
    assert "`tf.unique`" in open_ones[0]
    assert "train.py:56:18: lower: ResizeBicubic has no XLA kernel" in ran.out


@pytest.mark.compiler
def test_verify_passes_after_the_rewrites(xlalint: RunXlalint) -> None:
    ran = xlalint("verify", "--steps", "5", "--", sys.executable, "train_for_tpu.py", cwd=PROJECT)
    assert ran.status == 0, ran.out
    assert "TPUStrategy stand-in, 8 replicas: 5 steps" in ran.out
