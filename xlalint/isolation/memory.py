"""How much memory is free, for this machine or the container that this process is in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
# (limit, in use, what of that would be given back) by version of control groups.
_CGROUP_FILES = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)


def available_mb() -> int | None:
    """MiB that new processes may take; None where that cannot be told."""
    known = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(known) >> 20 if known else None


def _of_machine() -> int | None:
    if sys.platform == "darwin":
        return _of_mac()
    free = re.search(r"^MemAvailable:\s+(\d+) kB", _text(Path("/proc/meminfo")), re.M)
    return int(free[1]) << 10 if free else None


def _of_container() -> int | None:
    for limit_file, usage_file, stat_file, name in _CGROUP_FILES:
        limit, usage = _text(_CGROUP / limit_file).strip(), _text(_CGROUP / usage_file).strip()
        if limit.isdigit() and usage.isdigit():
            cached = re.search(rf"^{name} (\d+)", _text(_CGROUP / stat_file), re.M)
            return max(0, int(limit) - int(usage) + (int(cached[1]) if cached else 0))
    return None


def _of_mac() -> int | None:
    try:
        told = subprocess.run(["vm_stat"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return None
    pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s+(\d+)", told, re.M)
    return sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE") if pages else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
