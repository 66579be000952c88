"""Child processes that measure, and the parent's side of their protocol: a death or a hang is a result.

A job that killed its process is sent again to a fresh one, which leaves the deadly steps out.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Steps = dict[str, dict[str, Any]]

_START_LIMIT = 300.0
_WHY = "python -m tools.catalog.child < /dev/null"
# Each costs a start of TensorFlow; a call that no argument saves is given up.
_MOST_DEATHS = 5
# A long-lived process keeps every graph it ever traced.
_JOBS_PER_PROCESS = 400


class MeasuringError(Exception):
    """No process could be made to measure. The message is for the reader."""


@dataclass
class Child:
    """One process with TensorFlow in it."""

    command: tuple[str, ...] = (sys.executable, "-m", "tools.catalog.child")
    process: subprocess.Popen[str] | None = None
    lines: queue.Queue[str | None] = field(default_factory=queue.Queue)
    jobs_done: int = 0
    step_limit: float = 60.0

    def ask(self, job: dict[str, Any]) -> None:
        """Send a job, starting the process where there is none."""
        if self.process is None or self.jobs_done >= _JOBS_PER_PROCESS:
            self.close()
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        self.jobs_done += 1
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def reply(self, limit: float) -> dict[str, Any] | None:
        """The next message, or None when the process ended or said nothing for `limit` seconds."""
        try:
            line = self.lines.get(timeout=limit)
        except queue.Empty:
            return None
        return None if line is None else dict(json.loads(line))

    def obituary(self) -> str:
        """How it died: the name of the signal, an exit code, or `TIMEOUT`. The process is gone afterwards."""
        assert self.process is not None
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.close()
            return "TIMEOUT"
        self.close()
        return signal.Signals(-code).name if code < 0 else f"exit {code}"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.lines = queue.Queue()
        self.jobs_done = 0
        threading.Thread(target=_pump, args=(self.process.stdout, self.lines), daemon=True).start()
        if self.reply(_START_LIMIT) is None:
            raise MeasuringError(
                "the measuring process did not start: is TensorFlow installed in this environment? "
                f"This shows why: {_WHY}"
            )


def _pump(source: Any, lines: queue.Queue[str | None]) -> None:
    for line in source:
        lines.put(line)
    lines.put(None)


def listing() -> dict[str, Any]:
    """Versions, operations and public names of the installed TensorFlow."""
    return _answer("list")


def declared_symbols() -> dict[str, Any]:
    """The version of the installed TensorFlow, and what it, Keras and tf_keras declare as public."""
    return _answer("symbols")


def _answer(job: str) -> dict[str, Any]:
    child = Child()
    try:
        child.ask({"job": job})
        answer = child.reply(_START_LIMIT)
    finally:
        child.close()
    if answer is None:
        raise MeasuringError(
            f"the measuring process ended while listing the public API. This may show why: {_WHY}"
        )
    return answer


def measure_all(
    names: Sequence[str],
    jobs: int,
    known: Mapping[str, Steps] | None = None,
    without: Sequence[str] = (),
) -> Iterator[tuple[str, Steps]]:
    """Every step's result per name, in the order in which they finish. Steps in `known` are not run again, those of `without` not at all."""
    waiting: queue.Queue[str] = queue.Queue()
    for name in names:
        waiting.put(name)
    finished: queue.Queue[tuple[str, Steps] | BaseException] = queue.Queue()
    for _ in range(jobs):
        threading.Thread(
            target=_work, args=(waiting, finished, known or {}, tuple(without)), daemon=True
        ).start()
    for _ in names:
        outcome = finished.get()
        if isinstance(outcome, BaseException):
            raise outcome
        yield outcome


def _work(
    waiting: queue.Queue[str],
    finished: queue.Queue[tuple[str, Steps] | BaseException],
    known: Mapping[str, Steps],
    without: tuple[str, ...],
) -> None:
    child = Child()
    try:
        while True:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                return
            finished.put((name, measure_one(child, name, known.get(name, {}), without)))
    except BaseException as error:  # the reader of `finished` raises it
        finished.put(error)
    finally:
        child.close()


def measure_one(
    child: Child, name: str, known: Steps | None = None, without: Sequence[str] = ()
) -> Steps:
    """All steps of one API; a step that killed the process has the result `{"status": "crashes", "signal": ...}`.

    `known` holds results of an earlier run, which are kept; `without` names steps to leave out.
    """
    steps: Steps = dict(known or {})
    deadly = [label for label, result in steps.items() if result.get("status") == "crashes"]
    given = len(deadly)
    while len(deadly) < _MOST_DEATHS + given:
        child.ask(
            {
                "job": "measure",
                "name": name,
                "deadly": deadly,
                "known": known or {},
                "without": list(without),
            }
        )
        fatal = _listen(child, steps)
        if fatal is None:
            break
        steps[fatal] = {"status": "crashes", "signal": child.obituary()}
        if fatal in deadly or fatal == "":
            break
        deadly.append(fatal)
    return steps


def _listen(child: Child, steps: Steps) -> str | None:
    """Collect results; gives the step that the process died in, or None at the job's end."""
    current = ""
    while True:
        message = child.reply(child.step_limit)
        if message is None:
            return current
        if "end" in message:
            return None
        if "start" in message:
            current = message["start"]
        else:
            steps[message["done"]] = message["result"]
