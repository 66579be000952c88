"""`xlalint verify` from end to end: check, plan, run, judge."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlalint import engine
from xlalint.finding import CheckResult, FileError, Finding, Severity
from xlalint.fixes.proof import Proof
from xlalint.isolation import memory
from xlalint.isolation.sandbox import Limits
from xlalint.project.files import discover
from xlalint.project.settings import Settings
from xlalint.tpu.installed import Installed, why_not
from xlalint.verify import footprint, installed, plan, reconciling, run, verdicts
from xlalint.verify.alone import planning
from xlalint.verify.alone.mentions import TestIndex
from xlalint.verify.command import Command, PlanError, parse_command
from xlalint.verify.jobs import Job, TpuJob
from xlalint.verify.notebook import SUFFIX, Notebooks
from xlalint.verify.proving import judging
from xlalint.verify.recompiles import Recompiles
from xlalint.verify.records import (
    EAGER,
    FAILED,
    IMPOSSIBLE,
    Environment,
    Failure,
    TargetReport,
    TrainingReport,
)
from xlalint.verify.verdicts import CONFIRMED, Verdict

_NAMED = 6  # files that a note names
_SECONDS = 900.0  # for a child
_LEAVE_MB = 300  # MiB, for everything else on the machine


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for. `command` is what stands after `--`; `folder` what relative paths count from.

    `is_alone`: does nothing else change the folder meanwhile, so that changed files are the program's doing?
    """

    paths: tuple[str, ...]
    command: tuple[str, ...]
    folder: Path
    options: plan.Options
    limits: Limits
    workers: int = 1
    is_alone: bool = True
    tpu: TpuJob = field(default_factory=TpuJob)
    compile_only: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it. `unclaimed` are failures that no finding of check foretold, `proofs` those of fixes, by finding."""

    folder: Path
    environment: Environment
    targets: tuple[TargetReport, ...]
    verdicts: tuple[Verdict, ...]
    unclaimed: tuple[tuple[TargetReport, Failure], ...]
    trainings: tuple[TrainingReport, ...]
    broken: tuple[run.Broken, ...]
    errors: tuple[FileError, ...]
    notes: tuple[str, ...]
    recompiles: tuple[Recompiles, ...] = ()
    interrupted: bool = False
    books: Notebooks | None = None
    proofs: Mapping[Finding, Proof] = field(default_factory=dict)

    @property
    def has_failures(self) -> bool:
        """Did a target or the training fail, or was a finding confirmed at error?"""
        return (
            any(target.status == FAILED for target in self.targets)
            or any(training.status == FAILED for training in self.trainings)
            or any(
                one.verdict == CONFIRMED and one.finding.severity is Severity.ERROR
                for one in self.verdicts
            )
        )

    @property
    def could_not_run(self) -> bool:
        """Is something left undone that was asked for: broken code, or a strategy that TensorFlow cannot train under?"""
        impossible = any(one.status == IMPOSSIBLE and one.is_asked for one in self.trainings)
        return bool(self.broken or self.errors or impossible)


def verify(
    request: Request,
    settings: Settings,
    check: Callable[[Sequence[str], Settings], CheckResult],
    say: run.Say,
) -> Verification:
    """Check what the request is about, run it, and judge the findings.

    Raises `PlanError`: there is nothing to run, TensorFlow is missing, or the command is no Python program.
    """
    with Notebooks() as books:
        say("checking")
        prepared = prepare(request, settings, check, books)
        result = carry_out(prepared, prepared.jobs, say, books)
        if request.compile_only or result.interrupted:
            return result
        return replace(result, proofs=_proofs(prepared, settings, say))


def _proofs(prepared: Prepared, settings: Settings, say: run.Say) -> dict[Finding, Proof]:
    """Whether the fixes that findings bring are the same program."""
    request = prepared.request
    python = prepared.commands[0].python if request.command else ()
    means = judging.Means(request.folder, request.limits, say, request.workers, python)
    paths = request.paths or tuple(dict.fromkeys(one.path for one in prepared.findings))
    return judging.proofs_of(prepared.findings, paths or (".",), settings, means)


def limits(seconds: float | None = None, memory_mb: int | None = None) -> Limits:
    """What a child may use, as asked; else 15 minutes, and the memory that leaves room for everything else."""
    if memory_mb is not None:
        return Limits(wall=seconds or _SECONDS, memory_mb=memory_mb)
    most = (memory.available_mb() or 0) * 9 // 10
    return Limits(wall=seconds or _SECONDS, memory_mb=most, leave_mb=_LEAVE_MB)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be run, before anything runs. `claims` are the `findings` of check, with notebooks as programs."""

    request: Request
    commands: tuple[Command, ...]
    jobs: tuple[Job, ...]
    claims: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    errors: tuple[FileError, ...]
    notes: tuple[str, ...]


def prepare(
    request: Request,
    settings: Settings,
    check: Callable[[Sequence[str], Settings], CheckResult],
    books: Notebooks,
) -> Prepared:
    """Check what the request is about and plan the children. Raises `PlanError` as `verify` does."""
    commands = _commands(request, settings, books)
    paths = _paths(request, commands, books)
    python = commands[0].python[0] if request.command else sys.executable
    settings, notes = installed.settings_for(
        settings, python, plan.environment_of(commands[0] if commands else None, request.folder)
    )
    checked = check(paths, settings)
    claims = [books.in_program(finding) for finding in checked.findings]
    planned = _planned(request, commands, settings, claims)
    if request.compile_only:  # a run under several devices compiles nothing
        planned = [replace(job, compile_only=True) for job in planned if job.takes_targets]
    planned = [replace(job, tpu=request.tpu) if job.takes_targets else job for job in planned]
    if not planned:
        raise PlanError(_nothing_to_run(claims, notes))
    _require_tensorflow(planned)
    _require_a_pair(planned)
    return Prepared(
        request=request,
        commands=tuple(commands),
        jobs=tuple(planned),
        claims=tuple(claims),
        findings=tuple(checked.findings),
        errors=tuple(checked.errors),
        notes=(*notes, *(one.note for one in books.made if one.note)),
    )


def carry_out(
    prepared: Prepared, jobs: Sequence[Job], say: run.Say, books: Notebooks
) -> Verification:
    """Run some of the prepared jobs and judge the findings by what they report."""
    request, claims = prepared.request, prepared.claims
    before = footprint.take([request.folder] if request.is_alone else [])
    gathered = run.run(jobs, request.limits, say, request.workers)
    changed = _changed(before, request.folder)
    targets = reconciling.reconciled(gathered.targets)
    judged = verdicts.judge(
        claims,
        targets,
        gathered.trainings,
        request.folder,
        gathered.recompiles,
        broken={one.what: f"its module could not be run: {one.message}" for one in gathered.broken},
    )
    unclaimed = verdicts.unclaimed(judged, targets, request.folder)
    as_found = {id(claim): finding for claim, finding in zip(claims, prepared.findings)}
    return Verification(
        folder=request.folder,
        environment=gathered.environment,
        targets=tuple(targets),
        verdicts=tuple(
            replace(
                one,
                finding=as_found[id(one.finding)],
                evidence=books.words(one.finding.path, one.evidence),
            )
            for one in judged
        ),
        unclaimed=tuple(unclaimed),
        trainings=tuple(gathered.trainings),
        broken=tuple(gathered.broken),
        errors=prepared.errors,
        notes=(*prepared.notes, *gathered.notes, *changed),
        recompiles=tuple(gathered.recompiles),
        interrupted=gathered.interrupted,
        books=books,
    )


def _commands(request: Request, settings: Settings, books: Notebooks) -> list[Command]:
    """The user's own command, or one for each program among the paths, or without paths those of the settings.

    Notebooks are made programs.
    """
    if request.command:
        commands = [parse_command(request.command, request.folder)]
    elif not request.paths:
        commands = [
            parse_command(shlex.split(script), request.folder) for script in settings.verify.scripts
        ]
    else:
        commands = [
            plan.program_at(path, request.folder)
            for path in request.paths
            if Path(path).is_file() and (path.endswith(SUFFIX) or plan.is_script(Path(path)))
        ]
    return [
        books.program(command, request.folder) if command.run.endswith(SUFFIX) else command
        for command in commands
    ]


def _changed(before: footprint.Footprint, folder: Path) -> list[str]:
    """What to tell of files that were written in spite of the redirection."""
    paths = [_display(Path(path), folder) for path in before.changed()]
    if not paths:
        return []
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return [
        f"the run changed files of yours, by a way that is not redirected: {', '.join(paths[:_NAMED])}{more}"
    ]


def _paths(request: Request, commands: Sequence[Command], books: Notebooks) -> tuple[str, ...]:
    """What check reads: what the user named, with what the programs among it import of the project, or the sources of the
    user's own command; else the folder.
    """
    programs = commands if request.paths or request.command else ()
    found = [books.shown(file) for one in programs for file in plan.sources_of(one, request.folder)]
    sources = [_display(file, request.folder) for file in found]
    return tuple(dict.fromkeys((*request.paths, *sources))) or (".",)


def _display(path: Path, folder: Path) -> str:
    try:
        return str(path.relative_to(folder.resolve()))
    except ValueError:
        return str(path)


def _planned(
    request: Request, commands: Sequence[Command], settings: Settings, findings: Sequence[Finding]
) -> list[Job]:
    options, folder = request.options, request.folder
    made = [
        job
        for command in commands
        for job in plan.training_jobs(command, options, findings, folder)
    ]
    if request.command:
        return made
    if settings.verify.entry and not (request.paths and commands):
        root = settings.source.parent if settings.source else settings.root
        named = dict(settings.verify.inputs_of)
        made += [
            plan.entry_job(
                entry, settings.verify.inputs or named.get(entry, ()), options, findings, root
            )
            for entry in settings.verify.entry
        ]
    programs = {command.run for command in commands}
    files, _ = discover(request.paths or (".",), settings)
    others = [file.path for file in files if not file.is_notebook and file.display not in programs]
    alone = _alone(request, settings, findings, others)
    # A child that looks for inputs also takes its module's functions with an input_signature.
    taken = {module.path for job in alone for module in job.modules}
    rest = [file for file in others if str(file.resolve()) not in taken]
    return [*made, *plan.module_jobs(rest, findings, folder), *alone]


def _alone(
    request: Request, settings: Settings, findings: Sequence[Finding], files: Sequence[Path]
) -> list[Job]:
    """A child for each module whose functions with findings nothing here calls."""
    wanted = {file.resolve() for file in files}
    there = [one for one in findings if Path(request.folder, one.path).resolve() in wanted]
    if not there:
        return []
    root = settings.source.parent if settings.source else request.folder
    known = planning.Known(
        beliefs=engine.believed_parameters(request.paths or (".",), settings),
        inputs_of=dict(settings.verify.inputs_of),
        tests=TestIndex((root,)),
        files=files,
    )
    return planning.jobs_for(there, request.folder, known)


def _nothing_to_run(findings: Sequence[Finding], notes: Sequence[str]) -> str:
    """`notes` say for which TensorFlow check spoke, where that is another than it takes by itself."""
    of = "".join(f" ({note})" for note in notes)
    found = (
        f"check has {len(findings)} finding{'s' * (len(findings) != 1)} here{of}, but "
        if findings
        else ""
    )
    return (
        f"{found}nothing to run was found: no function with an input_signature, no program and no entry in the settings.\n"
        "Run your own training:   xlalint verify -- python train.py\n"
        'or name a function:      [tool.xlalint.verify] entry = "package.module:function", inputs = ["float32[8,16]"]'
    )


def _require_tensorflow(planned: Sequence[Job]) -> None:
    for job in planned:
        if job.python[0] == sys.executable and importlib.util.find_spec("tensorflow") is None:
            raise PlanError(
                f"verify compiles with TensorFlow, and {sys.executable} has none: pip install 'xlalint[verify]'"
            )


def _require_a_pair(planned: Sequence[Job]) -> None:
    """A TensorFlow and a TPU compiler that do not work together are told before anything runs."""
    for job in planned:
        tensorflow = installed.tensorflow_of(job.python[0]) if job.tpu.targets else None
        why = tensorflow and why_not(Installed(Path(job.tpu.library), job.tpu.version), tensorflow)
        if why:
            raise PlanError(why)


def failed_stages(target: TargetReport) -> list[Failure]:
    """The failures of a target for the reader: those of eager code only where nothing else failed."""
    beyond = [failure for failure in target.failures if failure.stage != EAGER]
    return beyond or list(target.failures)
