"""Real clusters on this machine's loopback: the processes that a strategy of several workers needs, as jobs.

A multi-worker strategy runs the same program in each process; a parameter-server strategy runs it once, as the
coordinator, beside servers that hold the variables and run the steps. Ports are free ones, taken anew for each run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from xlalint.isolation.outcome import Outcome
from xlalint.verify import jobs
from xlalint.verify.jobs import Job

_HOST = "127.0.0.1"
# What a process that others were lost to may take to say what it saw of that, and to leave after its last step.
_GRACE = 10.0
_PORT_TAKEN = "Address already in use"
# What TensorFlow raises in the processes that wait for one that is gone.
_LOST_ANOTHER = re.compile(
    r"Collective ops is aborted by|Socket closed|Connection reset|failed to connect"
)


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a cluster that has ended: `ended` counts them in the order in which they did."""

    job: Job
    outcome: Outcome
    ended: int
    was_halted: bool

    @property
    def name(self) -> str:
        """For the reader: `worker 1`."""
        return name_of(self.job.task)

    @property
    def has_failed(self) -> bool:
        """Did it die, or say that its program failed? One that we halted did neither."""
        if self.was_halted:
            return False
        return self.outcome.status != "ok" or any(
            record["kind"] == "training" and record["status"] == "failed"
            for record in self.outcome.records
        )


class Meeting:
    """Lets the workers leave once each has told of its training: makes the file that they wait for."""

    def __init__(self, place: Path, workers: int) -> None:
        self.place = place
        self._workers = workers
        self._arrived: set[str] = set()
        self._lock = threading.Lock()

    def hear(self, task: str, record: Mapping[str, Any]) -> None:
        if record["kind"] != "training":
            return
        with self._lock:
            self._arrived.add(task)
            if len(self._arrived) == self._workers:
                self.place.touch()


def name_of(task: str) -> str:
    kind, _, index = task.partition(":")
    return "parameter server" if kind == "ps" else kind if kind == "chief" else f"{kind} {index}"


def members(job: Job, meeting: Path) -> list[Job]:
    """The jobs of a cluster's processes, the one that is reported on first. Takes free ports on the loopback."""
    tasks = _tasks(job)
    addresses = dict(zip(tasks, _free_addresses(len(tasks)), strict=True))
    cluster: dict[str, list[str]] = {}
    for task in tasks:
        cluster.setdefault(task.partition(":")[0], []).append(addresses[task])
    return [_member(job, task, cluster, meeting) for task in tasks]


def run(
    starts: Sequence[tuple[Job, Callable[[Event], Outcome]]], stop: Event | None
) -> list[Member]:
    """Run the processes side by side, in the order given. When the first has ended, or any has failed, the others have a
    few seconds to do so; servers have none, as they never would. `stop`, or Ctrl-C, ends them all."""
    halts = [Event() for _ in starts]
    ended: list[int] = []
    with ThreadPoolExecutor(len(starts)) as pool:
        doing = [pool.submit(start, halt) for (_, start), halt in zip(starts, halts, strict=True)]
        try:
            _wait([job for job, _ in starts], doing, halts, ended, stop)
        except BaseException:
            _halt(halts)
            raise
    return [
        Member(job, future.result(), ended.index(index), halts[index].is_set())
        for index, ((job, _), future) in enumerate(zip(starts, doing, strict=True))
    ]


def cause(found: Sequence[Member]) -> Member | None:
    """The process that failed first, None where none did; the first of the list where it says the same.

    One that says that it has lost another comes after those that do not: both may end before anybody looks.
    """
    failed = sorted(
        (one for one in found if one.has_failed),
        key=lambda one: (_LOST_ANOTHER.search(_failure_of(one)) is not None, one.ended),
    )
    if not failed:
        return None
    chief = next((one for one in failed if one is found[0]), None)
    if chief is not None and _failure_of(chief) == _failure_of(failed[0]) != "":
        return chief
    return failed[0]


def has_lost_its_port(found: Sequence[Member]) -> bool:
    """Did another program take one of the ports before ours did?"""
    return any(_PORT_TAKEN in one.outcome.stderr for one in found)


def _wait(
    planned: Sequence[Job],
    doing: Sequence[Future[Outcome]],
    halts: Sequence[Event],
    ended: list[int],
    stop: Event | None,
) -> None:
    deadline: float | None = None
    while len(ended) < len(doing):
        wait([one for index, one in enumerate(doing) if index not in ended], timeout=0.1)
        ended += [index for index, one in enumerate(doing) if one.done() and index not in ended]
        if stop is not None and stop.is_set():
            _halt(halts)
        if 0 in ended:
            _halt(
                [halt for job, halt in zip(planned, halts, strict=True) if job.kind == jobs.SERVER]
            )
        if ended and deadline is None:
            deadline = time.monotonic() + _GRACE
        if deadline is not None and time.monotonic() > deadline:
            _halt([halt for index, halt in enumerate(halts) if index not in ended])


def _halt(halts: Sequence[Event]) -> None:
    for halt in halts:
        halt.set()


def _failure_of(member: Member) -> str:
    for record in member.outcome.records:
        if record["kind"] == "training" and record["failure"] is not None:
            return str(record["failure"]["message"])
    return ""


def _tasks(job: Job) -> list[str]:
    if job.strategy == jobs.PARAMETER_SERVER:
        return ["chief:0", "ps:0", *(f"worker:{index}" for index in range(job.replicas))]
    return [f"worker:{index}" for index in range(job.replicas)]


def _member(job: Job, task: str, cluster: dict[str, list[str]], meeting: Path) -> Job:
    kind, _, index = task.partition(":")
    config = {"cluster": cluster, "task": {"type": kind, "index": int(index)}}
    is_server = job.strategy == jobs.PARAMETER_SERVER and kind != "chief"
    env = {
        **job.env,
        "TF_CONFIG": json.dumps(config),
        "GRPC_FAIL_FAST": "use_caller",  # as TensorFlow's guide has it: a lost server is an error, not a wait
        **{name: _without_proxy(name) for name in ("no_proxy", "NO_PROXY")},
    }
    return replace(
        job,
        kind=jobs.SERVER if is_server else job.kind,
        task=task,
        meeting=str(meeting),
        env=env,
    )


def _without_proxy(name: str) -> str:
    known = os.environ.get(name, "")
    return f"{known},{_HOST}" if known else _HOST


def _free_addresses(count: int) -> list[str]:
    """Ports that are free now. All are held until the last is known, so that each is another one."""
    with contextlib.ExitStack() as held:
        found = []
        for _ in range(count):
            listener = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            listener.bind((_HOST, 0))
            found.append(f"{_HOST}:{listener.getsockname()[1]}")
    return found
