"""Do several things at once, as many as are allowed and as there is memory for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xlalint.isolation import memory, processes

T = TypeVar("T")

# What a child that compiles a small model holds, measured on TensorFlow 2.21: 0.5 GiB after the import, about 1 GiB in all.
_TYPICAL_MB = 1500
_RESERVE_MB = 500
_TICK = 0.5  # seconds until memory is looked at again


@dataclass(slots=True)
class Room:
    """Is there memory for one more child? Learns from what the children before held."""

    largest_mb: int = 0
    was_short_of_mb: int = 0

    def learn(self, peak_mb: int) -> None:
        self.largest_mb = max(self.largest_mb, peak_mb)

    @property
    def expected_mb(self) -> int:
        return max(self.largest_mb, _TYPICAL_MB)

    def has_one_more(self, n_running: int) -> bool:
        """Will `n_running` children and another fit, once each holds what is expected? True where memory cannot be told."""
        free = memory.available_mb()
        if free is None:
            return True
        family = processes.family(os.getpid(), processes.table())
        held = sum(one.resident for one in family if one.pid != os.getpid()) >> 20
        still_to_come = max(0, n_running * self.expected_mb - held)
        lacking = still_to_come + self.expected_mb + _RESERVE_MB - free
        if lacking > 0:
            self.was_short_of_mb = max(self.was_short_of_mb, lacking)
        return lacking <= 0


@dataclass(slots=True)
class Crew(Generic[T]):
    """Runs tasks in threads, in order, at most `workers` at once; the first starts whatever memory there is."""

    workers: int
    room: Room
    stop: threading.Event
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _running: int = 0

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The results in the order of the tasks; the first error of a task is raised when all have ended.

        Tasks see for themselves that `stop` is set. Ctrl-C sets it.
        """
        results: list[T | None] = [None] * len(tasks)
        errors: list[BaseException] = []
        threads = []

        def do(index: int) -> None:
            try:
                results[index] = tasks[index]()
            except BaseException as error:
                errors.append(error)
                self.stop.set()
            finally:
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()

        for index in range(len(tasks)):
            self._wait_until(self._may_start)
            with self._changed:
                self._running += 1
            threads.append(threading.Thread(target=do, args=(index,), name=f"child {index + 1}"))
            threads[-1].start()
        self._wait_until(lambda: self._running == 0)
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return [result for result in results if result is not None]

    def _may_start(self) -> bool:
        if self._running == 0 or self.stop.is_set():
            return True
        return self._running < self.workers and self.room.has_one_more(self._running)

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        while True:
            try:
                with self._changed:
                    if holds():
                        return
                    self._changed.wait(_TICK)
            except KeyboardInterrupt:
                self.stop.set()
