"""What became of a child process, and what its last words tell of it."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xlalint.isolation.wire import END, PHASE

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

# Signals that a fault of native code ends in; the others are sent.
FAULTS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS")


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
        """One phrase for the reader: `was killed by SIGSEGV`, `was stopped after 600 s (--timeout)`."""
        phrases = {
            "ok": "finished",
            "exit": f"exited with code {self.returncode}",
            "crash": f"was killed by {self.signal}",
            "timeout": f"was stopped after {self.seconds:.0f} s (--timeout)",
            "idle-timeout": f"was stopped: nothing happened for too long ({self.seconds:.0f} s in all)",
            "memory": f"was stopped: it held {self.peak_mb} MiB of memory (--memory)",
            "no-result": "left on its own (os._exit, exec, or a copy of it that went on alone), without a result",
            "interrupted": "was interrupted",
            "not-started": "could not be started",
        }
        return phrases[self.status]

    @property
    def last_words(self) -> str:
        """The last line on stderr, ours left out."""
        said = [line.strip() for line in self.stderr.splitlines()]
        return next((line for line in reversed(said) if line and not line.startswith(PHASE)), "")

    @property
    def is_fault(self) -> bool:
        """Did native code crash, unlike a signal that somebody sent?"""
        return self.status == "crash" and self.signal in FAULTS


def ended(code: int, records: Sequence[dict[str, Any]]) -> Status:
    """The status of a child that ended by itself with `code`."""
    if code < 0:
        return "crash"
    if code > 0:
        return "exit"
    return "ok" if any(record["kind"] == END for record in records) else "no-result"


def signal_name(code: int) -> str | None:
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


def abort_message(stderr: str) -> str:
    """TensorFlow's own last words: `F0000 ... Check failed: ...`."""
    said = re.findall(r"^(?:F\d{4} .*|.*Check failed:.*|terminate called.*)$", stderr, re.M)
    # The time and the thread are other ones in each run.
    return re.sub(r"^F\d{4} \S+\s+\d+ ", "", said[-1].strip()) if said else ""
