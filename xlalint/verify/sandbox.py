"""Run a command in a child process that may crash, hang, eat memory or flood its output, and report what it managed.

Results come as JSON lines over an inherited pipe, never over stdout, which belongs to the program under test. XLA and
TensorFlow can abort or segfault (`t[-1]`, `tf.cumsum` of a boolean mask), so a crash is a result, and what was reported
before it is kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import resource
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Status = Literal[
    "ok",
    "exit",
    "crash",
    "timeout",
    "idle-timeout",
    "memory",
    "no-result",
    "interrupted",
    "not-started",
]

RESULT_FD = "XLALINT_RESULT_FD"
TOKEN = "XLALINT_SANDBOX"
END = "end"  # the `kind` of the record that says the child did all it was asked

_POLL = 0.1
_RSS_EVERY = 0.25
_GRACE = 3.0  # seconds between SIGABRT, which makes faulthandler print the stacks, and SIGKILL
_TAIL = 64_000
_LONGEST_RECORD = 8_000_000
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: seconds in all, seconds without a record (0: no limit), MiB of memory (0: no limit)."""

    wall: float = 600.0
    idle: float = 0.0
    memory_mb: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack that faulthandler printed, innermost first."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a child. `stack` is where it stood when it was stopped or crashed, innermost frame first."""

    status: Status
    returncode: int | None
    signal: str | None
    records: tuple[dict[str, Any], ...]
    seconds: float
    peak_mb: int
    stdout: str
    stderr: str
    stack: tuple[Frame, ...] = ()
    abort_message: str = ""

    @property
    def describes(self) -> str:
        """One phrase for the reader: `killed by SIGSEGV`, `stopped after 600 s`."""
        phrases = {
            "ok": "finished",
            "exit": f"exited with code {self.returncode}",
            "crash": f"was killed by {self.signal}",
            "timeout": f"was stopped after {self.seconds:.0f} s (--timeout)",
            "idle-timeout": f"was stopped: nothing happened for too long ({self.seconds:.0f} s in all)",
            "memory": f"was stopped: it held {self.peak_mb} MiB of memory",
            "no-result": f"ended early with code {self.returncode} and without a result",
            "interrupted": "was interrupted",
            "not-started": "could not be started",
        }
        return phrases[self.status]


@dataclass(slots=True)
class _Tail:
    """The last bytes of a stream, and its lines as they come."""

    on_line: Callable[[str], None] | None = None
    kept: bytearray = field(default_factory=bytearray)
    partial: bytes = b""

    def feed(self, data: bytes) -> None:
        self.kept += data
        if len(self.kept) > 2 * _TAIL:
            del self.kept[:-_TAIL]
        if self.on_line is None:
            return
        *lines, rest = (self.partial + data).split(b"\n")
        self.partial = rest[-_TAIL:]
        for line in lines:
            self.on_line(line.decode("utf-8", "replace"))

    def text(self) -> str:
        return bytes(self.kept[-_TAIL:]).decode("utf-8", "replace")


@dataclass(slots=True)
class _Records:
    on_record: Callable[[dict[str, Any]], None] | None
    found: list[dict[str, Any]] = field(default_factory=list)
    partial: bytes = b""

    def feed(self, data: bytes) -> None:
        *lines, rest = (self.partial + data).split(b"\n")
        self.partial = rest if len(rest) <= _LONGEST_RECORD else b""
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue  # the program under test wrote to our descriptor
            if not isinstance(record, dict) or "kind" not in record:
                continue
            self.found.append(record)
            if self.on_record is not None:
                self.on_record(record)


def run(
    argv: Sequence[str],
    *,
    limits: Limits = Limits(),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_record: Callable[[dict[str, Any]], None] | None = None,
    on_stderr_line: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Run `argv` to its end or to a limit. Never raises for what the child does.

    Ctrl-C in the thread that waits, or `stop` set by another one, ends the child with status `interrupted`.

    `env` is added to this process's environment. The child finds the number of the result pipe in $XLALINT_RESULT_FD.
    """
    read_end, write_end = os.pipe()
    token = secrets.token_hex(8)
    child_env = {
        **os.environ,
        **(env or {}),
        RESULT_FD: str(write_end),
        TOKEN: token,
        "PYTHONFAULTHANDLER": "1",
    }
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(write_end,),
            env=child_env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_tie_to_parent(os.getpid()),
        )
    except OSError as error:
        os.close(read_end)
        os.close(write_end)
        return Outcome("not-started", None, None, (), 0.0, 0, "", str(error))
    os.close(write_end)
    watch = _Watch(
        process,
        read_end,
        token,
        limits,
        _Records(on_record),
        _Tail(),
        _Tail(on_stderr_line),
        started,
        stop or threading.Event(),
    )
    try:
        return watch.to_the_end()
    finally:
        os.close(read_end)


def _tie_to_parent(parent: int) -> Callable[[], None]:
    """What the child does between fork and exec: no core files, and SIGKILL when this process is gone."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def tie() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return tie


@dataclass(slots=True)
class _Watch:
    """One child being watched: reads its three pipes and holds it to its limits."""

    process: subprocess.Popen[bytes]
    results_fd: int
    token: str
    limits: Limits
    records: _Records
    stdout: _Tail
    stderr: _Tail
    started: float
    stop: threading.Event
    peak: int = 0
    heard: float = 0.0
    rss_read: float = 0.0
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def to_the_end(self) -> Outcome:
        assert self.process.stdout is not None and self.process.stderr is not None
        for fd in (self.results_fd, self.process.stdout.fileno(), self.process.stderr.fileno()):
            os.set_blocking(fd, False)
            self.selector.register(fd, selectors.EVENT_READ)
        self.heard = time.monotonic()
        stopped: Status | None = None
        try:
            while stopped is None and self.process.poll() is None:
                self._read(_POLL)
                stopped = self._over_limit()
            if stopped in ("timeout", "idle-timeout"):
                self._ask_where_it_hangs()
        except KeyboardInterrupt:
            stopped = "interrupted"
        finally:
            self._kill_all()
        code = self.process.wait()
        self._drain()
        return self._outcome(stopped, code)

    def _read(self, timeout: float) -> bool:
        """Read what is there; True if anything was."""
        got = False
        for key, _ in self.selector.select(timeout):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                self.selector.unregister(key.fd)
                continue
            got = True
            if key.fd == self.results_fd:
                self.heard = time.monotonic()
                self.records.feed(data)
            elif self.process.stdout is not None and key.fd == self.process.stdout.fileno():
                self.stdout.feed(data)
            else:
                self.stderr.feed(data)
        if not self.selector.get_map():
            time.sleep(min(timeout, _POLL))  # the child closed everything but still runs
        return got

    def _over_limit(self) -> Status | None:
        if self.stop.is_set():
            return "interrupted"
        now = time.monotonic()
        if now - self.rss_read > _RSS_EVERY:
            self.rss_read = now
            self.peak = max(self.peak, sum(rss for _, rss in _session(self.process.pid)))
            if self.limits.memory_mb and self.peak > self.limits.memory_mb << 20:
                return "memory"
        if self.limits.wall and now - self.started > self.limits.wall:
            return "timeout"
        if self.limits.idle and now - self.heard > self.limits.idle:
            return "idle-timeout"
        return None

    def _ask_where_it_hangs(self) -> None:
        os.kill(self.process.pid, signal.SIGABRT)
        deadline = time.monotonic() + _GRACE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(_POLL)

    def _kill_all(self) -> None:
        """The child, what it left behind in its session, and what left the session but carries our token."""
        if self.process.returncode is None:
            self.process.kill()
        for pid in {pid for pid, _ in _session(self.process.pid)} | _carriers(self.token):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _drain(self) -> None:
        deadline = time.monotonic() + 1.0
        while self.selector.get_map() and time.monotonic() < deadline and self._read(_POLL / 2):
            pass
        self.selector.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _outcome(self, stopped: Status | None, code: int) -> Outcome:
        stderr = self.stderr.text()
        status = stopped or _ended(code, self.records.found)
        unclean = status in ("crash", "timeout", "idle-timeout")
        return Outcome(
            status=status,
            returncode=code,
            signal=_signal_name(code),
            records=tuple(self.records.found),
            seconds=time.monotonic() - self.started,
            peak_mb=self.peak >> 20,
            stdout=self.stdout.text(),
            stderr=stderr,
            stack=stack_of(stderr) if unclean else (),
            abort_message=_abort_message(stderr) if unclean else "",
        )


def _ended(code: int, records: Sequence[dict[str, Any]]) -> Status:
    if code < 0:
        return "crash"
    if code > 0:
        return "exit"
    return "ok" if any(record["kind"] == END for record in records) else "no-result"


def _signal_name(code: int) -> str | None:
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def stack_of(stderr: str) -> tuple[Frame, ...]:
    """The stack that faulthandler printed last for the thread that was running Python, innermost frame first."""
    dump = stderr.rfind("Fatal Python error:")
    if dump < 0:
        return ()
    blocks = re.split(r"^(?=(?:Current thread|Thread|Stack) )", stderr[dump:], flags=re.M)[1:]
    current = [block for block in blocks if block.startswith("Current thread")]
    # SIGABRT may reach a thread of TensorFlow's: then no thread is "current", and Python's main thread is the last.
    chosen = current or [block for block in blocks if block.startswith("Thread")][-1:]
    found = re.findall(r'^  File "([^"]+)", line (\d+) in (\S+)', chosen[0] if chosen else "", re.M)
    return tuple(Frame(path, int(line), function) for path, line, function in found)


def _abort_message(stderr: str) -> str:
    """TensorFlow's own last words: `F0000 ... Check failed: ...`."""
    said = re.findall(r"^(?:F\d{4} .*|.*Check failed:.*|terminate called.*)$", stderr, re.M)
    return said[-1].strip() if said else ""


def _session(leader: int) -> list[tuple[int, int]]:
    """(pid, resident bytes) of every process in the session of `leader`. Empty where there is no /proc."""
    found = []
    for pid in _pids():
        stat = _read_proc(pid, "stat")
        fields = stat[stat.rfind(b")") + 2 :].split()
        if len(fields) > 21 and int(fields[3]) == leader:
            found.append((pid, int(fields[21]) * _PAGE))
    return found


def _carriers(token: str) -> set[int]:
    mark = f"{TOKEN}={token}".encode()
    return {pid for pid in _pids() if pid != os.getpid() and mark in _read_proc(pid, "environ")}


def _pids() -> list[int]:
    proc = Path("/proc")
    return (
        [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()]
        if proc.is_dir()
        else []
    )


def _read_proc(pid: int, name: str) -> bytes:
    """/proc/PID/NAME, empty when the process is gone or another user's."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


_PAGE = resource.getpagesize()
