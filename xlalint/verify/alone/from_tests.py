"""Run a test of the project and keep what the function in question is called with."""

from __future__ import annotations

import importlib
import io
import sys
import unittest
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from xlalint.verify import captures, steps
from xlalint.verify.alone.seal import TooLongError, at_most
from xlalint.verify.capture import Captured
from xlalint.verify.jobs import Wanted
from xlalint.verify.program import Program, parameter_names

_SECONDS = 60.0
# Of a test with many sets of parameters, the first few.
_CASES = 3


class NotRunError(Exception):
    """The test does not call the function, or cannot be run; the message says which."""


def programs(
    wanted: Wanted, path: str, name: str, converted: AbstractSet[tuple[str, int]], runs: Any
) -> Iterator[Program]:
    """The function with the arguments that the test gave it. Raises NotRunError."""
    capture = steps.Capture(((wanted.path, wanted.line),))
    capture.start()
    try:
        with at_most(_SECONDS), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            _run(Path(path), name)
    except TooLongError as error:
        raise NotRunError(f"takes more than {_SECONDS:.0f} s") from error
    except SystemExit as error:
        raise NotRunError("leaves the process") from error
    except NotRunError:
        raise
    except Exception as error:
        raise NotRunError(f"cannot be run: {type(error).__name__}: {error}") from error
    finally:
        seen = capture.results()
        capture.stop()
    own = [
        one for one in seen if (one.path, one.line) == (wanted.path, wanted.line) and one.examples
    ]
    if not own:
        raise NotRunError("does not call it")
    around = captures.Circumstances(converted, None, runs)
    for one in own[:1]:
        program = _program(wanted, one, around, f"{Path(path).name}::{name}")
        if program is not None:
            yield program


def _program(
    wanted: Wanted, one: Captured, around: captures.Circumstances, test: str
) -> Program | None:
    call = captures.callable_of(one, around)
    if call is None:
        return None
    if one.kind == "plain" and wanted.is_converted and call is one.function:
        call = captures.converted(call)  # the test called it eagerly
    return Program(
        id=test,
        function=wanted.qualname,
        path=wanted.path,
        line=wanted.line,
        origin="alone",
        call=call,
        calls=captures.calls_of(one),
        parameters=parameter_names(one.function),
        is_differentiated=False,
        n_calls=one.calls,
        inputs=f"inputs from the test {test}",
    )


def _run(path: Path, name: str) -> None:
    """The test as pytest runs it; without pytest, as unittest does, or as a plain function. Raises NotRunError."""
    try:
        pytest = importlib.import_module("pytest")
    except ImportError:
        _run_by_hand(path, name)
        return
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-o",
        "addopts=",
        "--no-header",
    ]
    status = pytest.main([*options, f"{path}::{name}"], plugins=[_FirstCases()])
    if int(status) not in (0, 1):
        raise NotRunError(f"pytest cannot run it (exit status {int(status)})")


class _FirstCases:
    """A plugin of pytest: a few of a test's cases are enough."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        del items[_CASES:]


def _run_by_hand(path: Path, name: str) -> None:
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as error:
        raise NotRunError(f"its import fails: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    owner, _, test = name.rpartition("::")
    if not owner:
        getattr(module, test)()
        return
    cls = getattr(module, owner)
    if issubclass(cls, unittest.TestCase):
        unittest.TextTestRunner(stream=io.StringIO()).run(cls(test))
    else:
        getattr(cls(), test)()
