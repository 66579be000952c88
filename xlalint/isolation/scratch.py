"""Temporary folders that are gone afterwards, however the processes that used them ended."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "xlalint-"
_LOCK = "lock"
# A younger folder may be about to be locked by the process that made it.
_YOUNG = 60.0  # seconds
_ATTEMPTS = 3


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder for this process, removed at the end, and locked until then.

    What earlier processes left behind because they were killed is removed first.
    """
    remove_stale()
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):  # a file system without locks: the folder is removed all the same
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        remove(path)
        os.close(lock)


def remove_stale() -> None:
    """Remove this user's folders whose process is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.getuid() and _is_stale(path / _LOCK):
                remove(path)


def _is_stale(lock: Path) -> bool:
    if time.time() - lock.stat().st_mtime < _YOUNG:
        return False
    descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its process lives
    finally:
        os.close(descriptor)
    return True


def remove(path: Path) -> None:
    """Remove a folder and what is in it, also what was made unwritable or is being written to."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        for directory, _folders, _files in os.walk(path):
            with suppress(OSError):
                Path(directory).chmod(stat.S_IRWXU)
        time.sleep(0.05)
