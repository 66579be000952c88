"""What is run once and serves several test items: a child of verify, with what it says of each function."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from xlalint.finding import Finding
from xlalint.project.settings import Settings
from xlalint.verify import jobs, plan, verification
from xlalint.verify.jobs import Job
from xlalint.verify.notebook import Notebooks
from xlalint.verify.verification import Prepared, Verification


@dataclass(frozen=True, slots=True)
class Function:
    """A function with findings: the file as check shows it, and the qualified name."""

    path: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One child. `program` is what its items are listed under, `functions` those with findings that it may reach."""

    number: int
    program: str
    job: Job
    functions: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class Units:
    """All of them, and the functions with findings that none of them may reach."""

    prepared: Prepared
    units: tuple[Unit, ...]
    others: tuple[Function, ...]


def find(prepared: Prepared) -> Units:
    """The units of what was prepared. Each function belongs to the programs that import its file, else to the module that is
    verified by itself, else to the entry of the settings."""
    functions = _functions(prepared.findings)
    folder = prepared.request.folder
    sources = {
        command.label: {str(path.resolve()) for path in plan.sources_of(command, folder)}
        for command in prepared.commands
    }
    made, reached = [], set()
    for number, job in enumerate(prepared.jobs):
        mine = tuple(
            one
            for one in functions
            if job.takes_targets and _may_reach(job, sources, str(Path(folder, one.path).resolve()))
        )
        reached |= set(mine)
        made.append(Unit(number, _program(job, folder), job, mine))
    return Units(prepared, tuple(made), tuple(one for one in functions if one not in reached))


def _functions(findings: Sequence[Finding]) -> list[Function]:
    first: dict[tuple[str, str], int] = {}
    for finding in findings:
        first.setdefault((finding.path, finding.function), finding.span.line)
    return [Function(path, name, line) for (path, name), line in first.items()]


def _may_reach(job: Job, sources: dict[str, set[str]], path: str) -> bool:
    if job.kind == jobs.SCRIPT:
        return path in sources.get(job.label, ())
    if job.kind in jobs.OF_MODULES:
        return path in {module.path for module in job.modules}
    return not any(path in files for files in sources.values())


def _program(job: Job, folder: Path) -> str:
    if job.kind == jobs.SCRIPT:
        return job.label.removeprefix("python ")
    if job.kind in jobs.OF_MODULES:
        return os.path.relpath(job.modules[0].path, folder.resolve())
    return job.entry


class Results:
    """Runs a unit when its result is first asked for. With `shared`, a folder, other processes use the same results."""

    def __init__(self, prepared: Prepared, books: Notebooks, shared: Path | None) -> None:
        self._prepared = prepared
        self._books = books
        self._shared = shared
        self._known: dict[int, Verification] = {}

    def of(self, unit: Unit) -> Verification:
        if unit.number not in self._known:
            self._known[unit.number] = self._once(unit)
        return self._known[unit.number]

    def _once(self, unit: Unit) -> Verification:
        if self._shared is None:
            return self._run(unit)
        kept = self._shared / f"{unit.number}.pickle"
        with (self._shared / f"{unit.number}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if kept.exists():
                found: Verification = pickle.loads(kept.read_bytes())
                return found
            result = self._run(unit)
            if not result.interrupted:
                kept.write_bytes(pickle.dumps(replace(result, books=None)))
            return result

    def _run(self, unit: Unit) -> Verification:
        with standing_in(self._prepared.request.folder):
            return verification.carry_out(
                self._prepared, [unit.job], lambda text, child="", /: None, self._books
            )


def request_for(
    settings: Settings, folder: Path, steps: int | None, strategy: str | None
) -> verification.Request:
    """As `xlalint verify` without arguments, one child at a time."""
    chosen = settings.verify
    return verification.Request(
        paths=(),
        command=(),
        folder=folder,
        options=plan.Options(steps or chosen.steps, strategy or chosen.strategy),
        limits=verification.limits(chosen.timeout),
        is_alone=False,
    )


@contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    """While the block runs, relative paths count from `folder`, as programs expect of the project's own folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
