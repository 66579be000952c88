"""What a run changed among the user's files all the same: a library's own C++ code, or a process that the program started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# A project's own files are fewer; what holds more is data, and looking at it would take longer than it is worth.
_MOST_FILES = 20_000
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass(frozen=True, slots=True)
class Footprint:
    """The files below some folders as they were: (size, time of change in ns) by path."""

    folders: tuple[Path, ...]
    files: Mapping[str, tuple[int, int]]

    def changed(self) -> tuple[str, ...]:
        """The files that are new, other or gone by now, sorted; empty where there are too many to watch."""
        if len(self.files) >= _MOST_FILES:
            return ()
        now = _files(self.folders)
        touched = {path for path, state in now.items() if self.files.get(path) != state}
        return tuple(sorted(touched | (self.files.keys() - now.keys())))


def take(folders: Iterable[Path]) -> Footprint:
    """The state of all files below `folders`, hidden folders and installed packages left out."""
    roots = tuple(sorted({folder.resolve() for folder in folders}))
    return Footprint(roots, _files(roots))


def _files(roots: Iterable[Path]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    ours = _written_by_us()
    for root in roots:
        for folder, names, files in os.walk(root):
            names[:] = [
                name for name in names if not name.startswith(".") and name not in _PASSED_OVER
            ]
            for file in files:
                path = os.path.join(folder, file)
                try:
                    state = os.stat(path)
                except OSError:
                    continue
                if (state.st_dev, state.st_ino) in ours:
                    continue
                found[path] = (state.st_size, state.st_mtime_ns)
            if len(found) >= _MOST_FILES:
                return found
    return found


def _written_by_us() -> frozenset[tuple[int, int]]:
    """The files that this process's own output goes to: `xlalint verify > verify.json 2> progress.txt`."""
    found = set()
    for descriptor in (1, 2):
        with suppress(OSError):
            status = os.fstat(descriptor)
            found.add((status.st_dev, status.st_ino))
    return frozenset(found)
