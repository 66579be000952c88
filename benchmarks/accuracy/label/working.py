"""What a worker does with a package's programs: it calls one after another and writes what came of each, as worker.py says."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_BUILD_SECONDS = 40


class Worker:
    """Runs the programs written for the package, and those found in it."""

    def __init__(self, settings: dict[str, Any], out: Any) -> None:
        import tensorflow as tf
        from places import Sources
        from tracing import Lines

        self._tf = tf
        self._settings = settings
        self._out = out
        self._name = settings["package"]
        module = importlib.import_module(self._name)
        self._root = Path(next(iter(module.__path__))).resolve().parent
        self._sources = Sources(self._name, self._root)
        self._lines = Lines(f"{self._root / self._name}/")
        tf.debugging.disable_traceback_filtering()
        tf.get_logger().setLevel("ERROR")

    def run(self, done: dict[str, dict[str, Any]]) -> None:
        """Run the programs that are not done."""
        seen = set(done)
        for program in self._programs():
            if program.name not in seen:
                seen.add(program.name)
                self._one(program)
        self._write({"finished": True})

    def locate(self, name: str) -> None:
        """Compile the parts of one program, each announced with its stack, the last of which ends this process."""
        from compiler import pieces

        call = self._call(name)
        self._seed()
        for part in pieces(call) if call is not None else ():
            self._write({"program": name, "begins": "locate", "stack": self._stack(part.frames)})
            part.compiles()
        self._note(name, "nothing crashes alone")

    def _call(self, name: str) -> Any:
        return next(program for program in self._programs() if program.name == name).make()

    def _programs(self) -> Iterator[Any]:
        from calls import programs
        from discover import discover

        if self._settings["written"]:
            yield from importlib.import_module(f"programs.{self._settings['written']}").programs.all
        if self._settings["discover"]:
            for found in discover(self._name, self._settings["skip"], self._settings["only"]):
                yield from programs(found, self._name)

    def _one(self, program: Any) -> None:
        self._note(program.name, "build")
        self._seed()
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(_BUILD_SECONDS)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                call = program.make()
        except BaseException as error:
            signal.alarm(0)
            if isinstance(error, KeyboardInterrupt):
                raise
            self._write(
                {
                    "program": program.name,
                    "label": "not run",
                    "stage": "build",
                    "error": words(error),
                }
            )
            return
        signal.alarm(0)
        with contextlib.redirect_stdout(io.StringIO()):
            self._write(self._judged(program.name, call))

    def _judged(self, name: str, call: Any) -> dict[str, Any]:
        try:
            said, lines = self._examined(name, call)
        except Exception as error:
            return {"program": name, "label": "not run", "stage": "harness", "error": words(error)}
        return self._record(name, said, lines)

    def _examined(self, name: str, call: Any) -> Any:
        from compiler import examine

        return examine(call, lambda stage: self._note(name, stage), self._lines)

    def _record(self, name: str, said: Any, lines: Any) -> dict[str, Any]:
        per_file: dict[str, list[int]] = {}
        for path, line in sorted(set(self._sources.inside(lines))):
            per_file.setdefault(path, []).append(line)
        return {
            "program": name,
            "label": said.label,
            "stage": said.stage,
            "offenders": [
                {"error": o.message, "stack": self._stack(o.frames)} for o in said.offenders
            ],
            "conditionals": [self._stack(frames) for frames in said.conditionals],
            "bounded": [self._stack(frames) for frames in said.bounded],
            "lines": per_file,
        }

    def _stack(self, frames: Any) -> list[tuple[str, int]]:
        return self._sources.inside(frames)[-12:]

    def _seed(self) -> None:
        import numpy as np

        self._tf.random.set_seed(1)
        np.random.seed(1)
        random.seed(1)

    def _note(self, program: str, stage: str) -> None:
        self._write({"program": program, "begins": stage})

    def _write(self, record: dict[str, Any]) -> None:
        self._out.write(json.dumps(record) + "\n")
        self._out.flush()


def words(error: BaseException) -> str:
    """The error on one line, cut off where it is long."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _too_long(signum: int, frame: Any) -> None:
    raise TimeoutError("takes too long to build")
