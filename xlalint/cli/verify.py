"""`xlalint verify`: compile and run what check reports, and the project's own training, in child processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from xlalint import report
from xlalint.cli import tpu_targets
from xlalint.cli.check import CLEAN, FAILED, FINDINGS
from xlalint.cli.doing import Progress
from xlalint.cli.options import settings_from, shared_options
from xlalint.cli.terminal import wants_color
from xlalint.project.settings import Settings, SettingsError

INTERRUPTED = 130


class _Strategies(click.ParamType[str]):
    """Strategies by name, each with how many devices, workers or replicas it may have."""

    name = "strategies"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from xlalint.verify import choices

        try:
            choices.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class _Verify(click.Command):
    """Keeps apart what stands before `--` and the user's own command after it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["command"] = None
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = tuple(args[at + 1 :])
            args = args[:at]
        for parameter in self.params:
            if parameter.name == "target":
                parameter.type = tpu_targets.VerifyTarget()
        return super().parse_args(ctx, args)


@click.command("verify", cls=_Verify, options_metavar="[OPTIONS]")
@click.argument("paths", nargs=-1)
@shared_options
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="Training steps to run [default: 5]."
)
@click.option(
    "--strategy",
    type=_Strategies(),
    metavar="NAME[:N],...",
    help="What else to train under, besides the program as it is: none, one-device, mirrored (N virtual CPUs), "
    "multi-worker (N processes), central-storage (N virtual CPUs), parameter-server (N worker processes), tpu (a stand-in of "
    "N replicas) [default: the program's own, tpu where it asks for a TPU, and mirrored:2].",
)
@click.option(
    "--compile-only",
    is_flag=True,
    help="Compile functions and do not run, compare or differentiate them: for models that take minutes to.",
)
@click.option(
    "--batch-search/--no-batch-search",
    default=True,
    help="With a TPU as target: search the largest batch of a training step that fits [default: yes].",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="For each child [default: 900].",
)
@click.option(
    "--memory",
    type=click.IntRange(min=0),
    metavar="MIB",
    help="Most memory of a child, 0 for no limit [default: nine tenths of what is free].",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("full", "json", "github", "gitlab", "junit", "sarif")),
    default="full",
    show_default=True,
    help="How to write the report.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Add the findings that are refuted to this file, with the TensorFlow version that did, for `check --baseline`.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colours; auto means on a terminal, unless NO_COLOR is set.",
)
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Compile and run, under XLA on this machine's CPU, what check reports.

    \b
    xlalint verify -- python train.py --size 3     your own training, stopped after some steps
    xlalint verify train.py                        the same
    xlalint verify src                             functions with an input_signature, and the settings' entry

    Nothing runs in this process: a crash, a hang or an endless loop of the code is a result.
    """
    if sys.platform == "win32":
        raise click.ClickException("verify needs Linux or macOS (on Windows: WSL)")
    from xlalint.verify import verification
    from xlalint.verify.command import PlanError

    words: tuple[str, ...] | None = click.get_current_context().meta["command"]
    settings = settings_from(paths or (".",), options)
    request = _request(paths, words, settings, options)
    with Progress() as progress:
        try:
            result = verification.verify(request, settings, _check, progress.say)
        except PlanError as error:
            raise click.ClickException(str(error)) from error
    _write(result, options)
    if options["write_baseline"]:
        _write_baseline(result, settings, Path(options["write_baseline"]))
    if result.interrupted:
        return INTERRUPTED
    if result.could_not_run:
        return FAILED
    return FINDINGS if result.has_failures else CLEAN


def _request(
    paths: tuple[str, ...],
    words: tuple[str, ...] | None,
    settings: Settings,
    options: dict[str, Any],
) -> Any:
    from xlalint.verify import plan, verification

    if words == ():
        raise click.UsageError(
            "nothing after `--`; give the command that trains, such as `-- python train.py`"
        )
    timeout = options["timeout"] or settings.verify.timeout
    strategy = options["strategy"] or settings.verify.strategy
    limits = verification.limits(timeout, options["memory"])
    return verification.Request(
        paths=paths,
        command=words or (),
        folder=Path.cwd(),
        options=plan.Options(
            options["steps"] or settings.verify.steps, strategy, tpu_targets.slice_replicas()
        ),
        compile_only=options["compile_only"],
        tpu=tpu_targets.job(limits, options["batch_search"]),
        limits=limits,
        workers=settings.jobs or os.cpu_count() or 1,
    )


def _check(paths: Any, settings: Settings) -> Any:
    from xlalint import engine

    return engine.check(paths, settings, with_fixes=True)


def _write(result: Any, options: dict[str, Any]) -> None:
    from xlalint.report import verification

    style = report.Style(color=wants_color(options["color"]))
    text = verification.render(result, options["format_"], style)
    encoding = sys.stdout.encoding or "utf-8"  # what it cannot write is spelled out
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def _write_baseline(result: Any, settings: Settings, file: Path) -> None:
    """Add what was refuted to a baseline, or start one."""
    from xlalint.project import baseline
    from xlalint.verify.verdicts import REFUTED

    judged = [(one.finding, one.evidence) for one in result.verdicts if one.verdict == REFUTED]
    new = baseline.refuted(judged, result.environment.tensorflow, settings, file)
    try:
        old = baseline.read(file) if file.exists() else ()
        baseline.write(file, baseline.merged(old, new))
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"xlalint: {file} holds {len(judged)} refuted findings of this run", err=True)
