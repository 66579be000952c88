"""The process that the user's code runs in: what is known of it, the hooks in its libraries, and code run safely in it."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from xlalint.isolation.channel import Channel
from xlalint.verify import hooks, hosted, jobs, standin, steps, substitutes
from xlalint.verify.interpreter import Interpreter
from xlalint.verify.jobs import Job
from xlalint.verify.layersites import LayerSites
from xlalint.verify.locate import Locator
from xlalint.verify.offload import Offloaded
from xlalint.verify.opstack import UserCode
from xlalint.verify.records import Failure

_T = TypeVar("_T")


class NotHere(BaseException):
    """The strategy that the job asks for cannot be had here. Ends the program, whatever exceptions it handles."""


class Here:
    """`place` is where the program runs, `runs` what its strategies ran, both from TensorFlow's import on; `converted` the
    functions that AutoGraph converted; `events` what a TPU would mind of it."""

    def __init__(self, job: Job, channel: Channel, interpreter: Interpreter) -> None:
        self.started = time.monotonic()
        self.job = job
        self.channel = channel
        self._interpreter = interpreter
        self.code = UserCode(job.roots)
        self._layers = LayerSites(self.code.is_user)
        self.locator = Locator(self.code, self._layers)
        self.place: Any = None
        self.runs: Any = None
        self.events: list[str] = []
        self.converted: set[tuple[str, int]] = set()
        self.offloaded = Offloaded(self.code.is_user)

    def watch(self) -> hooks.Hooks:
        """Set the hooks, in libraries that are imported and in those that will be."""
        installed = hooks.install(
            {
                "tensorflow": self._on_tensorflow,
                "keras": lambda: self._on_keras("keras"),
                "tf_keras": lambda: self._on_keras("tf_keras"),
            }
        )
        hosted.install(self.note)
        substitutes.Substitutes(self.note).start()
        return installed

    def note(self, text: str) -> None:
        self.channel.emit({"kind": "note", "text": text})

    def contained(self, run: Callable[[], _T]) -> _T:
        """Run code of the user's and put Python back as it was; a copy of this process (`os.fork`) ends there."""
        try:
            result = run()
        except BaseException as error:
            self._interpreter.restore()
            if self.channel.is_copy:
                leave(_status_of(error))
            raise
        self._interpreter.restore()
        if self.channel.is_copy:
            leave(0)
        return result

    def imported(self, name: str, path: str) -> Any:
        """The module, None (and a record) where its import fails."""
        try:
            return self.contained(lambda: importlib.import_module(name))
        except BaseException as error:
            failure = self.locator.python_error("import", error)
            self.channel.emit(
                {"kind": "broken", "what": path, "message": failure.message, **_where(failure)}
            )
            return None

    def _on_tensorflow(self) -> None:
        from xlalint.verify import captures, forward, opstack, under

        tf = importlib.import_module("tensorflow")
        self.channel.emit({"kind": "tensorflow"})
        if not opstack.install(self.code):
            self.note("this TensorFlow gives no way to name the user's lines for every operation")
        forward.install()
        tf.debugging.disable_traceback_filtering()
        captures.watch_conversions(self.converted)
        self.runs = captures.Runs()
        self.runs.watch()
        if self.job.strategy == jobs.STANDIN:
            self.offloaded.install()
        try:
            self.place = under.Place(self.job, tf, self._hear_event)
        except under.UNAVAILABLE as reason:
            if not self.job.takes_targets:
                raise NotHere(str(reason)) from reason
            self.note(f"not under {self.job.strategy}: {reason}")

    def _on_keras(self, library: str) -> None:
        keras = importlib.import_module(library)
        self._layers.watch(keras.layers.Layer)
        if self.place is not None and self.place.last_batch is not None:
            self.place.last_batch.watch(keras)
        show_all_frames = getattr(
            getattr(keras, "config", None), "disable_traceback_filtering", None
        )
        if show_all_frames is not None:
            show_all_frames()

    def _hear_event(self, event: standin.Event) -> None:
        where = f"{event.path}:{event.line}: " if event.path else ""
        self.events.append(f"{where}{event.detail}")


def leave(code: int) -> NoReturn:
    """End this process without Python's shutdown, in which TensorFlow's threads may hang."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or replaced by something that cannot flush
            stream.flush()
    os._exit(code)


def _status_of(error: BaseException) -> int:
    """The exit status that Python would give, after saying what it would say."""
    if isinstance(error, steps.StepsDone):
        return 0
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        return error.code or 0
    traceback.print_exception(error)
    return 1


def own_fault(error: Exception) -> str:
    """What to tell of an error that is none of the program's."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"xlalint itself failed ({where}: {type(error).__name__}: {error}); please report it"


def _where(failure: Failure) -> dict[str, Any]:
    place = failure.place
    return {} if place is None else {"path": place.path, "line": place.line, "column": place.column}
