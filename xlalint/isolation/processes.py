"""The processes of this machine: which belong to a child, what memory they hold, and their end.

Read from /proc on Linux, and from `ps` elsewhere (macOS).
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

# In the environment of a child and of all that it starts, so that they are found wherever they went.
MARK = "XLALINT_SANDBOX"

# What a process hands down even where it clears the environment, and nobody else sets: the limit for POSIX message queues.
_NUMBERED = getattr(resource, "RLIMIT_MSGQUEUE", None)
_NUMBERS = 1 << 19

_PAGE = resource.getpagesize()
_ROUNDS = 20
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `session` is its session where that can be read, else its process group; `resident` is in bytes.

    `started` tells it from a later process with the same number, where that can be read.
    """

    pid: int
    parent: int
    session: int
    resident: int
    started: int = 0

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.started


def table() -> list[Process]:
    """Every process that is not just waiting to be reaped."""
    return _from_proc() if os.path.isdir("/proc/self") else _from_ps()  # noqa: PTH112


def resident(pid: int) -> int:
    """Bytes that one process holds in memory; 0 where it is gone or cannot be read cheaply (no /proc)."""
    found = _stat(pid)
    return 0 if found is None else found.resident


def family(leader: int, processes: Iterable[Process]) -> list[Process]:
    """Of `processes`, `leader`, all in the session that it leads, and their descendants."""
    listed = list(processes)
    found = {one.pid for one in listed if one.pid == leader or one.session == leader}
    while True:
        more = {one.pid for one in listed if one.parent in found} - found
        if not more:
            return [one for one in listed if one.pid in found]
        found |= more


def number_this(mark: str) -> None:
    """Let what this process starts from now on be found by `mark`, whatever becomes of its environment (Linux)."""
    if _NUMBERED is None:
        return
    _, most = resource.getrlimit(_NUMBERED)
    if most == resource.RLIM_INFINITY or most >= _NUMBERS:
        resource.setrlimit(_NUMBERED, (_number(mark), most))


def _number(mark: str) -> int:
    return (
        zlib.crc32(mark.encode()) % _NUMBERS | 1
    )  # odd, which no one chooses for a limit of bytes


def marked(mark: str) -> set[int]:
    """Processes that were started with `MARK=mark...` in their environment, or below one that was numbered `mark`."""
    word = f"{MARK}={mark}".encode()
    if os.path.isdir("/proc/self"):  # noqa: PTH112
        number = str(_number(mark)).encode()
        return {
            pid
            for pid in _pids()
            if word in _read(pid, "environ") or number == _queues(_read(pid, "limits"))
        }
    lines = _ps("-axEww", "-o", "pid=,command=")
    return {int(line.split(None, 1)[0]) for line in lines if word in line}


def kill_all(
    leaders: Iterable[int], mark: str, known: Collection[tuple[int, int]] = frozenset()
) -> None:
    """SIGKILL for what `leaders` started, what carries `mark`, and the `known` identities, until nothing of it is left.

    Never for this process.
    """
    leaders = tuple(leaders)
    for _ in range(_ROUNDS):
        found = _belonging(leaders, mark, known) - {os.getpid()}
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(_PAUSE)


def _belonging(leaders: Iterable[int], mark: str, known: Collection[tuple[int, int]]) -> set[int]:
    listed, carriers = table(), marked(mark)
    leaders = {*leaders, *(one.pid for one in listed if one.identity in known)}
    started = {one.pid for leader in leaders for one in family(leader, listed)}
    sessions = {one.session for one in listed if one.pid in carriers}
    return started | {one.pid for one in listed if one.pid in carriers or one.session in sessions}


def _from_proc() -> list[Process]:
    return [found for pid in _pids() if (found := _stat(pid)) is not None]


def _stat(pid: int) -> Process | None:
    stat = _read(pid, "stat")
    fields = stat[stat.rfind(b")") + 2 :].split()
    if len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[3]), int(fields[21]) * _PAGE, int(fields[19]))


def _queues(limits: bytes) -> bytes:
    """The soft limit for message queues in the text of /proc/PID/limits."""
    _, _, rest = limits.partition(b"Max msgqueue size")
    return rest.split(None, 1)[0] if rest.strip() else b""


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def _read(pid: int, name: str) -> bytes:
    """/proc/PID/NAME, empty when the process is gone or another user's."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def _from_ps() -> list[Process]:
    found = []
    for line in _ps("-axo", "pid=,ppid=,pgid=,rss=,stat="):
        fields = line.split()
        if len(fields) >= 5 and not fields[4].startswith(b"Z"):
            pid, parent, group, kib = (int(field) for field in fields[:4])
            found.append(Process(pid, parent, group, kib << 10))
    return found


def _ps(*options: str) -> list[bytes]:
    try:
        ran = subprocess.run(["ps", *options], capture_output=True, check=False)
    except OSError:
        return []
    return ran.stdout.splitlines()
