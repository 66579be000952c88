"""A program that trains: run for its steps, watched, and reported on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xlalint.verify import jobs, members, steps, substitutes
from xlalint.verify.here import Here, NotHere
from xlalint.verify.locate import text_of
from xlalint.verify.meter import Meter
from xlalint.verify.outputs import Outputs
from xlalint.verify.records import (
    FAILED,
    IMPOSSIBLE,
    UNFIT,
    Failure,
    Stage,
    TrainingReport,
    to_record,
)

_RAN = ("stopped", "ended")
# Mistakes that the rest of a program makes with what a few steps leave: not counted as failures.
_OF_FEW_STEPS = (LookupError, ArithmeticError, AssertionError)
_NO_STEP = "its training loop names no strategy and calls no tf.function before it fails: only a tf.function can be given to the replicas"


class Training:
    """One run of a program in this process; what it writes goes to `outputs`."""

    def __init__(self, here: Here, outputs: Outputs) -> None:
        self._here = here
        self._outputs = outputs
        self._losses: list[float | None] = []
        self._limiter: steps.Limiter | None = None

    def of(self, run: Callable[[], None]) -> Iterator[Any]:
        """Run a program for its steps, report on that, and give the programs that it called, one after the other."""
        capture = steps.Capture(self._here.job.flagged, self._here.code.is_project)
        meter = Meter()
        if self._here.job.takes_targets:
            capture.start()
            meter.start()
        # After the capture: the call that is one too many is stopped before it is seen.
        limiter = self._limiter = steps.limit(self._here.job.steps, self._hear_step)
        self._here.channel.phase("run")
        started = time.monotonic()
        status, detail, failure = self._outcome_of(run)
        checks = self._checks(status)
        if status in ("stopped", "ended") and any(check.status == FAILED for check in checks):
            status = FAILED
        captured = capture.results() if self._here.job.takes_targets else ()
        limiter.undo()
        meter.stop()
        capture.stop()
        report = TrainingReport(
            strategy=self._here.place.name if self._here.place is not None else jobs.AS_IS,
            replicas=self._here.place.replicas if self._here.place is not None else 1,
            status=status,
            steps=limiter.done,
            losses=tuple(self._losses),
            seconds=time.monotonic() - started,
            detail=detail,
            failure=failure,
            events=tuple(self._here.events),
            checks=checks,
            is_asked=self._here.job.is_asked,
        )
        if not (self._here.job.does_work and status == "ended" and not report.steps):
            # A module that was imported for its functions, whose text only looked as if it trained, trains nothing.
            self._here.channel.emit(to_record("training", report))
        if status != FAILED:
            members.meet(self._here.job)
        if self._here.job.takes_targets and (told := self._outputs.told(Path.cwd())):
            self._here.note(told)
        if self._here.job.takes_targets:
            self._here.channel.phase("data")
            self._tell_meter(meter)
        self._here.channel.phase("targets")
        if self._here.place is not None:
            self._here.place.compile_again()
        if not captured:
            return iter(())
        from xlalint.verify import captures

        stood_in = self._here.place.standin if self._here.place is not None else None
        around = captures.Circumstances(
            self._here.converted, stood_in, self._here.runs, self._here.note
        )
        with_values = captures.with_values(capture, captured, around, status == "failed")
        return captures.programs(with_values, around)

    def _tell_meter(self, meter: Meter) -> None:
        functions = [asdict(one) for one in meter.functions()]
        batches = [asdict(one) for one in meter.sources.shapes()]
        self._here.channel.emit({"kind": "meter", "functions": functions, "batches": batches})

    def _checks(self, status: str) -> tuple[Stage, ...]:
        """What there is to say of the replicas, after a run under a strategy of several that was not cut short."""
        from xlalint.verify import agreement

        place = self._here.place
        last = (
            place.last_batch.check(self._losses) if place is not None and place.last_batch else None
        )
        if place is None or place.name in (jobs.AS_IS, jobs.STANDIN) or status not in _RAN:
            self._here.events += [
                f"the loss of step {step} is not a number"
                for step in agreement.unusable(self._losses)
            ]
            return () if last is None else (last,)
        if self._here.job.task:
            digests = agreement.digests(place.strategy)
            self._here.channel.emit({"kind": "variables", "digests": digests})
        # A worker's own replica has nothing beside it here: the parent compares it with the others'.
        of_replicas = None if self._here.job.task else agreement.of_replicas(place.strategy)
        found = (of_replicas, agreement.of_losses(self._losses), last)
        return tuple(check for check in found if check is not None)

    def _outcome_of(self, run: Callable[[], None]) -> tuple[str, str, Failure | None]:
        """(status, detail, failure) of the user's program: `stopped` after its steps, `ended`, or `failed`."""
        try:
            self._here.contained(run)
        except steps.StepsDone:
            return "stopped", "", None
        except SystemExit as leaving:
            code = leaving.code
            if code in (None, 0):
                return "ended", "", None
            if isinstance(code, int):
                return "failed", f"the program left with exit code {code}", None
            return "failed", f"the program left, saying: {text_of(code)}", None
        except BaseException as error:
            failure = self._here.locator.python_error("script", error)
            if isinstance(error, NotHere):
                return IMPOSSIBLE, str(error), None
            if isinstance(error, _OF_FEW_STEPS) and self._limiter and self._limiter.left == 0:
                where = f"{failure.place.path}:{failure.place.line}: " if failure.place else ""
                self._here.events.append(
                    f"after the last step: {where}{failure.message} (few steps leave a short history and an untrained model)"
                )
                return "stopped", "", None
            if substitutes.is_unreachable(error):
                self._here.note(
                    "the program fetches something from the network, which cannot be reached here: put a copy where it looks "
                    "for one, or take random data of the same shapes"
                )
            return (*self._blame(error, failure), failure)
        return "ended", "", None

    def _blame(self, error: BaseException, failure: Failure) -> tuple[str, str]:
        """(status, detail) of a program that raised: its own fault, TensorFlow's limit, or ours to have put it there."""
        from xlalint.verify import limits

        limit = limits.of(self._here.job.strategy, error)
        if limit:
            return IMPOSSIBLE, limit
        driver = self._here.place.driver if self._here.place is not None else None
        if driver is not None and not driver.driven:
            return UNFIT, _NO_STEP
        # A program that names no strategy need not work under one, unless the user says so.
        is_ours = self._here.job.is_imposed and not self._here.job.is_asked
        return UNFIT if is_ours else FAILED, failure.message

    def _hear_step(self, step: steps.Step) -> None:
        self._losses += [None] * (step.index - len(self._losses) - 1)
        self._losses.append(step.loss)
        self._here.channel.emit({"kind": "step", "index": step.index, "loss": step.loss})
