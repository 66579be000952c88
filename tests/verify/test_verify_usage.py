"""`xlalint verify` asked for what it cannot do: a message that says what would do, and exit status 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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
    (("verify", "--target", "tpu-v5e-3", "."), "slices of v5e have 1, 4, 8, 16, 32, 64, 128, 256"),
    (("verify", "--target", "tpu-v9", "."), "tpu-v9 is no TPU that the compiler knows: tpu-v2"),
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


def test_findings_with_nothing_to_run_are_told_with_their_tensorflow(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    """What check says by itself is of the TensorFlow that the project asks for, and may be nothing."""
    write(
        {
            "pyproject.toml": '[project]\nname = "old"\nversion = "1"\ndependencies = ["tensorflow==2.12.*"]\n',
            "lib.py": "import tensorflow as tf\n\nSTEP = tf.keras.optimizers.legacy.SGD(0.1)\n",
        }
    )
    assert xlalint("check", ".").status == 0
    ran = xlalint("verify", ".")
    assert ran.status == 2
    assert "check has 1 finding here (checked for TensorFlow 2." in ran.err
    assert "which is installed, not 2.12), but nothing to run was found" in ran.err


def test_without_tensorflow_the_extra_is_named(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"train.py": "print(1)\n", "site/sitecustomize.py": WITHOUT_TENSORFLOW})
    path = os.pathsep.join(
        [str(folder / "site"), str(Path(xlalint_package.__file__).parent.parent)]
    )
    ran = xlalint("verify", "--", "python", "train.py", PYTHONPATH=path, PATH="/nowhere")
    assert ran.status == 2
    assert "pip install 'xlalint[verify]'" in ran.err


WAITS_WITH_A_CHILD = """\
    import os, subprocess, sys, tempfile, time
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    # A shell's files are the user's.
    os.system(f"echo {tempfile.gettempdir()} > folder; echo {os.getpid()} {grandchild.pid} . > pids")
    time.sleep(300)
    """


@pytest.fixture
def verifying(write: WriteFiles) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """`xlalint verify` while its child and what that started are running, and the folder it runs in."""
    folder = write({"train.py": WAITS_WITH_A_CHILD})
    process = subprocess.Popen(
        [sys.executable, "-m", "xlalint", "verify", "--", sys.executable, "train.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(xlalint_package.__file__).parent.parent)},
    )
    _wait_until(lambda: (folder / "pids").exists() and (folder / "pids").read_text()[-2:] == ".\n")
    yield process, folder
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_says_what_is_known_and_leaves_nobody_behind(
    number: signal.Signals, verifying: tuple[subprocess.Popen[str], Path]
) -> None:
    process, folder = verifying
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.rstrip().endswith("interrupted")
    assert "Traceback" not in err
    assert _is_over(folder)


def test_interrupting_twice_ends_at_once(
    verifying: tuple[subprocess.Popen[str], Path],
) -> None:
    process, folder = verifying
    os.kill(process.pid, signal.SIGSTOP)  # so that both signals are there when it looks
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=30)
    assert process.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    assert (out, "Traceback" in err) == ("", False)
    _wait_until(lambda: _is_over(folder))


def test_killing_it_leaves_no_process_and_no_file(
    verifying: tuple[subprocess.Popen[str], Path],
) -> None:
    process, folder = verifying
    process.kill()
    process.communicate(timeout=30)
    _wait_until(lambda: _is_over(folder))


def _is_over(folder: Path) -> bool:
    pids = (folder / "pids").read_text().split()[:2]
    ours = next(
        place
        for place in Path((folder / "folder").read_text().strip()).parents
        if place.name.startswith("xlalint-")
    )
    return not any(_lives(pid) for pid in pids) and not ours.exists()


def _lives(pid: str) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("in vain")
