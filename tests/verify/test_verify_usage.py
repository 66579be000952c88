"""`xlalint verify` asked for what it cannot do: a message that says what would do, and exit status 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

import xlalint as xlalint_package

# What Python is told of a module that is not there.
WITHOUT_TENSORFLOW = 'import sys\nsys.modules["tensorflow"] = None\n'

ASKED = [
    (
        ("verify", "--"),
        "nothing after `--`; give the command that trains, such as `-- python train.py`",
    ),
    (("verify", "--", "make", "train"), "`make` is not Python"),
    (("verify", "--", "python", "absent.py"), "absent.py: no such file"),
    (("verify", "--target", "tpu-v5e", "."), "tpu-v5e needs the TPU compiler (extra `tpu`)"),
    (("verify", "--target", "v5e-8", "."), "v5e-8 needs the TPU compiler (extra `tpu`)"),
    (
        ("verify", "--target", "abacus", "."),
        "'abacus' is not one of 'cpu', 'gpu', 'tpu-vm', 'tpu-node'",
    ),
    (("verify", "--steps", "0", "."), "0 is not in the range x>=1"),
    (("verify", "--strategy", "hope", "."), "'hope' is not one of"),
]


@pytest.mark.parametrize(("arguments", "message"), ASKED, ids=[" ".join(row[0]) for row in ASKED])
def test_a_request_that_cannot_be_met_is_explained(
    arguments: tuple[str, ...], message: str, write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"lib.py": "import tensorflow as tf\n"})
    ran = xlalint(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_nothing_to_run_says_how_to_run_something(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"lib.py": "import tensorflow as tf\n\n\ndef f(x):\n    return x\n"})
    ran = xlalint("verify", ".")
    assert ran.status == 2
    assert "no function with an input_signature, no program and no entry in the settings" in ran.err
    assert "xlalint verify -- python train.py" in ran.err


def test_without_tensorflow_the_extra_is_named(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"train.py": "print(1)\n", "site/sitecustomize.py": WITHOUT_TENSORFLOW})
    path = os.pathsep.join(
        [str(folder / "site"), str(Path(xlalint_package.__file__).parent.parent)]
    )
    ran = xlalint("verify", "--", "python", "train.py", PYTHONPATH=path, PATH="/nowhere")
    assert ran.status == 2
    assert "pip install 'xlalint[verify]'" in ran.err


def test_interrupting_says_what_is_known_and_leaves_nobody_behind(write: WriteFiles) -> None:
    folder = write(
        {
            "train.py": """\
                import os, time
                os.system(f"echo {os.getpid()} > pid")  # a shell's file is the user's
                time.sleep(300)
                """
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "xlalint", "verify", "--", sys.executable, "train.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(xlalint_package.__file__).parent.parent)},
    )
    child = _wait_for(folder / "pid")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.rstrip().endswith("interrupted")
    assert "Traceback" not in err
    assert not Path(f"/proc/{child}").exists()


def _wait_for(file: Path) -> str:
    for _ in range(200):
        if file.exists() and file.read_text():
            return file.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{file} was not written")
