"""Whatever a child does, the parent learns how it ended and keeps what it had reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xlalint
from xlalint.isolation.sandbox import Limits, Outcome, run

CHECKOUT = {**os.environ, "PYTHONPATH": str(Path(xlalint.__file__).parents[1])}

EMIT = """
import json, os, sys
MARK, PIPE = os.environ["XLALINT_SANDBOX"], os.open(os.environ["XLALINT_RESULTS"], os.O_WRONLY)
def emit(**record): os.write(PIPE, f"\\n{MARK} {json.dumps(record)}\\n".encode())
"""


def child(code: str, tmp_path: Path, **limits: float) -> Outcome:
    script = tmp_path / "child.py"
    script.write_text(EMIT + code)
    allowed = Limits(
        wall=limits.get("wall", 20.0),
        idle=limits.get("idle", 0.0),
        memory_mb=int(limits.get("memory_mb", 0)),
    )
    return run([sys.executable, str(script)], limits=allowed)


def line_of(text: str, code: str) -> int:
    return (EMIT + code).splitlines().index(text) + 1


ENDS = [
    ("finishes", 'emit(kind="a"); emit(kind="end")', "ok", 0, None),
    ("aborts", 'emit(kind="a"); os.abort()', "crash", -signal.SIGABRT, "SIGABRT"),
    (
        "segfaults",
        'emit(kind="a")\nimport ctypes; ctypes.string_at(0)',
        "crash",
        -signal.SIGSEGV,
        "SIGSEGV",
    ),
    ("exits with a code", 'emit(kind="a"); sys.exit(3)', "exit", 3, None),
    ("raises", 'emit(kind="a"); raise ValueError("no")', "exit", 1, None),
    ("leaves silently", 'emit(kind="a"); os._exit(0)', "no-result", 0, None),
]


@pytest.mark.parametrize(
    ("code", "status", "returncode", "name"),
    [end[1:] for end in ENDS],
    ids=[end[0] for end in ENDS],
)
def test_each_end_has_its_status_and_keeps_earlier_records(
    code: str, status: str, returncode: int, name: str | None, tmp_path: Path
) -> None:
    outcome = child(code, tmp_path)
    assert (outcome.status, outcome.returncode, outcome.signal) == (status, returncode, name)
    assert outcome.records[0] == {"kind": "a"}


def test_a_segfault_names_the_python_line(tmp_path: Path) -> None:
    code = "import ctypes\ndef crash():\n    ctypes.string_at(0)\ncrash()"
    outcome = child(code, tmp_path)
    mine = [frame for frame in outcome.stack if frame.path.endswith("child.py")]
    assert (mine[0].line, mine[0].function) == (line_of("    ctypes.string_at(0)", code), "crash")


def test_an_endless_loop_is_stopped_and_its_line_is_known(tmp_path: Path) -> None:
    code = "def spin():\n    while True:\n        pass\nemit(kind='a')\nspin()"
    outcome = child(code, tmp_path, wall=1.0)
    assert outcome.status == "timeout"
    assert outcome.records == ({"kind": "a"},)
    assert outcome.stack[0].function == "spin"
    assert outcome.stack[0].line in {
        line_of("    while True:", code),
        line_of("        pass", code),
    }


def test_a_loop_in_c_that_ignores_signals_is_stopped(tmp_path: Path) -> None:
    code = (
        "import signal, re, faulthandler\nfaulthandler.disable()\nsignal.signal(signal.SIGABRT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nre.match(r'(a+)+b', 'a' * 64)"
    )
    started = time.monotonic()
    assert child(code, tmp_path, wall=0.7).status == "timeout"
    assert time.monotonic() - started < 10


def test_silence_is_stopped_before_the_wall_limit(tmp_path: Path) -> None:
    outcome = child("import time\nemit(kind='a')\ntime.sleep(60)", tmp_path, wall=60.0, idle=1.0)
    assert outcome.status == "idle-timeout"
    assert outcome.seconds < 20


def test_a_memory_bomb_is_stopped(tmp_path: Path) -> None:
    code = "import time\nkept = []\nwhile True:\n    kept.append(bytearray(b'x' * 20_000_000)); time.sleep(0.01)"
    outcome = child(code, tmp_path, memory_mb=300)
    assert outcome.status == "memory"
    assert 300 <= outcome.peak_mb < 3000


def test_a_flood_of_output_neither_blocks_nor_fills_memory(tmp_path: Path) -> None:
    code = (
        "for _ in range(2000): sys.stdout.write('x' * 20000); sys.stderr.write('y' * 20000)\n"
        "print('last words'); emit(kind='end')"
    )
    outcome = child(code, tmp_path)
    assert outcome.status == "ok"
    assert len(outcome.stdout) <= 64_000 and len(outcome.stderr) <= 64_000
    assert outcome.stdout.endswith("last words\n")


def test_reading_input_finds_its_end_at_once(tmp_path: Path) -> None:
    outcome = child("input()", tmp_path)
    assert outcome.status == "exit"
    assert "EOFError" in outcome.stderr


@pytest.mark.parametrize("leaves_session", [False, True])
@pytest.mark.parametrize("environment", ["None", "{}"])
def test_an_orphaned_grandchild_does_not_survive(
    leaves_session: bool, environment: str, tmp_path: Path
) -> None:
    code = (
        "import subprocess, time\n"
        "time.sleep(0.4)  # so that no look at the processes comes between its start and our end\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], "
        f"start_new_session={leaves_session}, env={environment})\n"
        "emit(kind='pid', pid=p.pid); emit(kind='end')"
    )
    outcome = child(code, tmp_path)
    assert outcome.status == "ok"
    assert _gone(outcome.records[0]["pid"])


def _gone(pid: int) -> bool:
    for _ in range(50):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


def test_json_on_stdout_is_not_a_result(tmp_path: Path) -> None:
    outcome = child('print(\'{"kind": "end"}\')', tmp_path)
    assert (outcome.status, outcome.records) == ("no-result", ())


def test_noise_on_the_result_pipe_is_dropped(tmp_path: Path) -> None:
    noise = 'hello\\n[1]\\n{"kind": "target"}\\n' + "x" * 100_000 + "half a line"
    code = f"os.write(PIPE, {noise.encode()!r}); emit(kind='end')"
    assert child(code, tmp_path).records == ({"kind": "end"},)


def test_closing_every_descriptor_is_an_end_without_a_result(tmp_path: Path) -> None:
    outcome = child(
        "emit(kind='a'); os.closerange(0, 1000); import time; time.sleep(0.5)", tmp_path
    )
    assert outcome.status in ("no-result", "exit")
    assert outcome.records == ({"kind": "a"},)


def test_a_command_that_does_not_exist_is_said(tmp_path: Path) -> None:
    outcome = run([str(tmp_path / "nowhere")])
    assert outcome.status == "not-started"
    assert "nowhere" in outcome.stderr


def test_stderr_lines_stream_while_the_child_runs(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(
        "import sys\nfor i in range(3): print('line', i, file=sys.stderr, flush=True)\n"
    )
    lines: list[str] = []
    run([sys.executable, str(script)], on_stderr_line=lines.append)
    assert lines == ["line 0", "line 1", "line 2"]


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child_code = (
        f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    )
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from xlalint.isolation.sandbox import run; import sys; run([sys.executable, '-c', {child_code!r}])",
        ],
        env=CHECKOUT,
    )
    while not pid_file.exists() or not pid_file.read_text():
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert _gone(int(pid_file.read_text()))


def test_interrupting_the_parent_returns_what_is_known(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(EMIT + "import time; emit(kind='a'); time.sleep(300)")
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import signal, sys\nfrom xlalint.isolation.sandbox import run\n"
        # A shell starts what it puts into the background with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def heard(record): print('heard', flush=True)\n"
        f"outcome = run([sys.executable, {str(script)!r}], on_record=heard)\n"
        "print(outcome.status, outcome.records)\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(parent)], stdout=subprocess.PIPE, text=True, env=CHECKOUT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "heard\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted ({'kind': 'a'},)\n"
