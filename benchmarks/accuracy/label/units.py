"""A package's own unit tests: found, and run with pytest for the calls that they make."""

from __future__ import annotations

import contextlib
import io
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf
from recorder import Recorder

_FILE_SECONDS = 15.0
_TEST_SECONDS = 10
_COLLECTING_SECONDS = 60
_SAME_TEST = 3
_OPTIONS = "-q --no-header -p no:cacheprovider -p no:faulthandler -W ignore -o addopts=".split()
_TESTING = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_\w+|\w+_test|conftest|test_utils?)\.py$")


class LateError(BaseException):
    """The time is up; no Exception, so that no test handles it."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise LateError in the block when the time is up."""
    signal.signal(signal.SIGALRM, _too_late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def is_testing(path: str) -> bool:
    """Whether a path inside a package names code that only tests use."""
    return _TESTING.search(path) is not None


def files(folder: Path) -> list[Path]:
    """The files of tests below `folder`, always in the same order by chance: a run cut short has seen something of all."""
    found = {
        path
        for path in folder.rglob("*.py")
        if is_testing(f"{folder.name}/{path.relative_to(folder)}")
        and path.name not in ("__init__.py", "conftest.py")
    }
    ordered = sorted(found)
    random.Random(1).shuffle(ordered)
    return ordered


def run(file: Path, recorder: Recorder) -> str:
    """Run the tests of `file`; how many ran, and what went wrong with the first ones that failed."""
    plugin = _Plugin(recorder)
    # Files of the same name in two folders are two modules.
    sys.modules.pop(file.stem, None)
    silent = io.StringIO()
    try:
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            signal.signal(signal.SIGALRM, _too_late)
            signal.alarm(_COLLECTING_SECONDS)
            pytest.main([str(file), *_OPTIONS], plugins=[plugin])
    except (LateError, SystemExit, Exception) as error:
        plugin.failures.append(f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
        _restore()
    failures = "; ".join(plugin.failures[:3])
    return f"{plugin.ran.total()} tests, {len(plugin.failures)} failed: {failures}"[:400]


def _too_late(signum: int, frame: FrameType | None) -> None:
    raise LateError


def _restore() -> None:
    """Undo what tests may leave behind."""
    tf.config.run_functions_eagerly(False)
    with contextlib.suppress(Exception):
        tf.keras.backend.set_floatx("float32")
        tf.compat.v1.enable_eager_execution()


class _Plugin:
    """Records while tests run, eagerly; leaves out variants of the same test, and the rest when the time is up."""

    def __init__(self, recorder: Recorder) -> None:
        self.ran: Counter[Any] = Counter()
        self.failures: list[str] = []
        self._recorder = recorder
        self._end = time.monotonic() + _COLLECTING_SECONDS

    def pytest_collection_finish(self) -> None:
        self._end = time.monotonic() + _FILE_SECONDS

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        # absl numbers the variants of a test: test_sum0, test_sum1.
        name = re.sub(r"\d+$", "", getattr(item, "originalname", None) or item.name)
        test = (getattr(item, "cls", None), name)
        if self.ran[test] == _SAME_TEST or time.monotonic() > self._end:
            return True
        self.ran[test] += 1
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        tf.config.run_functions_eagerly(True)
        try:
            with within(_TEST_SECONDS), self._recorder.recording():
                return (yield)
        finally:
            tf.config.run_functions_eagerly(False)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failures.append(f"{report.nodeid.split('::')[-1]}: {_end_of(report)}")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failures.append(f"cannot be read: {_end_of(report)}")


def _end_of(report: Any) -> str:
    return " ".join(str(report.longrepr).split())[-120:]
