"""Test items for what verify runs: a program's training, each function with findings, and everything else that was compiled.

Node ids are `xlalint::PROGRAM::FUNCTION`, with a function of another file as `PATH:FUNCTION`. Collecting runs check alone;
a program runs when the first of its items does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xlalint import engine, report
from xlalint.isolation import scratch
from xlalint.project.settings import SettingsError, load
from xlalint.pytest_plugin import scheduling
from xlalint.pytest_plugin.units import (
    Function,
    Results,
    Unit,
    Units,
    find,
    request_for,
    standing_in,
)
from xlalint.report.verification import full
from xlalint.verify import jobs, verification
from xlalint.verify.command import PlanError
from xlalint.verify.notebook import Notebooks
from xlalint.verify.records import SKIPPED, TargetReport
from xlalint.verify.verdicts import NOT_REACHED, Verdict
from xlalint.verify.verification import Verification

ROOT = scheduling.ROOT
_SHARED = "xlalint_shared"  # the key under which xdist's workers are told the folder of results


class Plugin:
    """The hooks that are there only with `--xlalint-verify`."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._opened = ExitStack()
        self._shared: Path | None = None
        told = getattr(config, "workerinput", {}).get(_SHARED)
        if told is not None:
            self._shared = Path(told)

    @pytest.hookimpl(tryfirst=True)  # before `-k` and `-m` choose
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        made = self._items(session)
        items += made
        found = pytest.CollectReport(nodeid=ROOT, outcome="passed", longrepr=None, result=[*made])
        session.ihook.pytest_collectreport(report=found)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist's controller makes the folder in which its workers keep what the programs reported."""
        if self._shared is None:
            self._shared = self._opened.enter_context(scratch.folder())
        node.workerinput[_SHARED] = str(self._shared)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        return scheduling.scheduler(config, log)

    def pytest_unconfigure(self) -> None:
        self._opened.close()

    def _items(self, session: pytest.Session) -> list[pytest.Item]:
        books = self._opened.enter_context(Notebooks())
        try:
            units = self._units(books)
        except (PlanError, SettingsError) as error:
            raise pytest.UsageError(str(error)) from error
        results = Results(units.prepared, books, self._shared)
        root: pytest.Collector = _Group.from_parent(session, name=ROOT, nodeid=ROOT)
        made: list[pytest.Item] = []
        for program in dict.fromkeys(unit.program for unit in units.units):
            group = _Group.from_parent(root, name=program)
            for unit in units.units:
                if unit.program == program:
                    made += _items_of(unit, group, results)
        made += [
            _Unreachable.from_parent(root, name=_name(one, ""), function=one)
            for one in units.others
        ]
        return made

    def _units(self, books: Notebooks) -> Units:
        option = self._config.getoption
        folder = self._config.rootpath
        with standing_in(folder):
            settings = load(["."])
            scripts = option("xlalint_script")
            if scripts:
                settings = replace(
                    settings, verify=replace(settings.verify, scripts=tuple(scripts))
                )
            request = request_for(
                settings, folder, option("xlalint_steps"), option("xlalint_strategy")
            )
            return find(verification.prepare(request, settings, engine.check, books))


def _items_of(unit: Unit, group: pytest.Collector, results: Results) -> Iterator[pytest.Item]:
    if unit.job.kind not in jobs.OF_MODULES:
        name = "run" if unit.job.takes_targets else f"run under {unit.job.strategy}"
        yield _Training.from_parent(group, name=name, unit=unit, results=results)
    if unit.job.takes_targets:
        for function in unit.functions:
            name = _name(function, unit.program)
            yield _Function.from_parent(
                group, name=name, unit=unit, results=results, function=function
            )
        yield _Rest.from_parent(group, name="the rest", unit=unit, results=results)


def _name(function: Function, program: str) -> str:
    own = program.split(" ", 1)[0]
    return function.name if function.path == own else f"{function.path}:{function.name}"


class _Group(pytest.Collector):
    """A name in a node id."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return ()


class _FailedError(Exception):
    """What verify reports, in the place of a traceback."""


class _Target(pytest.Item):
    """An item whose outcome is part of what one unit reports."""

    def __init__(self, *, unit: Unit, results: Results, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._unit = unit
        self._results = results
        self.add_marker(pytest.mark.xlalint)

    def runtest(self) -> None:
        result = self._results.of(self._unit)
        if result.interrupted:
            raise KeyboardInterrupt
        part = self._part(result)
        text = full(replace(part, books=result.books), report.Style(color=False))
        if part.has_failures or part.could_not_run:
            raise _FailedError(text)
        reason = self._not_reached(part)
        if reason:
            raise pytest.skip.Exception(reason, _use_item_location=True)
        self.add_report_section("call", "xlalint", text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, _FailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self._path(), self._line(), f"{self.name} in {self._unit.program}"

    def _part(self, result: Verification) -> Verification:
        """What of the unit's result this item is about."""
        raise NotImplementedError

    def _not_reached(self, part: Verification) -> str:
        """Why nothing can be said; empty where something was."""
        raise NotImplementedError

    def _path(self) -> Path:
        job = self._unit.job
        own = job.modules[0].path if job.modules else "" if job.is_module else job.run
        return Path(own) if own else self.config.rootpath

    def _line(self) -> int | None:
        return 0 if self._path().is_file() else None


class _Training(_Target):
    """The run of a program, or of an entry that trains."""

    def _part(self, result: Verification) -> Verification:
        return replace(result, targets=(), verdicts=(), unclaimed=())

    def _not_reached(self, part: Verification) -> str:
        if not part.trainings:
            return f"{self._unit.job.label} trains nothing"
        (training, *_) = part.trainings
        return training.detail or "it does not fit" if training.status == "unfit" else ""


class _Function(_Target):
    """A function with findings."""

    def __init__(self, *, function: Function, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function = function

    def _part(self, result: Verification) -> Verification:
        mine = [one for one in result.verdicts if _is_about(one, self._function)]
        targets = [one for one in result.targets if self._is_mine(one)]
        return replace(
            result,
            targets=tuple(targets),
            verdicts=tuple(mine),
            unclaimed=tuple(one for one in result.unclaimed if one[0] in targets),
            trainings=(),
            broken=(),
            errors=(),
            recompiles=(),
        )

    def _not_reached(self, part: Verification) -> str:
        if any(one.status != SKIPPED for one in part.targets) or any(
            one.verdict != NOT_REACHED for one in part.verdicts
        ):
            return ""
        return "not reached: " + "; ".join(dict.fromkeys(one.evidence for one in part.verdicts))

    def _is_mine(self, target: TargetReport) -> bool:
        return target.function == self._function.name and target.path == str(self._path().resolve())

    def _path(self) -> Path:
        return self.config.rootpath / self._function.path

    def _line(self) -> int | None:
        return self._function.line - 1


class _Rest(_Target):
    """What else was compiled: functions without findings, whose failures check did not foretell."""

    def _part(self, result: Verification) -> Verification:
        listed = {
            (str((self.config.rootpath / one.path).resolve()), one.name)
            for one in self._unit.functions
        }
        targets = [one for one in result.targets if (one.path, one.function) not in listed]
        return replace(
            result,
            targets=tuple(targets),
            verdicts=(),
            unclaimed=tuple(one for one in result.unclaimed if one[0] in targets),
            trainings=(),
            # A program that could not be run is told by the item of its run.
            broken=result.broken if self._unit.job.kind in jobs.OF_MODULES else (),
            errors=(),
        )

    def _not_reached(self, part: Verification) -> str:
        return "" if part.targets else "nothing else was compiled"


class _Unreachable(pytest.Item):
    """A function with findings that nothing which is run imports."""

    def __init__(self, *, function: Function, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function = function
        self.add_marker(pytest.mark.xlalint)

    def runtest(self) -> None:
        raise pytest.skip.Exception(
            "not reached: no program of the settings imports this file; name one in "
            '[tool.xlalint.verify] scripts = ["train.py"]',
            _use_item_location=True,
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.config.rootpath / self._function.path, self._function.line - 1, ""


def _is_about(one: Verdict, function: Function) -> bool:
    return (one.finding.path, one.finding.function) == (function.path, function.name)
