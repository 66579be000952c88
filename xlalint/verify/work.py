"""What a child does with its job: set the hooks, run the user's code, take what was found through the stages, report."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
import platform
import runpy
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from xlalint.isolation.channel import Channel
from xlalint.verify import hooks, hosted, jobs, members, standin, steps, substitutes
from xlalint.verify.interpreter import Interpreter
from xlalint.verify.jobs import Job
from xlalint.verify.layersites import LayerSites
from xlalint.verify.locate import Locator, text_of
from xlalint.verify.meter import Meter
from xlalint.verify.offload import Offloaded
from xlalint.verify.opstack import UserCode
from xlalint.verify.outputs import Outputs
from xlalint.verify.records import (
    FAILED,
    IMPOSSIBLE,
    OK,
    SKIPPED,
    UNFIT,
    Environment,
    Failure,
    Stage,
    TargetReport,
    TrainingReport,
    to_record,
)

_T = TypeVar("_T")


def main(job_file: str) -> None:
    """Do the job and leave without Python's shutdown, in which TensorFlow's threads may hang."""
    channel = Channel()
    job = jobs.read(job_file)
    sys.path.insert(0, job.first_path)
    if job.cwd:
        os.chdir(job.cwd)
    sys.dont_write_bytecode = True  # no __pycache__ beside the user's files
    if job.kind == jobs.SERVER:
        members.serve(lambda: channel.emit({"kind": "serving"}))
    # The parent removes this folder, however this process ends.
    outputs = _outputs(Path(tempfile.gettempdir()), job)
    _Work(job, channel, outputs, Interpreter()).do()
    channel.emit(to_record("environment", _environment()))
    channel.end()
    _leave(0)


def _leave(code: int) -> NoReturn:
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


def _outputs(folder: Path, job: Job) -> Outputs:
    """Where this process writes: what it calls temporary, and what stands in for the user's own files."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    outputs = Outputs(folder / "outputs", map(Path, job.roots))
    outputs.start()
    return outputs


_RAN = ("stopped", "ended")
# Mistakes that the rest of a program makes with what a few steps leave: not counted as failures.
_OF_FEW_STEPS = (LookupError, ArithmeticError, AssertionError)
_NO_STEP = "its training loop names no strategy and calls no tf.function before it fails: only a tf.function can be given to the replicas"


class _NotHere(BaseException):
    """The strategy that the job asks for cannot be had here. Ends the program, whatever exceptions it handles."""


class _Work:
    def __init__(
        self, job: Job, channel: Channel, outputs: Outputs, interpreter: Interpreter
    ) -> None:
        self._started = time.monotonic()
        self._job = job
        self._channel = channel
        self._outputs = outputs
        self._interpreter = interpreter
        self._code = UserCode(job.roots)
        self._layers = LayerSites(self._code.is_user)
        self.locator = Locator(self._code, self._layers)
        self._place: Any = None
        self._runs: Any = None
        self._losses: list[float | None] = []
        self._limiter: steps.Limiter | None = None
        self._reports: list[TargetReport] = []
        self._events: list[str] = []
        self._converted: set[tuple[str, int]] = set()
        self._offloaded = Offloaded(self._code.is_user)

    def do(self) -> None:
        installed = hooks.install(
            {
                "tensorflow": self._on_tensorflow,
                "keras": lambda: self._on_keras("keras"),
                "tf_keras": lambda: self._on_keras("tf_keras"),
            }
        )
        hosted.install(self._note)
        substitutes.Substitutes(self._note).start()
        if self._job.kind == jobs.SCRIPT:
            self._training(self._script)
        elif self._job.kind == jobs.MODULES:
            self._modules()
        elif self._job.kind == jobs.ALONE:
            self._alone()
        elif self._job.kind == jobs.PROOF:
            self._prove()
        else:
            self._entry()
        for failure in installed.failures:
            self._note(f"{failure.library} is watched in part: {failure.error}")

    # Hooks

    def _on_tensorflow(self) -> None:
        from xlalint.verify import captures, forward, opstack, under

        tf = importlib.import_module("tensorflow")
        self._channel.emit({"kind": "tensorflow"})
        if not opstack.install(self._code):
            self._note("this TensorFlow gives no way to name the user's lines for every operation")
        forward.install()
        tf.debugging.disable_traceback_filtering()
        captures.watch_conversions(self._converted)
        self._runs = captures.Runs()
        self._runs.watch()
        if self._job.strategy == jobs.STANDIN:
            self._offloaded.install()
        try:
            self._place = under.Place(self._job, tf, self._hear_event)
        except under.UNAVAILABLE as reason:
            if not self._job.takes_targets:
                raise _NotHere(str(reason)) from reason
            self._note(f"not under {self._job.strategy}: {reason}")

    def _on_keras(self, library: str) -> None:
        keras = importlib.import_module(library)
        self._layers.watch(keras.layers.Layer)
        if self._place is not None and self._place.last_batch is not None:
            self._place.last_batch.watch(keras)
        show_all_frames = getattr(
            getattr(keras, "config", None), "disable_traceback_filtering", None
        )
        if show_all_frames is not None:
            show_all_frames()

    def _hear_event(self, event: standin.Event) -> None:
        where = f"{event.path}:{event.line}: " if event.path else ""
        self._events.append(f"{where}{event.detail}")

    def _note(self, text: str) -> None:
        self._channel.emit({"kind": "note", "text": text})

    # A program that trains

    def _training(
        self, run: Callable[[], None], use: Callable[[Iterator[Any]], None] | None = None
    ) -> None:
        """Run a program for its steps; `use` takes what it called (else that goes through the stages)."""
        capture = steps.Capture(self._job.flagged, self._code.is_project)
        meter = Meter()
        if self._job.takes_targets:
            capture.start()
            meter.start()
        # After the capture: the call that is one too many is stopped before it is seen.
        limiter = self._limiter = steps.limit(self._job.steps, self._hear_step)
        self._channel.phase("run")
        started = time.monotonic()
        status, detail, failure = self._outcome_of(run)
        checks = self._checks(status)
        if status in ("stopped", "ended") and any(check.status == FAILED for check in checks):
            status = FAILED
        captured = capture.results() if self._job.takes_targets else ()
        limiter.undo()
        meter.stop()
        capture.stop()
        report = TrainingReport(
            strategy=self._place.name if self._place is not None else jobs.AS_IS,
            replicas=self._place.replicas if self._place is not None else 1,
            status=status,
            steps=limiter.done,
            losses=tuple(self._losses),
            seconds=time.monotonic() - started,
            detail=detail,
            failure=failure,
            events=tuple(self._events),
            checks=checks,
            is_asked=self._job.is_asked,
        )
        self._channel.emit(to_record("training", report))
        if status != FAILED:
            members.meet(self._job)
        if self._job.takes_targets and (told := self._outputs.told(Path.cwd())):
            self._note(told)
        if self._job.takes_targets:
            self._channel.phase("data")
            self._tell_meter(meter)
        self._channel.phase("targets")
        if self._place is not None:
            self._place.compile_again()
        if captured:
            from xlalint.verify import captures

            stood_in = self._place.standin if self._place is not None else None
            around = captures.Circumstances(self._converted, stood_in, self._runs, self._note)
            with_values = captures.with_values(capture, captured, around, status == "failed")
            (use or self._verify)(captures.programs(with_values, around))

    def _tell_meter(self, meter: Meter) -> None:
        functions = [asdict(one) for one in meter.functions()]
        batches = [asdict(one) for one in meter.sources.shapes()]
        self._channel.emit({"kind": "meter", "functions": functions, "batches": batches})

    def _checks(self, status: str) -> tuple[Stage, ...]:
        """What there is to say of the replicas, after a run under a strategy of several that was not cut short."""
        from xlalint.verify import agreement

        place = self._place
        last = (
            place.last_batch.check(self._losses) if place is not None and place.last_batch else None
        )
        if place is None or place.name in (jobs.AS_IS, jobs.STANDIN) or status not in _RAN:
            self._events += [
                f"the loss of step {step} is not a number"
                for step in agreement.unusable(self._losses)
            ]
            return () if last is None else (last,)
        if self._job.task:
            digests = agreement.digests(place.strategy)
            self._channel.emit({"kind": "variables", "digests": digests})
        # A worker's own replica has nothing beside it here: the parent compares it with the others'.
        of_replicas = None if self._job.task else agreement.of_replicas(place.strategy)
        found = (of_replicas, agreement.of_losses(self._losses), last)
        return tuple(check for check in found if check is not None)

    def _outcome_of(self, run: Callable[[], None]) -> tuple[str, str, Failure | None]:
        """(status, detail, failure) of the user's program: `stopped` after its steps, `ended`, or `failed`."""
        try:
            self._contained(run)
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
            failure = self.locator.python_error("script", error)
            if isinstance(error, _NotHere):
                return IMPOSSIBLE, str(error), None
            if isinstance(error, _OF_FEW_STEPS) and self._limiter and self._limiter.left == 0:
                where = f"{failure.place.path}:{failure.place.line}: " if failure.place else ""
                self._events.append(
                    f"after the last step: {where}{failure.message} (few steps leave a short history and an untrained model)"
                )
                return "stopped", "", None
            if substitutes.is_unreachable(error):
                self._note(
                    "the program fetches something from the network, which cannot be reached here: put a copy where it looks "
                    "for one, or take random data of the same shapes"
                )
            return (*self._blame(error, failure), failure)
        return "ended", "", None

    def _contained(self, run: Callable[[], _T]) -> _T:
        """Run code of the user's and put Python back as it was; a copy of this process (`os.fork`) ends there."""
        try:
            result = run()
        except BaseException as error:
            self._interpreter.restore()
            if self._channel.is_copy:
                _leave(_status_of(error))
            raise
        self._interpreter.restore()
        if self._channel.is_copy:
            _leave(0)
        return result

    def _blame(self, error: BaseException, failure: Failure) -> tuple[str, str]:
        """(status, detail) of a program that raised: its own fault, TensorFlow's limit, or ours to have put it there."""
        from xlalint.verify import limits

        limit = limits.of(self._job.strategy, error)
        if limit:
            return IMPOSSIBLE, limit
        driver = self._place.driver if self._place is not None else None
        if driver is not None and not driver.driven:
            return UNFIT, _NO_STEP
        # A program that names no strategy need not work under one, unless the user says so.
        is_ours = self._job.is_imposed and not self._job.is_asked
        return UNFIT if is_ours else FAILED, failure.message

    def _hear_step(self, step: steps.Step) -> None:
        self._losses += [None] * (step.index - len(self._losses) - 1)
        self._losses.append(step.loss)
        self._channel.emit({"kind": "step", "index": step.index, "loss": step.loss})

    def _script(self) -> None:
        sys.argv[:] = self._job.argv
        if self._job.is_module:
            runpy.run_module(self._job.run, run_name="__main__", alter_sys=True)
        else:
            names = hosted.names() if self._job.has_ipython else {}
            runpy.run_path(self._job.run, init_globals=names, run_name="__main__")

    # Functions

    def _modules(self) -> None:
        for module in self._job.modules:
            loaded = self._import(module.name, module.path)
            if loaded is None:
                continue
            from xlalint.verify import found

            self._verify(found.in_module(loaded, module.path, self._begin, self._job.skip))

    def _alone(self) -> None:
        """Functions that nothing calls."""
        loaded = self._sealed_module(self._verify)
        if loaded is None:
            return
        from xlalint.verify import found
        from xlalint.verify.alone import drive

        (module,) = self._job.modules
        self._verify(found.in_module(loaded, module.path, self._begin, self._job.skip))
        tools = self._tools()
        for wanted in self._job.wanted:
            if drive.identity(wanted) not in self._job.skip and not self._has_run(wanted):
                self._search(drive.programs(wanted, loaded, self._watch()), wanted, tools)

    def _sealed_module(self, use: Callable[[Iterator[Any]], None]) -> Any:
        """The job's module, None where its import fails; `use` is given the programs that it calls if it does work when it is
        imported. What is called from now on has made-up inputs, which must do no harm: hence the seal."""
        from xlalint.verify.alone.seal import Seal

        seal = Seal(str(Path.cwd()))
        seal.close()
        (module,) = self._job.modules
        if self._job.does_work:
            loaded = self._import_as_script(module, use)
        else:
            loaded = self._import(module.name, module.path)
        if loaded is not None:
            importlib.import_module("tensorflow")
            seal.let_nothing_start()
        return loaded

    def _prove(self) -> None:
        """Functions as they are, and as fixes rewrite them."""
        captured: list[Any] = []
        loaded = self._sealed_module(captured.extend)
        if loaded is None:
            return
        from xlalint.verify.proving.drive import Prover

        (module,) = self._job.modules
        folder = Path(tempfile.gettempdir()) / "rewritten"
        text = Path(module.path).read_bytes().decode("utf-8-sig")
        prover = Prover(loaded, text, folder, self._watch(), captured)
        for wanted in self._job.wanted:
            own = [
                one
                for one in self._job.rewrites
                if one.function == (wanted.line, wanted.qualname) and one.id not in self._job.skip
            ]
            if own:
                self._prove_those(prover, wanted, own)

    def _prove_those(self, prover: Any, wanted: Any, rewrites: Sequence[Any]) -> None:
        """The rewrites of one function."""
        from xlalint.fixes.proof import NOT_RUNNABLE, Proof
        from xlalint.verify.alone import drive

        place = (wanted.qualname, wanted.path, wanted.line, drive.ALONE)
        self._begin(drive.identity(wanted), *place)
        self._channel.emit({"kind": "stage", "stage": jobs.INPUTS, "so_far": None})
        try:
            scenes, why = self._contained(lambda: prover.scenes(wanted))
        except Exception as error:  # a fault of ours must not cost the other functions
            scenes, why = [], _own_fault(error)
        self._channel.emit({"kind": "ended"})
        for rewrite in rewrites:
            self._begin(rewrite.id, *place)
            self._channel.emit({"kind": "stage", "stage": jobs.PROOF, "so_far": None})
            try:
                prove = partial(prover.prove, rewrite, scenes)
                proof = self._contained(prove) if scenes else Proof(NOT_RUNNABLE, why)
            except Exception as error:
                proof = Proof(NOT_RUNNABLE, _own_fault(error))
            self._channel.emit({"kind": "proof", "id": rewrite.id, "proof": proof.as_dict()})

    def _watch(self) -> Any:
        from xlalint.verify.alone import drive

        return drive.Watch(
            self._converted,
            self._runs,
            frozenset(self._job.avoid),
            lambda inputs: self._channel.emit({"kind": "try", "inputs": inputs}),
        )

    def _search(self, found: Any, wanted: Any, tools: Any) -> None:
        """Take what is found for one function through the stages, telling the search what came of it."""
        from xlalint.verify.alone import drive

        report: TargetReport | None = None
        while True:
            self._begin(
                drive.identity(wanted), wanted.qualname, wanted.path, wanted.line, drive.ALONE
            )
            self._channel.emit({"kind": "stage", "stage": jobs.INPUTS, "so_far": None})
            try:
                made = found.send(report)
            except StopIteration:
                self._channel.emit({"kind": "ended"})
                return
            except Exception as error:  # a fault of ours must not cost the other functions
                made = drive.not_reached(wanted, _own_fault(error))
            report = None
            if isinstance(made, TargetReport):
                self._channel.emit(to_record("target", made))
            elif made.id not in self._job.skip:
                self._begin(made.id, made.function, made.path, made.line, made.origin)
                report = self._report(made, tools)
                self._reports.append(report)
                self._channel.emit(to_record("target", report))

    def _has_run(self, wanted: Any) -> bool:
        """Have all the lines in question run in programs that compile, or in what the module's own work called?"""
        ran = {
            line
            for report in self._reports
            if report.status == OK or not report.inputs
            for line in report.evidence.executed.get(wanted.path, ())
        }
        return all(any(first <= line <= last for line in ran) for first, last in wanted.lines)

    def _import_as_script(self, module: Any, use: Callable[[Iterator[Any]], None]) -> Any:
        """Import a module that trains when it is imported: for some steps, its calls captured as a script's are."""
        spec = importlib.util.spec_from_file_location(module.name, module.path)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module.name] = loaded
        loader = spec.loader
        self._training(lambda: loader.exec_module(loaded), use)
        return loaded

    def _entry(self) -> None:
        from xlalint.verify import found

        name = self._job.entry.partition(":")[0]
        if self._import(name, name) is None:
            return
        try:
            entry = found.entry(self._job.entry, self._job.inputs)
        except found.EntryError as error:
            self._channel.emit({"kind": "broken", "what": self._job.entry, "message": str(error)})
            return
        if isinstance(entry, found.Training):
            self._training(entry.run)
        else:
            self._verify(iter([entry]))

    def _import(self, name: str, path: str) -> Any:
        """The module, None (and a record) where its import fails."""
        try:
            return self._contained(lambda: importlib.import_module(name))
        except BaseException as error:
            failure = self.locator.python_error("import", error)
            self._channel.emit(
                {"kind": "broken", "what": path, "message": failure.message, **_where(failure)}
            )
            return None

    def _verify(self, programs: Iterator[Any]) -> None:
        tools = self._tools()
        for program in programs:
            if program.id not in self._job.skip:
                self._begin(
                    program.id, program.function, program.path, program.line, program.origin
                )
                report = self._report(program, tools)
                self._reports.append(report)
                self._channel.emit(to_record("target", report))

    def _tools(self) -> Any:
        from xlalint.verify import stages

        return stages.Tools(
            self.locator,
            frozenset(self._job.flagged_files),
            self._offloaded,
            self._tell_stage,
            self._channel.phase,
            self._tpu(),
            self._job.compile_only,
        )

    def _begin(self, identity: str, function: str, path: str, line: int, origin: str) -> None:
        self._channel.emit(
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

        why_not = on_tpu.unusable(self._job.tpu) if self._job.tpu.targets else ""
        if why_not:
            self._note(why_not)
            return None
        stood_in = self._place.standin if self._place is not None else None
        return on_tpu.of_job(self._job, stood_in, self._started)

    def _report(self, program: Any, tools: Any) -> TargetReport:
        from xlalint.verify import stages

        try:
            return self._contained(lambda: stages.verify(program, tools))
        except Exception as error:  # a fault of ours must not cost the other targets
            return TargetReport(
                program.id,
                program.function,
                program.path,
                program.line,
                program.origin,
                SKIPPED,
                notes=(_own_fault(error),),
            )

    def _tell_stage(self, stage: str, so_far: TargetReport) -> None:
        self._channel.emit({"kind": "stage", "stage": stage, "so_far": asdict(so_far)})


def _own_fault(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"xlalint itself failed ({where}: {type(error).__name__}: {error}); please report it"


def _where(failure: Failure) -> dict[str, Any]:
    place = failure.place
    return {} if place is None else {"path": place.path, "line": place.line, "column": place.column}


def _environment() -> Environment:
    def version(module: str) -> str:
        loaded = sys.modules.get(module)
        return str(getattr(loaded, "__version__", "")) if loaded is not None else ""

    return Environment(
        platform.python_version(), version("tensorflow"), version("keras"), version("tf_keras")
    )
