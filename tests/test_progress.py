"""A sign of life on the terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import xlalint

PROGRAM = """\
import time
from xlalint.cli.progress import progress
with progress("checking"):
    time.sleep({seconds})
print("done")
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(xlalint.__file__).parent.parent)}


def shown_on_terminal(seconds: float) -> str:
    """What a block that takes so long writes to a terminal on standard error."""
    terminal, inside = pty.openpty()
    command = [sys.executable, "-c", PROGRAM.format(seconds=seconds)]
    subprocess.run(
        command, stderr=inside, stdout=subprocess.DEVNULL, env=ENVIRONMENT, check=True, timeout=60
    )
    # A byte of our own marks the end: reading more than was written would wait for ever.
    os.write(inside, b"!")
    shown = b""
    while not shown.endswith(b"!"):
        shown += os.read(terminal, 10_000)
    os.close(inside)
    return shown.decode()[:-1]


def test_after_a_second_it_says_what_takes_so_long_and_wipes_it_away() -> None:
    shown = shown_on_terminal(1.6)
    assert "xlalint: checking, 1 s" in shown
    assert shown.endswith("\r\x1b[K")


def test_what_is_quick_says_nothing() -> None:
    assert shown_on_terminal(0.05) == ""


def test_without_a_terminal_there_is_no_progress() -> None:
    command = [sys.executable, "-c", PROGRAM.format(seconds=1.3)]
    ran = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=True, timeout=60)
    assert (ran.stderr, ran.stdout) == (b"", b"done\n")
