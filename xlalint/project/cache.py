"""Bytes kept between runs, one file per key, in the user's cache folder.

A cache never decides anything: what cannot be read, is damaged or cannot be written is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from pathlib import Path

_MOST_ENTRIES = 256
_DIGEST_SIZE = hashlib.sha256().digest_size


def folder() -> Path:
    """`$XLALINT_CACHE_DIR`, or `xlalint` in the place that the platform has for caches."""
    chosen = os.environ.get("XLALINT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "xlalint" / "cache"
        )
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "xlalint"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "xlalint"


def load(key: str) -> bytes | None:
    """What `store` put under `key` (a hexadecimal hash); None where there is nothing whole."""
    path = _path(key)
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, value = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    if hashlib.sha256(value).digest() != digest:
        return None
    # The time of the last use decides what `store` throws away first.
    with contextlib.suppress(OSError):
        os.utime(path)
    return value


def store(key: str, value: bytes) -> None:
    """Keep `value` under `key`: written under a temporary name and renamed, so that a reader never sees half of it."""
    # Imported here: a run that finds its answer here does without it.
    import tempfile

    path = _path(key)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(value).digest() + value)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        return
    _prune(path.parent)


def _path(key: str) -> Path:
    return folder() / f"{key}.bin"


def _prune(where: Path) -> None:
    """Throw away what was used least recently when there is too much."""
    with contextlib.suppress(OSError):
        entries = [entry for entry in os.scandir(where) if entry.name.endswith(".bin")]
        if len(entries) <= _MOST_ENTRIES:
            return
        entries.sort(key=lambda e: e.stat().st_mtime_ns)
        for entry in entries[: len(entries) - _MOST_ENTRIES]:
            Path(entry.path).unlink()
