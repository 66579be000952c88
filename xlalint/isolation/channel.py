"""The child's end of the pipe for results: works whatever the program under test does to this process.

What it needs of Python is held from the start, as programs replace `json.dumps` or `os.write`. The descriptor is looked at
before each record, as programs close all descriptors and open files in their stead; the pipe is then opened anew by its
name. A copy of this process (`os.fork`, multiprocessing) has nothing to report.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from xlalint.isolation import wire
from xlalint.isolation.processes import MARK


class Channel:
    """Where records go; made before any code of the user's runs. `is_copy`: is this process a copy of the one that made it?"""

    def __init__(self) -> None:
        self._path = os.environ.pop(wire.RESULTS)
        self._mark = os.environ[MARK]
        self._lock = threading.Lock()
        self.is_copy = False
        self._encode: Callable[[dict[str, Any]], bytes] = _encoder(self._mark)
        self._write, self._stat, self._open = os.write, os.fstat, os.open
        self._cpu_seconds = time.process_time
        self._error, self._flags = Exception, os.O_WRONLY | os.O_CLOEXEC
        self._fd = self._open(self._path, self._flags)
        self._is_ours = self._identity()
        os.register_at_fork(after_in_child=self._fall_silent)

    def emit(self, record: dict[str, Any]) -> None:
        """Send a record; in vain where the pipe is lost for good, which the parent takes for an early end."""
        if self.is_copy:
            return
        with self._lock:
            try:
                data = self._encode(record)
                if self._identity() != self._is_ours:
                    self._fd = self._open(self._path, self._flags)
                while data:
                    data = data[self._write(self._fd, data) :]
            except self._error:
                return

    def phase(self, name: str) -> None:
        """Say what is being done, to the parent and, for the lines that TensorFlow logs of it, on stderr."""
        with contextlib.suppress(self._error):
            self._write(2, f"\n{wire.PHASE} {name}\n".encode())
        self.emit({"kind": "phase", "phase": name, "cpu": self._cpu_seconds()})

    def end(self) -> None:
        """Say that all was done."""
        self.emit({"kind": wire.END, "cpu": self._cpu_seconds()})

    def _identity(self) -> tuple[int, int] | None:
        """Which file the descriptor is, or None where it is closed."""
        try:
            found = self._stat(self._fd)
        except self._error:
            return None
        return found.st_dev, found.st_ino

    def _fall_silent(self) -> None:
        self.is_copy = True
        self._lock = threading.Lock()  # it may have been taken at the moment of the copy


def _encoder(mark: str) -> Callable[[dict[str, Any]], bytes]:
    to_json = json.JSONEncoder(default=str).encode

    def encode(record: dict[str, Any]) -> bytes:
        return wire.encode(mark, record, to_json)

    return encode
