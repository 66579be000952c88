"""Runs a package's unit tests, and judges the calls that they make; see worker.py."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from working import Worker, words

_JUDGE_SECONDS = 60
_FILE_SECONDS = 60.0
_CALLS_PER_FUNCTION = 2


class TestsWorker(Worker):
    """Runs the package's own tests, and judges the calls that they make of its functions.

    A file of tests is a program of its own, done when all of its calls are: after a crash it is run again for the rest.
    """

    def __init__(self, settings: dict[str, Any], out: Any) -> None:
        self._folder = Path(settings["tests"])
        # Tests read files, and import modules, from where they lie.
        os.chdir(self._folder.parent)
        sys.path.append(str(self._folder.parent))
        super().__init__(settings, out)
        with contextlib.suppress(Exception):
            importlib.import_module("absl.flags").FLAGS(["tests"])

    def run(self, done: dict[str, dict[str, Any]]) -> None:
        """Run the files of tests that are not done."""
        import units

        seen = set(done)
        per_function = Counter(map(_function, filter(_is_call, done)))
        covered = {(path, line) for r in done.values() for path, line in _compatible_lines(r)}
        for file in units.files(self._folder):
            name = f"tests of {file.relative_to(self._folder)}"
            if name in seen:
                continue
            self._note(name, "tests")
            calls, told = self._calls(file)
            end = time.monotonic() + _FILE_SECONDS
            for program, recorded in calls.items():
                function = _function(program)
                is_enough = per_function[function] == _CALLS_PER_FUNCTION or (
                    per_function[function] and self._is_covered(recorded, covered)
                )
                if program in seen or is_enough or time.monotonic() > end:
                    continue
                per_function[function] += 1
                covered.update(_compatible_lines(self._one_recorded(program, recorded)))
            self._write({"program": name, "label": "tests", "stage": told})
        self._write({"finished": "tests"})

    def _call(self, name: str) -> Any:
        from replay import replayed

        calls, _ = self._calls(self._folder / name.split(" in ")[1])
        return replayed(calls[name], self._name, has_arrays=True) if name in calls else None

    def _calls(self, file: Path) -> tuple[dict[str, Any], str]:
        """The calls that a file's tests make, by the names of their programs, and what became of the tests."""
        import units
        from recorder import Recorder

        recorder = Recorder(self._sources, units.is_testing)
        told = units.run(file, recorder)
        numbers: Counter[tuple[str, str]] = Counter()
        calls = {}
        for call in recorder.calls:
            number = numbers[call.path, call.name]
            numbers[call.path, call.name] += 1
            where = file.relative_to(self._folder)
            calls[f"test {call.path}:{call.name}#{number} in {where}"] = call
        return calls, told

    def _is_covered(self, recorded: Any, covered: set[tuple[str, int]]) -> bool:
        """Whether a program that compiles has run a line of the function's body."""
        function = self._sources.function(recorded.path, recorded.first + 1)
        return function is not None and any(
            (recorded.path, line) in covered
            for line in range(function.first + 1, function.last + 1)
        )

    def _one_recorded(self, name: str, recorded: Any) -> dict[str, Any]:
        import units
        from replay import judged

        self._note(name, "eager")
        self._seed()
        record = {"program": name, "label": "not run", "stage": "harness", "error": "no data"}
        try:
            with contextlib.redirect_stdout(io.StringIO()), units.within(_JUDGE_SECONDS):
                found = judged(recorded, self._name, lambda call: self._examined(name, call))
            if found is not None:
                record = self._record(name, *found)
        except (units.LateError, Exception) as error:
            record["error"] = words(error)
        self._write(record)
        return record


def _is_call(program: str) -> bool:
    return program.startswith("test ")


def _function(program: str) -> str:
    """The part of a program's name that all calls of a function share."""
    return program.rpartition("#")[0]


def _compatible_lines(record: dict[str, Any]) -> Iterator[tuple[str, int]]:
    if record["label"] == "compatible":
        for path, lines in record["lines"].items():
            yield from ((path, line) for line in lines)
