"""`xlalint ready`: the checklist before the move to a TPU."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from xlalint.cli.options import settings_from, shared_options
from xlalint.cli.progress import progress
from xlalint.cli.terminal import wants_color
from xlalint.finding import FileError, Severity
from xlalint.project.settings import Settings
from xlalint.report import Style
from xlalint.report.readiness import FORMATS, render

READY, NOT_READY, FAILED = 0, 1, 2


@click.command("ready")
@click.argument("paths", nargs=-1)
@shared_options
@click.option(
    "--verified",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="A report of `xlalint verify --format json` to judge by.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="full",
    show_default=True,
    help="How to write the checklist.",
)
@click.option(
    "--output-file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the checklist there instead of to standard output.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colours; auto means on a terminal, unless NO_COLOR is set.",
)
@click.pass_obj
def command(remains: list[object] | None, /, paths: tuple[str, ...], **options: Any) -> int:
    """Go through the checklist before the move to a TPU: what is done, what is to do, and what to run next.

    PATHS are files and folders; the current folder when there are none. Nothing is imported or run: what only a compiler can
    say is taken from a report of verify (--verified). Exit status: 0 only when everything is done.
    """
    paths = paths or (".",)
    if "-" in paths:
        raise click.UsageError("a checklist needs the files of a project, not standard input")
    settings = _for_tpu(settings_from(paths, options))
    with progress("going through the checklist"):
        checklist, errors = _checklist(paths, settings, options["verified"], remains)
    style = Style(color=wants_color(options["color"], options["output_file"]))
    _write(render(checklist, options["format_"], style), options["output_file"])
    for error in errors:
        where = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
        click.echo(f"{where}: cannot be checked: {error.message}", err=True)
    if errors or not checklist.files_checked:
        return FAILED
    return READY if checklist.is_ready else NOT_READY


def _for_tpu(settings: Settings) -> Settings:
    """Whoever asks for this checklist means a TPU, also where the program names none yet."""
    if not settings.target.startswith("tpu"):
        raise click.UsageError(
            f"this checklist is for TPUs, and the target is {settings.target}: say --target tpu-vm or --target tpu-node"
        )
    origins = {"target": "xlalint ready", **dict(settings.origins)}
    return replace(settings, origins=tuple(origins.items()))


def _checklist(
    paths: tuple[str, ...], settings: Settings, report: str | None, remains: list[object] | None
) -> tuple[Any, tuple[FileError, ...]]:
    # The analysis is imported here: `xlalint ready --help` does without it.
    from xlalint import engine
    from xlalint.readiness import declarations, verified
    from xlalint.readiness.checklist import Seen, judged
    from xlalint.readiness.items import Checklist
    from xlalint.readiness.sights import seen_in
    from xlalint.semantics.catalog.shipped import CatalogError

    try:
        checked, result = engine.check_programs(paths, settings, remains)
        files = [item.file for item in checked]
        known = None if report is None else verified.read(report, files)
    except (CatalogError, verified.ReportError) as error:
        raise click.ClickException(str(error)) from error
    seen = Seen(
        paths=paths,
        target=settings.target,
        least=Severity(settings.fail_on),
        sights=seen_in(
            (item.file, each) for item in checked for each in (item.source, *item.written)
        ),
        findings=[item.source.relocate(f) for item in checked for f in item.findings],
        errors=result.errors,
        is_selected=settings.is_selected,
        verified=known,
        declared=declarations.declared_by(((item.file, item.source) for item in checked), settings),
        tf_version=settings.tf_version,
    )
    items = judged(seen)
    checklist = Checklist(
        items, settings.target, settings.tf_version, len(checked), paths, report or ""
    )
    return checklist, result.errors


def _write(text: str, target: str | None) -> None:
    if target is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {target}: {error.strerror}") from error
