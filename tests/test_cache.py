"""The cache of earlier runs: it may be lost or damaged at any time, and never be wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xlalint.cli.cached import decode, encode
from xlalint.finding import CheckResult, Edit, FileError, Finding, Fix, Region, Severity, Span
from xlalint.project import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_is_stored_is_loaded(folder: Path) -> None:
    assert cache.load("ab") is None
    cache.store("ab", b"value")
    assert cache.load("ab") == b"value"
    assert [p.name for p in folder.iterdir()] == ["ab.bin"]


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 40])
def test_a_damaged_entry_is_as_if_it_were_not_there(folder: Path, damage: bytes) -> None:
    cache.store("ab", b"value")
    (folder / "ab.bin").write_bytes(damage)
    assert cache.load("ab") is None
    cache.store("ab", b"again")
    assert cache.load("ab") == b"again"


def test_a_folder_that_cannot_be_written_is_no_problem(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    cache.store("ab", b"value")
    assert cache.load("ab") is None


def test_what_was_not_used_for_longest_goes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 2)
    for key, last_use in (("used", 1000), ("idle", 2000)):
        cache.store(key, b"")
        os.utime(folder / f"{key}.bin", (last_use, last_use))
    cache.load("used")
    cache.store("last", b"")
    assert sorted(p.stem for p in folder.glob("*.bin")) == ["last", "used"]


def result(*also_read: str) -> CheckResult:
    span = Span(1, 2, 3, 4)
    finding = Finding(
        "XLA201",
        "boolean-mask",
        Severity.WARNING,
        "é.py",
        span,
        "m",
        "f",
        Region("compiled", ("a", "b")),
        "h",
        "likely",
        Fix("safe", "x", (Edit(span, "y"),)),
        2,
    )
    error = FileError("b.py", 1, 2, "bad")
    return CheckResult((finding,), (error,), 3, {"functions": 4}, also_read)


def test_a_result_survives_being_stored() -> None:
    assert decode(encode(result())) == result()


def test_a_result_holds_while_the_files_it_rests_on_stay(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("x = 1")
    stored = encode(result(str(helper), str(tmp_path / "absent.py")))
    assert decode(stored) == result(str(helper), str(tmp_path / "absent.py"))
    helper.write_text("x = 22")
    assert decode(stored) is None
