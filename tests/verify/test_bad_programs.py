"""Whatever a program does to its process, what is said of it is clear, and the others go on.

All programs run in one go, as one `verify` would run them; none needs TensorFlow.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from xlalint.isolation import processes
from xlalint.isolation.sandbox import Limits
from xlalint.verify import plan, run
from xlalint.verify.records import TrainingReport
from xlalint.verify.run import Gathered

# Its programs run once: with `--dist loadgroup`, in one worker.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bad-programs")]

WALL = 8.0  # seconds, of which the slowest machine needs a quarter to get to the program
MEMORY = 700  # MiB
TIMED_OUT = f"the process was stopped after {WALL:.0f} s (--timeout)"
LEFT = "the process left on its own (os._exit, exec, or a copy of it that went on alone), without a result"

# What a program does -> how its training ended, what is said of that, and the line that is named (0: none).
CRASHES = {
    "segfaults": ("import ctypes\nctypes.string_at(0)", "was killed by SIGSEGV", 2),
    "aborts": ("import os\nos.abort()", "was killed by SIGABRT", 2),
    "recurses in C": (
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr([self])\nrepr(A())",
        "was killed by SIGSEGV",
        4,
    ),
    "segfaults without faulthandler": (
        "import faulthandler, ctypes\nfaulthandler.disable()\nctypes.string_at(0)",
        "was killed by SIGSEGV",
        0,
    ),
    "kills itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "was killed by SIGKILL",
        0,
    ),
    "kills its group": (
        "import os, signal\nos.killpg(0, signal.SIGTERM)",
        "was killed by SIGTERM",
        0,
    ),
    "sets an alarm": ("import signal, time\nsignal.alarm(1)\ntime.sleep(99)", "SIGALRM", 0),
    "exits with a code": ("import sys\nsys.exit(3)", "the program left with exit code 3", None),
    "exits with words": (
        "import sys\nsys.exit('no data here')",
        "the program left, saying: no data here",
        None,
    ),
    "leaves with a code": ("import os\nos._exit(7)", "the process exited with code 7", 0),
    "leaves in silence": ("import os\nos._exit(0)", LEFT, 0),
    "becomes another program": (
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])",
        LEFT,
        0,
    ),
    "becomes a daemon": (
        "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(999)",
        LEFT,
        0,
    ),
    "uses up its processor time": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
        "was killed by",
        0,
    ),
    "imports what is not there": (
        "import no_such_library",
        "ModuleNotFoundError: No module named 'no_such_library'",
        1,
    ),
    "imports a name that is not there": ("from os import no_such_name", "ImportError: cannot", 1),
    "does not parse": ("def f(:\n    pass", "SyntaxError", 1),
    "asks its user": ("input('name? ')", "EOFError: EOF when reading a line", 1),
    "raises what has no text": (
        "class Odd(BaseException):\n    def __str__(self): raise RuntimeError\nraise Odd()",
        "Odd: (its text cannot be had: RuntimeError)",
        3,
    ),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
    "raises what no terminal can show": (
        "raise ValueError('\\ud800 \\x1b[31mred')",
        r"ValueError: \ud800 \x1b[31mred",
        1,
    ),
    "silences its errors": (
        "import sys\nsys.excepthook = lambda *a: None\nraise ValueError('silent')",
        "ValueError: silent",
        3,
    ),
    "makes errors of warnings": (
        "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('x')",
        "UserWarning: x",
        3,
    ),
    "traces with what fails": (
        "import sys\ndef t(*a): raise RuntimeError('traced')\nsys.settrace(t)\nlen([])",
        "RuntimeError: traced",
        2,
    ),
    "asks for a GPU": (
        "import ctypes\nctypes.CDLL('libcuda-of-nowhere.so')",
        "OSError: libcuda-of-nowhere.so",
        2,
    ),
}
HANGS = {
    "never ends": ("while True: pass", 1),
    "sleeps": ("import time\ntime.sleep(999)", 2),
    "waits for itself": ("import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()", 4),
    "ignores every signal and never ends": (
        "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass",
        0,
    ),
    "hides where it hangs": (
        "import faulthandler, sys\nfaulthandler.disable()\nsys.stderr.close()\nwhile True: pass",
        0,
    ),
    "stops itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", 0),
}
ENDS_WELL = {
    "floods stdout": "import sys\nfor _ in range(2000): sys.stdout.write('x' * 20000 + '\\n')",
    "floods stderr": "import sys\nfor _ in range(2000): sys.stderr.write('x' * 20000)",
    "floods both with bytes": (
        "import os\nfor _ in range(2000): os.write(1, bytes(range(256)) * 64); os.write(2, bytes(range(256)) * 64)"
    ),
    "writes one huge line": "import sys\nsys.stderr.write('x' * 30_000_000); sys.stdout.write('y' * 30_000_000)",
    "leaves a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()",
    "leaves threads that spin": (
        "import threading\ndef spin():\n    while True: pass\nfor _ in range(3): threading.Thread(target=spin).start()"
    ),
    "leaves a process": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(999)'])",
    "leaves a process that hides": (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(999)'], "
        "env={}, start_new_session=True)"
    ),
    "changes its folder": "import os, tempfile\nos.chdir(tempfile.mkdtemp())",
    "removes its folder": "import os, tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)",
    "clears the environment": "import os\nos.environ.clear()",
    "spoils the environment": "import os\nos.environ.update(PYTHONPATH='/nowhere', PATH='', HOME='/nowhere', TMPDIR='/nowhere')",
    "breaks builtins": (
        "import builtins\nfor n in 'len isinstance open print getattr repr str sorted range any dict list tuple set max type'.split():\n"
        "    setattr(builtins, n, None)"
    ),
    "breaks imports": "import builtins\ndef no(*a, **k): raise ImportError('no more')\nbuiltins.__import__ = no",
    "breaks json": "import json\njson.dumps = json.loads = json.encoder = None",
    "breaks os": "import os\nos.write = os.getpid = os.fspath = os.path.normpath = os.getcwd = os.environ = os._exit = None",
    "breaks time": "import time\ntime.monotonic = time.time = time.sleep = None",
    "forgets modules": (
        "import sys\nfor n in list(sys.modules):\n    if n.startswith(('xlalint', 'json', 'os', 're')): del sys.modules[n]"
    ),
    "forgets where modules are": "import sys\nsys.path.clear(); sys.meta_path.clear()",
    "closes its output": "import sys\nsys.stdout.close(); sys.stderr.close()",
    "has no output": "import sys\nsys.stdout = sys.stderr = None",
    "has an output that fails": (
        "import sys\nclass Full:\n    def write(self, text): raise OSError('full')\nsys.stdout = sys.stderr = Full()"
    ),
    "ignores every signal": (
        "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass"
    ),
    "leaves a trace function and a profiler": (
        "import sys\ndef t(*a): raise RuntimeError('traced')\nsys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)"
    ),
    "has slow last wishes": "import atexit, time\natexit.register(time.sleep, 999)",
    "has deadly last wishes": "import atexit, os\natexit.register(os.abort)",
    "collects no garbage": "import gc\ngc.disable(); gc.set_debug(gc.DEBUG_SAVEALL)",
    "allows little recursion": "import sys\nsys.setrecursionlimit(60)",
    "makes errors of later warnings": "import warnings\nwarnings.simplefilter('error')",
    **{
        f"starts processes by {method}": (
            f"import multiprocessing as mp\ndef f(x): return x\nif __name__ == '__main__':\n    mp.set_start_method('{method}')\n"
            "    with mp.Pool(2) as p: assert p.map(f, [1, 2]) == [1, 2]"
        )
        for method in ("fork", "forkserver", "spawn")
    },
    "forks": "import os\nos.fork()",
    "forks and forks": "import os\nfor _ in range(4): os.fork()",
    "forks, and its copy fails": "import os\nif os.fork() == 0: raise ValueError('in the copy')\nos.wait()",
    "closes all descriptors": "import os\nos.closerange(0, 4096)",
    "takes the descriptors for itself": (
        "import os, ctypes\nos.closerange(3, 4096)\n"
        "for i in range(30): ctypes.CDLL(None).open(b'mine%d.txt' % i, os.O_RDWR | os.O_CREAT, 0o600)"
    ),
    "writes to every descriptor": (
        'import os\nfor fd in range(3, 64):\n    try: os.write(fd, b\'x\\n{"kind": "end"}\\n{"kind": "target"}\\n[1]\\nhalf a line\')\n'
        "    except OSError: pass"
    ),
    "floods every descriptor": (
        "import os\nfor fd in range(3, 64):\n    try:\n        for _ in range(500): os.write(fd, b'x' * 20000)\n    except OSError: pass"
    ),
    "removes temporary files": (
        "import glob, shutil, tempfile\nfor f in glob.glob(tempfile.gettempdir() + '/../xlalint*'): shutil.rmtree(f, ignore_errors=True)"
    ),
    "quits": "quit()",
}
MEMORY_BOMB = (
    "kept = []\nwhile True:\n    kept.append(b'x' * 30_000_000)\n    if len(kept) > 100: break"
)


@dataclass(frozen=True)
class Done:
    gathered: Gathered
    folder: Path
    temporary: Path
    processes_left: tuple[int, ...]

    def training(self, name: str) -> TrainingReport:
        (found,) = [one for one in self.gathered.trainings if one.program == label(name)]
        return found


def file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name) + ".py"


def label(name: str) -> str:
    return f"python {file_name(name)}"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    folder = tmp_path_factory.mktemp("programs")
    # A short path, as temporary folders have: multiprocessing's sockets lie in it, and their paths may not exceed 107 bytes.
    with tempfile.TemporaryDirectory(prefix="x") as temporary:
        yield _all_done(folder, Path(temporary))


def _all_done(folder: Path, temporary: Path) -> Done:
    sources = {
        **{name: row[0] for name, row in CRASHES.items()},
        **{name: row[0] for name, row in HANGS.items()},
        **ENDS_WELL,
        "eats memory": MEMORY_BOMB,
        "leaves temporary files": "import tempfile\ntempfile.mkdtemp(); open(tempfile.gettempdir() + '/x', 'w').write('x')",
        "is fine": "print('fine')",
    }
    planned = []
    for name, source in sources.items():
        (folder / file_name(name)).write_text(source + "\n")
        command = plan.Command((sys.executable,), file_name(name), False, ())
        planned += plan.training_jobs(command, plan.Options(strategy="none"), [], folder)
    before = {one.pid for one in processes.table()}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(tempfile, "tempdir", str(temporary))
        gathered = run.run(
            planned, Limits(wall=WALL, memory_mb=MEMORY), lambda text, child="": None, workers=4
        )
    left = [
        one.pid
        for one in processes.table()
        if one.pid not in before and "time.sleep(999)" in command_of(one.pid)
    ]
    return Done(gathered, folder, temporary, tuple(left))


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


@pytest.mark.parametrize("name", CRASHES)
def test_a_program_that_fails_is_told_with_its_reason_and_line(name: str, done: Done) -> None:
    _, words, line = CRASHES[name]
    training = done.training(name)
    assert training.status == "failed"
    assert words in training.detail
    place = training.failure.place if training.failure is not None else None
    assert (None if training.failure is None else place.line if place else 0) == line


@pytest.mark.parametrize("name", HANGS)
def test_a_program_that_hangs_is_stopped(name: str, done: Done) -> None:
    _, line = HANGS[name]
    training = done.training(name)
    assert training.status == "failed"
    assert training.detail.startswith("the process was stopped after ")
    assert training.failure is not None
    assert (training.failure.place.line if training.failure.place else 0) == line


@pytest.mark.parametrize("name", [*ENDS_WELL, "leaves temporary files", "is fine"])
def test_a_program_that_ends_has_ended_whatever_it_left_behind(name: str, done: Done) -> None:
    training = done.training(name)
    assert (training.status, training.detail) == ("ended", "")


def test_a_program_that_eats_memory_is_stopped_before_the_machine_is_short_of_it(
    done: Done,
) -> None:
    training = done.training("eats memory")
    assert training.status == "failed"
    assert "was stopped: it held" in training.detail


def test_nothing_else_is_said_of_them(done: Done) -> None:
    assert (done.gathered.broken, done.gathered.targets) == ([], [])


def test_no_file_of_theirs_stays_and_none_of_ours(done: Done) -> None:
    assert list(done.temporary.iterdir()) == []


def test_no_process_of_theirs_stays(done: Done) -> None:
    assert done.processes_left == ()


def test_no_file_that_a_program_opened_received_our_records(done: Done) -> None:
    assert {file.read_text() for file in done.folder.glob("mine*.txt")} == {""}
