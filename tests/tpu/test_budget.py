"""Compilations share time, memory and the machine: what is not there makes a verdict unknown, never a failure."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from xlalint.isolation import memory, processes
from xlalint.tpu.budget import Budget, make_places
from xlalint.tpu.compiler import Compiler
from xlalint.tpu.installed import Installed
from xlalint.tpu.statuses import UNVERIFIED
from xlalint.tpu.targets import parse


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "cache"))


def test_the_compiler_is_stopped_before_the_process_that_asks_it() -> None:
    held = processes.resident(os.getpid()) >> 20
    limits = Budget(time.monotonic() + 100, memory_mb=held + 2000).limits
    assert 90 < limits.wall < 100
    assert 1900 <= limits.memory_mb <= 2001
    assert limits.leave_mb > 300  # what the asking process leaves free


def test_without_limits_there_are_none() -> None:
    budget = Budget()
    assert budget.seconds == float("inf")
    assert (budget.limits.wall, budget.limits.memory_mb) == (0.0, 0)


@pytest.mark.parametrize("ends_in", [-10.0, 1.0])
def test_without_time_nothing_is_compiled_and_nothing_fails(ends_in: float) -> None:
    budget = Budget(time.monotonic() + ends_in)
    compiler = Compiler(Installed(Path("libtpu.so"), "0.0.52"), budget)
    result = compiler.compile(b"", parse("tpu-v5e"))
    assert result.status == UNVERIFIED
    assert "--timeout" in result.message


def test_as_many_compile_at_once_as_there_is_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    make_places()
    for free_mb, at_once in ((7000, 2), (100, 1)):
        monkeypatch.setattr(memory, "available_mb", lambda free=free_mb: free)
        waiting = Budget(time.monotonic() + 5.3)
        turns = [Budget().turn() for _ in range(at_once)]
        assert [turn.__enter__() for turn in turns] == [True] * at_once
        with waiting.turn() as has_come:
            assert not has_come
        turns[0].__exit__(None, None, None)
        with Budget().turn() as has_come:
            assert has_come
        for turn in turns[1:]:
            turn.__exit__(None, None, None)


def test_a_cache_that_cannot_be_written_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "file"))
    with Budget().turn() as first, Budget().turn() as second:
        assert first and second
