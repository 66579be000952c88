"""What compilations may use: time and memory that they share with the process that asks for them, and their turn."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xlalint.isolation import memory, processes
from xlalint.isolation.sandbox import Limits
from xlalint.project import cache

# What a compilation holds at most for models as large as BERT-base (measured: 2.1 GiB), MiB.
_EACH_MB = 3000
# Seconds and MiB that the asking process keeps for itself, so that the compiler is stopped before it is.
_SPARE_SECONDS = 5.0
_SPARE_MB = 600
_TICK = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """`ends` is when all must be done, by `time.monotonic` (0: never); `memory_mb` what this process and the compiler's may
    hold together (0: whatever is there)."""

    ends: float = 0.0
    memory_mb: int = 0

    @property
    def seconds(self) -> float:
        """What is left, 0 for nothing; infinite without an end."""
        if not self.ends:
            return float("inf")
        return max(0.0, self.ends - _SPARE_SECONDS - time.monotonic())

    @property
    def limits(self) -> Limits:
        """Of a compilation that begins now."""
        wall = 0.0 if not self.ends else self.seconds
        if not self.memory_mb:
            return Limits(wall=wall, leave_mb=_SPARE_MB)
        held = processes.resident(os.getpid()) >> 20
        return Limits(wall, memory_mb=max(_SPARE_MB, self.memory_mb - held), leave_mb=_SPARE_MB)

    @contextlib.contextmanager
    def turn(self) -> Iterator[bool]:
        """Wait until one more compilation may run on this machine, beside those of other runs of this user's.

        As many run at once as there are cores and free memory for. False where the time was up before.
        """
        places = _places()
        try:
            yield self._took_one(places)
        finally:
            for place in places:
                os.close(place)

    def _took_one(self, places: list[int]) -> bool:
        """Lock one of the files; true where there are none, and nothing can be arranged with others."""
        while places:
            for place in places:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
            if not self.seconds:
                return False
            time.sleep(_TICK)
        return True


def make_places() -> None:
    """Make the files whose locks are the turns. For the compiling process: where a user's program runs, what is written goes
    elsewhere."""
    with contextlib.suppress(OSError):
        cache.folder().mkdir(parents=True, exist_ok=True)
        for number in range(os.cpu_count() or 1):
            _place(number).touch()


def _place(number: int) -> Path:
    return cache.folder() / f"tpu-compiler-{number}.lock"


def _places() -> list[int]:
    """An open file for each compilation that may run at once; none before the first of all, or where they cannot be made."""
    free = memory.available_mb()
    by_memory = (free or 0) // _EACH_MB
    count = max(1, min(os.cpu_count() or 1, by_memory))
    opened: list[int] = []
    with contextlib.suppress(OSError):
        for number in range(count):
            opened.append(os.open(_place(number), os.O_RDONLY | os.O_CLOEXEC))
    return opened
