"""Children run side by side as far as asked for and as memory allows; results keep the order of the plan."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from xlalint.verify import scheduling
from xlalint.verify.scheduling import Crew, Room


class Meeting:
    """Tasks that count how many of them run at once."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self._lock = threading.Lock()
        self._pause = threading.Event()

    def task(self, result: int) -> int:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self._pause.wait(0.1)
        with self._lock:
            self.running -= 1
        return result


@pytest.fixture
def free_mb(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The free memory that the machine is said to have; the children hold nothing yet."""
    free: list[int | None] = [100_000]
    monkeypatch.setattr(scheduling.memory, "available_mb", lambda: free[0])
    monkeypatch.setattr(scheduling.processes, "table", list)
    return free


@pytest.mark.parametrize(("workers", "most"), [(1, 1), (2, 2), (9, 4)])
def test_as_many_at_once_as_asked_for(workers: int, most: int, free_mb: list[int | None]) -> None:
    meeting = Meeting()
    crew: Crew[int] = Crew(workers, Room(), threading.Event())
    assert crew.run([partial(meeting.task, number) for number in range(4)]) == [0, 1, 2, 3]
    assert meeting.most == most


def test_one_at_a_time_where_memory_is_short(free_mb: list[int | None]) -> None:
    free_mb[0] = 2000
    meeting, room = Meeting(), Room()
    crew: Crew[int] = Crew(4, room, threading.Event())
    assert crew.run([partial(meeting.task, number) for number in range(3)]) == [0, 1, 2]
    assert meeting.most == 1
    assert room.was_short_of_mb == 1500 + 1500 + 500 - 2000


def test_what_children_held_is_what_the_next_is_expected_to_hold(
    free_mb: list[int | None],
) -> None:
    room = Room()
    assert room.has_one_more(1)
    free_mb[0] = 6000
    room.learn(4000)
    assert not room.has_one_more(1)
    assert room.was_short_of_mb == 4000 + 4000 + 500 - 6000


def test_where_memory_cannot_be_told_only_the_number_counts(free_mb: list[int | None]) -> None:
    free_mb[0] = None
    assert Room().has_one_more(7)


def test_an_error_of_ours_is_raised_when_all_have_ended(free_mb: list[int | None]) -> None:
    meeting, stop = Meeting(), threading.Event()

    def fails() -> int:
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        Crew(2, Room(), stop).run([fails, partial(meeting.task, 1)])
    assert meeting.running == 0 and stop.is_set()
