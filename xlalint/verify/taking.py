"""Take functions through the stages, and report on each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from xlalint.verify import jobs
from xlalint.verify.here import Here, own_fault
from xlalint.verify.records import OK, SKIPPED, TargetReport, to_record


class Taking:
    """What went through the stages in this process."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self._reports: list[TargetReport] = []

    def verify(self, programs: Iterator[Any]) -> None:
        """Take programs through the stages, one after the other, and report on each."""
        tools: Any = None  # made of TensorFlow, which a program need not have come to import
        for program in programs:
            tools = tools or self._tools()
            if program.id not in self._here.job.skip:
                self.begin(program.id, program.function, program.path, program.line, program.origin)
                report = self._report(program, tools)
                self._reports.append(report)
                self._here.channel.emit(to_record("target", report))

    def search(self, found: Any, wanted: Any) -> None:
        """Take what is found for one function through the stages, telling the search what came of it."""
        from xlalint.verify.alone import drive

        tools = self._tools()
        report: TargetReport | None = None
        while True:
            self.begin(wanted.identity, wanted.qualname, wanted.path, wanted.line, drive.ALONE)
            self._here.channel.emit({"kind": "stage", "stage": jobs.INPUTS, "so_far": None})
            try:
                made = found.send(report)
            except StopIteration:
                self._here.channel.emit({"kind": "ended"})
                return
            except Exception as error:  # a fault of ours must not cost the other functions
                made = drive.not_reached(wanted, own_fault(error))
            report = None
            if isinstance(made, TargetReport):
                self._here.channel.emit(to_record("target", made))
            elif made.id not in self._here.job.skip:
                self.begin(made.id, made.function, made.path, made.line, made.origin)
                report = self._report(made, tools)
                self._reports.append(report)
                self._here.channel.emit(to_record("target", report))

    def has_run(self, wanted: Any) -> bool:
        """Have all the lines in question run in programs that compile, or in what the module's own work called?"""
        ran = {
            line
            for report in self._reports
            if report.status == OK or not report.inputs
            for line in report.evidence.executed.get(wanted.path, ())
        }
        return all(any(first <= line <= last for line in ran) for first, last in wanted.lines)

    def _tools(self) -> Any:
        from xlalint.verify import stages

        return stages.Tools(
            self._here.locator,
            frozenset(self._here.job.flagged_files),
            self._here.offloaded,
            self._tell_stage,
            self._here.channel.phase,
            self._tpu(),
            self._here.job.compile_only,
        )

    def begin(self, identity: str, function: str, path: str, line: int, origin: str) -> None:
        """Say what comes next: it may be the last that this process does."""
        self._here.channel.emit(
            {
                "kind": "begin",
                "target": identity,
                "function": function,
                "path": path,
                "line": line,
                "origin": origin,
            }
        )

    def _tpu(self) -> Any:
        """What asks the TPU compiler, None where no TPU is named or it cannot read this TensorFlow's programs."""
        from xlalint.verify import on_tpu

        why_not = on_tpu.unusable(self._here.job.tpu) if self._here.job.tpu.targets else ""
        if why_not:
            self._here.note(why_not)
            return None
        stood_in = self._here.place.standin if self._here.place is not None else None
        return on_tpu.of_job(self._here.job, stood_in, self._here.started)

    def _report(self, program: Any, tools: Any) -> TargetReport:
        from xlalint.verify import stages

        try:
            return self._here.contained(lambda: stages.verify(program, tools))
        except Exception as error:  # a fault of ours must not cost the other targets
            return TargetReport(
                program.id,
                program.function,
                program.path,
                program.line,
                program.origin,
                SKIPPED,
                notes=(own_fault(error),),
            )

    def _tell_stage(self, stage: str, so_far: TargetReport) -> None:
        self._here.channel.emit({"kind": "stage", "stage": stage, "so_far": asdict(so_far)})
