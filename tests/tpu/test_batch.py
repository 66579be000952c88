"""The search for the largest batch: few compiles, and an answer that both sides bear out."""

from __future__ import annotations

import pytest

from xlalint.tpu.batch import largest
from xlalint.tpu.compiler import Result
from xlalint.tpu.statuses import COMPILES, OVERFLOWS, REJECTED
from xlalint.tpu.targets import parse

TARGET = parse("tpu-v5e")
HBM = 1000


class Memory:
    """A step whose peak is `fixed` + `each` times the batch."""

    def __init__(self, fixed: int, each: float) -> None:
        self.fixed, self.each = fixed, each
        self.asked: list[int] = []

    def __call__(self, batch: int) -> Result:
        self.asked.append(batch)
        peak = int(self.fixed + self.each * batch)
        if peak > HBM:
            return Result(TARGET, OVERFLOWS, "out of memory", hbm=HBM)
        return Result(TARGET, COMPILES, hbm=HBM, memory={"peak": peak})


@pytest.mark.parametrize(
    ("fixed", "each", "start", "best", "too_large", "at_most"),
    [
        (100, 10, 8, 64, 128, 3),
        (0, 1, 1, 512, 1024, 3),
        (900, 1, 64, 64, 128, 1),
        (0, 100, 16, 8, 16, 1),
        (999, 1, 4, 1, 2, 2),
        (2000, 1, 4, 0, 1, 2),
        (0, 500, 2, 2, 4, 1),
    ],
)
def test_the_largest_power_of_two_of_the_batch_that_fits(
    fixed: int, each: int, start: int, best: int, too_large: int, at_most: int
) -> None:
    memory = Memory(fixed, each)
    found = largest(start, memory(start), memory)
    assert (found.batch, found.too_large) == (best, too_large)
    assert found.compiles == len(memory.asked) - 1 <= at_most


def test_memory_that_hardly_grows_ends_the_search_without_a_limit() -> None:
    for fixed, each in ((10, 0), (10, 0.00001)):
        memory = Memory(fixed, each)
        found = largest(32, memory(32), memory)
        assert (found.batch, found.too_large) == (65536, None)
        assert found.compiles <= 2


def test_a_step_that_takes_one_batch_only_says_so() -> None:
    found = largest(8, Memory(0, 1)(8), lambda batch: None)
    assert (found.batch, found.compiles) == (8, 0)
    assert found.note == "the step does not trace with a batch of 16"


def test_another_failure_ends_the_search() -> None:
    found = largest(8, Memory(0, 1)(8), lambda batch: Result(TARGET, REJECTED, "no c128\nmore"))
    assert (found.batch, found.too_large) == (8, None)
    assert found.note == "a batch of 16 was not compiled: no c128"
