"""Run the children of a plan, one after another or a few at a time, and gather what they report."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from xlalint.fixes.proof import Proof, proof_from
from xlalint.isolation import sandbox, scratch, warden
from xlalint.verify import choices, cluster_report, clusters, compilelog, interrupts, jobs
from xlalint.verify.jobs import Job
from xlalint.verify.opstack import UserCode
from xlalint.verify.recompiles import Recompiles, meter
from xlalint.verify.records import (
    EAGER,
    FAILED,
    SKIPPED,
    STAGES,
    TPU,
    Environment,
    Failure,
    Place,
    Stage,
    TargetReport,
    TrainingReport,
    batch_shapes_from,
    metered_from,
    target_from,
    training_from,
)
from xlalint.verify.scheduling import Crew, Room

_CHILD = (*sandbox.BEGIN, "xlalint.verify.work")
# Targets that kill their child are left out of the next one; a program that keeps dying is given up.
_MOST_DEATHS = 6
_MOST_DEADLY_INPUTS = 3


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that could not be run at all: a module whose import fails, an entry that does not exist."""

    what: str
    message: str
    place: Place | None = None


@dataclass(slots=True)
class Gathered:
    """What the children reported."""

    environment: Environment = field(default_factory=Environment)
    targets: list[TargetReport] = field(default_factory=list)
    trainings: list[TrainingReport] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    recompiles: list[Recompiles] = field(default_factory=list)
    proofs: dict[str, Proof] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    def add(self, other: Gathered) -> None:
        if other.environment.tensorflow:
            self.environment = other.environment
        self.targets += other.targets
        self.trainings += other.trainings
        self.broken += other.broken
        self.recompiles += other.recompiles
        self.proofs |= other.proofs
        self.notes += [note for note in other.notes if note not in self.notes]
        self.interrupted |= other.interrupted

    def blame_xla(self) -> None:
        """The program was run again without XLA. Where that went no better, XLA was not what killed it."""
        first, *again = self.trainings
        if again and again[-1].status == FAILED and again[-1].failure == first.failure:
            self.trainings.remove(again[-1])
            self.notes.append("the program was run again without XLA, and died again")
        else:
            self.notes.append(
                "XLA killed the program: it was run again without XLA, for its functions to be compiled one by one"
            )


class Say(Protocol):
    """Hears what is being done, and in which child; an empty text says that the child has ended."""

    def __call__(self, text: str, child: str = "", /) -> None: ...


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What all children of a run share: the folder and the mark of the run, limits, listeners."""

    folder: Path
    mark: str
    limits: sandbox.Limits
    say: Say
    stop: threading.Event
    room: Room


def run(
    planned: Sequence[Job],
    limits: sandbox.Limits,
    say: Say,
    workers: int = 1,
) -> Gathered:
    """Do the jobs, in up to `workers` children at a time as far as memory allows. `say` hears of progress.

    Ctrl-C ends the children, and what they had reported is returned. Nothing of the children survives this, nor this
    process's own end (`warden`).
    """
    gathered, stop, room, mark = Gathered(), threading.Event(), Room(), secrets.token_hex(6)
    with (
        interrupts.setting(stop),
        scratch.folder() as folder,
        warden.guarding(folder, mark),
    ):
        around = _Surroundings(folder, mark, limits, say, stop, room)
        tasks = [partial(_do, job, around, str(number)) for number, job in enumerate(planned, 1)]
        for done in Crew[Gathered](max(1, workers), room, stop).run(tasks):
            gathered.add(done)
    if room.was_short_of_mb:
        gathered.notes.append(
            f"some children waited for others: with {room.was_short_of_mb} MiB more of free memory they would run at once"
        )
    return gathered


def _do(job: Job, around: _Surroundings, number: str) -> Gathered:
    """Run a job's child, and again without the targets that killed it."""
    gathered = Gathered()
    if choices.KINDS[job.strategy].is_cluster:
        return _do_together(job, around, number)
    gathered.notes += job.notes
    for attempt_number in range(1, _MOST_DEATHS + 1):
        if around.stop.is_set():
            gathered.interrupted = True
            return gathered
        attempt = _Attempt(job, around.say)
        outcome = attempt.run(around, f"{number}.{attempt_number}")
        around.room.learn(outcome.peak_mb)
        _keep(gathered, attempt, outcome, job)
        if attempt.killer is None and _died_in_xla(outcome, job):
            job = replace(job, without_xla=True)
            continue
        if attempt.killer is None or gathered.interrupted:
            break
        job = replace(job, wanted=_still_wanted(job, gathered))
        if attempt.deadly:
            job = replace(
                job, skip=(*job.skip, *attempt.finished), avoid=(*job.avoid, attempt.deadly)
            )
            continue
        job = replace(job, skip=(*job.skip, *attempt.finished, attempt.killer["target"]))
    else:
        gathered.notes.append(
            f"{job.label}: given up after {_MOST_DEATHS} children had died; functions that are not listed were not compiled"
        )
    if job.without_xla:
        gathered.blame_xla()
    return gathered


def _do_together(job: Job, around: _Surroundings, number: str) -> Gathered:
    """Run a job in the processes of a cluster; the first of them is reported on, the others in what it says of them."""
    found, first = _run_members(job, around, f"{number}.1")
    if clusters.has_lost_its_port(found):
        found, first = _run_members(job, around, f"{number}.2")
    gathered = Gathered(notes=list(job.notes))
    chief, outcome = found[0], found[0].outcome
    if chief.was_halted and not around.stop.is_set():
        outcome = replace(outcome, status="no-result")
    _keep(gathered, first, outcome, chief.job)
    gathered.trainings = [cluster_report.of(one, found, job) for one in gathered.trainings]
    if not gathered.interrupted:
        gathered.broken = []  # told with the training
    return gathered


def _run_members(
    job: Job, around: _Surroundings, number: str
) -> tuple[list[clusters.Member], _Attempt]:
    meeting = clusters.Meeting(around.folder / f"{number}.meeting", job.replicas)
    planned = clusters.members(job, meeting.place)
    attempts = [
        _Attempt(one, around.say if index == 0 else _say_nothing, partial(meeting.hear, one.task))
        for index, one in enumerate(planned)
    ]

    def start(index: int, halt: threading.Event) -> sandbox.Outcome:
        return attempts[index].run(replace(around, stop=halt), f"{number}.{index}")

    starts = [(one, partial(start, index)) for index, one in enumerate(planned)]
    found = clusters.run(starts, around.stop)
    around.room.learn(sum(one.outcome.peak_mb for one in found))
    return found, attempts[0]


def _say_nothing(text: str, child: str = "", /) -> None:
    pass


def _still_wanted(job: Job, gathered: Gathered) -> tuple[jobs.Wanted, ...]:
    """Functions that no earlier child took through the stages by another way: as one with an input_signature, or as a tf.function
    that the module called."""
    taken = {(one.path, one.line) for one in gathered.targets if one.origin != jobs.ALONE}
    return tuple(one for one in job.wanted if (one.path, one.line) not in taken)


def _died_in_xla(outcome: sandbox.Outcome, job: Job) -> bool:
    """May it be XLA that killed the program, before it had trained, compiled as it asks to be?"""
    kinds = {record["kind"] for record in outcome.records}
    is_program = job.kind not in jobs.OF_MODULES
    may_help = is_program and job.takes_targets and not job.without_xla
    return outcome.is_fault and may_help and "tensorflow" in kinds and "training" not in kinds


class _Attempt:
    """One child: its records as they come."""

    def __init__(
        self, job: Job, say: Say, also: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> None:
        self._job = job
        self._also = also
        self._tell = say
        self.log = compilelog.CompileLog()
        self.current: dict[str, Any] | None = None
        self.stage = ""
        self.so_far: dict[str, Any] | None = None
        self.finished: list[str] = []
        self.killer: dict[str, Any] | None = None
        self.trying = ""  # inputs of a function, while they are looked for
        self.deadly = ""

    def run(self, around: _Surroundings, number: str) -> sandbox.Outcome:
        job_file = around.folder / f"{number}.json"
        self._job.write(job_file)
        self._say("starting")
        outcome = sandbox.run(
            [*self._job.python, "-X", "faulthandler", *_CHILD, str(job_file)],
            limits=around.limits,
            env={**compilelog.ENVIRONMENT, **self._job.env},
            folder=around.folder / number,
            mark=around.mark,
            on_record=self._hear,
            on_stderr_line=self.log.line,
            stop=around.stop,
        )
        self._say("")
        if outcome.status not in ("interrupted", "ok") and self.current is not None:
            self.killer = self.current
            is_search = self.stage == jobs.INPUTS and len(self._job.avoid) < _MOST_DEADLY_INPUTS
            self.deadly = self.trying if outcome.is_fault and is_search else ""
        return outcome

    def _say(self, text: str) -> None:
        self._tell(text, f"{self._job.label}{_under(self._job)}")

    def _hear(self, record: dict[str, Any]) -> None:
        self._also(record)
        kind = record["kind"]
        if kind == "begin":
            self.current, self.stage, self.so_far, self.trying = record, "", None, ""
        elif kind == "stage":
            self.stage, self.so_far = record["stage"], record["so_far"]
            function = self.current["function"] if self.current else ""
            self._say(f"{function}: {self.stage}")
        elif kind == "try":
            self.trying = record["inputs"]
        elif kind == "ended":
            self.current = None
        elif kind in ("target", "proof"):
            self.current = None
            self.finished.append(record["id"])
        elif kind == "phase" and record["phase"] == "run":
            self._say("running")
        elif kind == "step":
            self._say(f"step {record['index']} of {self._job.steps}")


def _under(job: Job) -> str:
    if job.strategy == jobs.AS_IS:
        return ""
    return f" under {strategy_name(job.strategy, job.replicas)}"


def strategy_name(strategy: str, replicas: int) -> str:
    """How reports call a strategy."""
    names = {
        "none": "no strategy of ours",
        "tpu": f"TPUStrategy stand-in, {replicas} replicas",
        "mirrored": f"MirroredStrategy, {replicas} virtual CPUs",
        "one-device": "OneDeviceStrategy, CPU",
        "real-tpu": f"TPUStrategy on this machine's TPU, {replicas} cores",
        "multi-worker": f"MultiWorkerMirroredStrategy, {replicas} worker processes",
        "central-storage": f"CentralStorageStrategy, {replicas} virtual CPUs",
        "parameter-server": f"ParameterServerStrategy, {replicas} worker{'s' * (replicas != 1)} and 1 parameter server",
    }
    return names.get(strategy, strategy)


def _keep(gathered: Gathered, attempt: _Attempt, outcome: sandbox.Outcome, job: Job) -> None:
    seen = {target.id for target in gathered.targets}
    compiles = attempt.log.during("run")
    for record in outcome.records:
        kind = record["kind"]
        if kind == "target" and record["id"] not in seen:
            target = target_from(record)
            gathered.targets.append(
                replace(
                    target,
                    compiles=compiles.get(target.function.rpartition(".")[2], 0),
                    value_compiles=sum(attempt.log.during(f"values {target.id}").values()),
                )
            )
        elif kind == "proof":
            gathered.proofs.setdefault(record["id"], proof_from(record["proof"]))
        elif kind == "training" and not any(_same(record, one) for one in gathered.trainings):
            gathered.trainings.append(
                replace(
                    training_from(record),
                    compiles=compiles,
                    output=_tail(outcome.stdout),
                    program=job.label,
                )
            )
        elif kind == "environment":
            gathered.environment = Environment(
                **{key: value for key, value in record.items() if key != "kind"}
            )
        elif kind == "broken":
            place = (
                Place(record["path"], record["line"], record["column"])
                if "path" in record
                else None
            )
            gathered.broken.append(Broken(record["what"], record["message"], place))
        elif kind == "meter" and not gathered.recompiles:
            gathered.recompiles.append(_recompiles(record, attempt.log))
        elif kind == "note" and record["text"] not in gathered.notes:
            gathered.notes.append(record["text"])
    gathered.interrupted |= outcome.status == "interrupted"
    if attempt.killer is not None:
        if not attempt.deadly:
            gathered.targets.append(_killed(attempt, outcome, job))
    elif outcome.status != "ok":
        _keep_early_end(gathered, outcome, job)


def _recompiles(record: dict[str, Any], log: compilelog.CompileLog) -> Recompiles:
    functions = [metered_from(one) for one in record["functions"]]
    batches = [batch_shapes_from(one) for one in record["batches"]]
    return meter(functions, batches, log.compilations("run"))


def _same(record: dict[str, Any], training: TrainingReport) -> bool:
    return (record["strategy"], record["replicas"]) == (training.strategy, training.replicas)


def _in_order(known: list[Stage]) -> tuple[Stage, ...]:
    """The stages of a target whose child died, those included that did not come to run."""
    names = [stage.name for stage in known]
    missing = [name for name in STAGES if name not in names]
    known += [Stage(name, SKIPPED, 0.0, "the process had died") for name in missing]
    return tuple(sorted(known, key=lambda stage: (*STAGES, stage.name).index(stage.name)))


def _killed(attempt: _Attempt, outcome: sandbox.Outcome, job: Job) -> TargetReport:
    """The report on a target whose child died: at which stage, and where it stood."""
    assert attempt.killer is not None
    killer = attempt.killer
    stage = attempt.stage or EAGER  # called to find its sizes
    what = outcome.abort_message or f"the process {outcome.describes}"
    if attempt.stage == jobs.INPUTS:
        return TargetReport(
            killer["target"],
            killer["function"],
            killer["path"],
            killer["line"],
            killer["origin"],
            SKIPPED,
            notes=(f"{what} while inputs were looked for",),
        )
    place = _innermost(outcome, job) or Place(killer["path"], killer["line"], 0, killer["function"])
    message = f"{what} in stage {stage}"
    before = target_from(attempt.so_far) if attempt.so_far is not None else None
    if before is not None and stage.startswith(TPU):
        return _unasked(before, what)
    base = before or TargetReport(
        killer["target"],
        killer["function"],
        killer["path"],
        killer["line"],
        killer["origin"],
        FAILED,
    )
    return replace(
        base,
        status=FAILED,
        stages=_in_order([*base.stages, Stage(stage, FAILED, 0.0, message)]),
        failures=(*base.failures, Failure(stage, "crash", message, place=place)),
    )


def _unasked(report: TargetReport, what: str) -> TargetReport:
    """A child that died while it lowered for a TPU, or waited for the compiler: no fault of the program's is known."""
    stages = [*report.stages, Stage(TPU, SKIPPED, 0.0, f"not verified: {what}")]
    return replace(report, stages=_in_order(stages))


def _keep_early_end(gathered: Gathered, outcome: sandbox.Outcome, job: Job) -> None:
    """A child that ended before its targets began: the user's own program crashed, hung or left."""
    if outcome.status == "interrupted":
        return
    what = outcome.abort_message or f"the process {outcome.describes}"
    place = _innermost(outcome, job)
    if outcome.status in ("exit", "not-started", "no-result") and outcome.last_words:
        what = f"{what}; its last words: {outcome.last_words[:300]}"
    has_trained = any(record["kind"] == "training" for record in outcome.records)
    if job.kind == jobs.SCRIPT and not has_trained:
        steps = [record for record in outcome.records if record["kind"] == "step"]
        gathered.trainings.append(
            TrainingReport(
                strategy=job.strategy,
                replicas=job.replicas,
                status=FAILED,
                steps=len(steps),
                losses=tuple(record["loss"] for record in steps),
                seconds=outcome.seconds,
                detail=what,
                failure=Failure("script", "crash", what, place=place),
                output=_tail(outcome.stdout),
                program=job.label,
            )
        )
    else:
        gathered.broken.append(Broken(job.label, what, place))


def _innermost(outcome: sandbox.Outcome, job: Job) -> Place | None:
    code = UserCode(job.roots)
    for frame in outcome.stack:
        if code.is_user(frame.path):
            return Place(frame.path, frame.line, 0, frame.function)
    return None


def _tail(text: str, lines: int = 20) -> str:
    return "\n".join(text.rstrip().split("\n")[-lines:])
