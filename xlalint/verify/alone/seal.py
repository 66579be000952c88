"""Keep code that is called with made-up arguments from doing harm: no files but temporary ones, no network, no processes."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Audit events of Python whose first argument is a path that is changed; of the second kind, both are.
_CHANGES = frozenset(
    {"os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.utime", "shutil.rmtree", "os.setxattr"}
)  # fmt: skip
_MOVES = frozenset({"os.rename", "os.link", "os.symlink", "shutil.move"})
_NEVER = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "socket.connect", "socket.bind"}
)  # fmt: skip


# The threads in which something of xlalint's own runs, and none of the code under test.
_ours: set[int] = set()


class TooLongError(BaseException):
    """What was called takes too long. No `Exception`: the code under test must not catch it."""


class Seal:
    """Once `closed`, Python code of this process that would change anything outside of temporary folders gets a
    PermissionError. What libraries do without Python is not seen.

    `project` stays closed even if it is itself below a temporary folder.
    """

    def __init__(self, project: str) -> None:
        self._project = f"{os.path.realpath(project)}/"
        self._may_start = True
        self._is_closed = False
        folders = {tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir()), "/dev", "/proc"}
        self._free = tuple(sorted(f"{folder}/" for folder in folders))

    def close(self) -> None:
        """From now on; processes may still be started, which libraries do while they are imported."""
        self._is_closed = True
        sys.addaudithook(self._hear)

    def let_nothing_start(self) -> None:
        """No other processes from now on."""
        self._may_start = False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_closed or threading.get_ident() in _ours:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES:
                self._check(path)
        elif event in _CHANGES:
            self._check(arguments[0])
        elif event in _MOVES:
            self._check(arguments[0])
            self._check(arguments[1])
        elif event in _NEVER and (event.startswith("socket") or not self._may_start):
            raise PermissionError(
                f"xlalint calls this with made-up arguments, and lets it not do {event}"
            )

    def _check(self, path: Any) -> None:
        if isinstance(path, int):
            return
        whole = os.path.realpath(os.fsdecode(path))
        whole = f"{whole}/" if f"{whole}/" in self._free else whole  # a nameless file in the folder
        is_free = whole.startswith(self._free) and not whole.startswith(self._project)
        if not is_free:
            raise PermissionError(
                f"xlalint calls this with made-up arguments, and lets it not write {whole}"
            )


@contextmanager
def lifted() -> Iterator[None]:
    """What xlalint itself does in this thread: the TPU compiler is a process of its own, and what it says is kept in a file."""
    thread = threading.get_ident()
    _ours.add(thread)
    try:
        yield
    finally:
        _ours.discard(thread)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLongError in this (the main) thread after so many seconds of wall time."""

    def stop(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
