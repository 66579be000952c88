"""Run a command in a child process that may crash, hang, eat memory or flood its output, and report what it managed.

Results come as lines of JSON over a pipe of their own, never over stdout, which belongs to the program under test. XLA and
TensorFlow can abort or segfault (`t[-1]`, `tf.cumsum` of a boolean mask), so a crash is a result, and what was reported
before it is kept.
"""

from __future__ import annotations

import ctypes
import os
import resource
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xlalint.isolation import memory, outcome, processes, scratch
from xlalint.isolation.outcome import Frame as Frame
from xlalint.isolation.outcome import Outcome as Outcome
from xlalint.isolation.outcome import Status as Status
from xlalint.isolation.wire import END as END
from xlalint.isolation.wire import RESULTS, Records, Tail

# How Python begins a child of ours: what follows are the module whose `main` it calls, and that one's argument.
BEGIN = (str(Path(__file__).with_name("child.py")),)
_POLL = 0.1
_RSS_EVERY = 0.25
_SCAN_EVERY = 1.0
_SCAN_SHARE = 50  # looking through all processes may take one in so many seconds of this thread
_GRACE = 3.0  # seconds between SIGABRT, which makes faulthandler print the stacks, and SIGKILL
_TAIL = 64_000
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: seconds in all, seconds without a record, MiB of memory; 0 for no limit.

    `leave_mb` is what must stay free on the machine, else the child is stopped as if it held too much itself.
    """

    wall: float = 600.0
    idle: float = 0.0
    memory_mb: int = 0
    leave_mb: int = 0


def run(
    argv: Sequence[str],
    *,
    limits: Limits = Limits(),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    folder: Path | None = None,
    mark: str = "",
    on_record: Callable[[dict[str, Any]], None] | None = None,
    on_stderr_line: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Run `argv` to its end or to a limit. Never raises for what the child does.

    Ctrl-C in the thread that waits, or `stop` set by another one, ends the child with status `interrupted`.

    `env` is added to this process's environment. `folder`, made here and removed in the end, is where the child's temporary
    files go. In the child's environment, $XLALINT_RESULTS is the path of the pipe for records (`wire.encode`), and
    $XLALINT_SANDBOX, which begins with `mark`, marks them and every process that the child starts.
    """
    with ExitStack() as opened:
        place = folder or opened.enter_context(scratch.folder()) / "1"
        pipe = opened.enter_context(_pipe(place))
        mark += secrets.token_hex(8)
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(env or {}, pipe.path, place, mark),
                cwd=cwd,
                start_new_session=True,
                preexec_fn=_tie_to_parent(os.getpid(), mark),
            )
        except OSError as error:
            return Outcome("not-started", None, None, (), 0.0, 0, "", str(error))
        watch = _Watch(
            process,
            pipe.read_end,
            mark,
            limits,
            Records(mark, on_record),
            Tail(_TAIL),
            Tail(_TAIL, on_stderr_line),
            started,
            stop or threading.Event(),
        )
        return watch.to_the_end()


def _environment(
    added: Mapping[str, str], results: Path, temporary: Path, mark: str
) -> dict[str, str]:
    return {
        **os.environ,
        "TMPDIR": str(temporary),
        **added,
        RESULTS: str(results),
        processes.MARK: mark,
        "PYTHONFAULTHANDLER": "1",
    }


@dataclass(frozen=True, slots=True)
class _Pipe:
    path: Path
    read_end: int


@contextmanager
def _pipe(folder: Path) -> Iterator[_Pipe]:
    """A pipe with a name beside `folder`: a child that lost its descriptor (`os.closerange`) opens it again."""
    folder.mkdir()
    path = folder.with_name(f"{folder.name}.results")
    os.mkfifo(path, 0o600)
    read_end = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    write_end = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # so that the pipe never ends
    try:
        yield _Pipe(path, read_end)
    finally:
        os.close(write_end)
        os.close(read_end)
        scratch.remove(folder)
        path.unlink(missing_ok=True)


def _tie_to_parent(parent: int, mark: str) -> Callable[[], None]:
    """What the child does between fork and exec: no core files, a number that what it starts cannot lose, and on Linux
    SIGKILL when this process is gone.
    """
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def tie() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        processes.number_this(mark)
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
    mark: str
    limits: Limits
    records: Records
    stdout: Tail
    stderr: Tail
    started: float
    stop: threading.Event
    peak: int = 0
    heard: float = 0.0
    next_look: float = 0.0
    next_scan: float = 0.0
    family: set[tuple[int, int]] = field(default_factory=set)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def to_the_end(self) -> Outcome:
        assert self.process.stdout is not None and self.process.stderr is not None
        for fd in (self.results_fd, self.process.stdout.fileno(), self.process.stderr.fileno()):
            os.set_blocking(fd, False)
            self.selector.register(fd, selectors.EVENT_READ)
        self.heard = time.monotonic()
        stopped: Status | None = None
        try:
            with self._waking_at_its_end():
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

    @contextmanager
    def _waking_at_its_end(self) -> Iterator[None]:
        """Let the child's end end a wait at once, where the system tells of it."""
        try:
            ending = os.pidfd_open(self.process.pid)
        except (AttributeError, OSError):
            yield
            return
        self.selector.register(ending, selectors.EVENT_READ)
        try:
            yield
        finally:
            self.selector.unregister(ending)
            os.close(ending)

    def _read(self, timeout: float) -> bool:
        """Read what is there; True if anything was."""
        assert self.process.stdout is not None and self.process.stderr is not None
        takers = {
            self.results_fd: self._hear,
            self.process.stdout.fileno(): self.stdout.feed,
            self.process.stderr.fileno(): self.stderr.feed,
        }
        got = False
        for key, _ in self.selector.select(timeout):
            take = takers.get(key.fd)
            if take is None:
                continue
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                self.selector.unregister(key.fd)
                continue
            got = True
            take(data)
        return got

    def _hear(self, data: bytes) -> None:
        self.heard = time.monotonic()
        self.records.feed(data)

    def _over_limit(self) -> Status | None:
        if self.stop.is_set():
            return "interrupted"
        now = time.monotonic()
        if now > self.next_look:
            self.next_look = now + _RSS_EVERY
            if self._holds_too_much(now):
                return "memory"
        if self.limits.wall and now - self.started > self.limits.wall:
            return "timeout"
        if self.limits.idle and now - self.heard > self.limits.idle:
            return "idle-timeout"
        return None

    def _holds_too_much(self, now: float) -> bool:
        """The child's memory is looked at each time, that of what it started when there is time for it."""
        held = processes.resident(self.process.pid)
        if now > self.next_scan:
            before = time.thread_time()
            family = processes.family(self.process.pid, processes.table())
            held = sum(one.resident for one in family)
            self.family.update(one.identity for one in family)
            spent = time.thread_time() - before
            self.next_scan = now + max(_SCAN_EVERY, spent * _SCAN_SHARE)
            if self.limits.leave_mb:
                free = memory.available_mb()
                if free is not None and free < self.limits.leave_mb:
                    return True
        self.peak = max(self.peak, held)
        return bool(self.limits.memory_mb) and held > self.limits.memory_mb << 20

    def _ask_where_it_hangs(self) -> None:
        self.process.send_signal(signal.SIGABRT)
        deadline = time.monotonic() + _GRACE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(_POLL)

    def _kill_all(self) -> None:
        """The child, what it left in its session, and what left that but was seen earlier or carries our mark."""
        if self.process.poll() is None:
            family = processes.family(self.process.pid, processes.table())
            self.family.update(one.identity for one in family)
            self.process.kill()
        processes.kill_all([self.process.pid], self.mark, self.family)

    def _drain(self) -> None:
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline and self._read(0.0):
            pass
        self.selector.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _outcome(self, stopped: Status | None, code: int) -> Outcome:
        stderr = self.stderr.text()
        status = stopped or outcome.ended(code, self.records.found)
        unclean = status in ("crash", "timeout", "idle-timeout", "memory")
        return Outcome(
            status=status,
            returncode=code,
            signal=outcome.signal_name(code),
            records=tuple(self.records.found),
            seconds=time.monotonic() - self.started,
            peak_mb=self.peak >> 20,
            stdout=self.stdout.text(),
            stderr=stderr,
            stack=outcome.stack_of(stderr) if unclean else (),
            abort_message=outcome.abort_message(stderr) if unclean else "",
        )
