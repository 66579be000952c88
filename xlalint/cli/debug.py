"""`xlalint debug facts`: what the analysis believes of a file, beside its source."""

from __future__ import annotations

import re
from typing import Any

import click

from xlalint.cli.options import settings_from, shared_options

_PLACE = re.compile(r"^(?P<path>.+?)(?::(?P<line>\d+))?$")


@click.group("debug", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Look inside the analysis."""


@command.command("facts")
@click.argument("place", metavar="FILE[:LINE]")
@click.argument("paths", nargs=-1)
@shared_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How to write the facts.",
)
def facts(place: str, paths: tuple[str, ...], format_: str, **options: Any) -> int:
    """Show, for FILE or one LINE of it, each function's region and why it is compiled, and for every expression its
    kind, dtype, static shape, dependence and size; with --pedantic, findings that were only possible, too.

    PATHS are more files and folders to read with it: who calls a function decides what its arguments are.
    """
    # The analysis is imported here: `xlalint debug --help` does without it.
    from xlalint import engine, report
    from xlalint.finding import FileError
    from xlalint.report import beliefs
    from xlalint.semantics.catalog.shipped import CatalogError

    found = _PLACE.match(place)
    assert found is not None  # the pattern takes any text
    path, line = found["path"], int(found["line"]) if found["line"] else None
    settings = settings_from((path, *paths), options)
    try:
        inspection = engine.inspect(path, paths, settings)
    except CatalogError as error:
        raise click.ClickException(str(error)) from error
    if isinstance(inspection, FileError):
        raise click.ClickException(f"{inspection.path}: {inspection.message}")
    write = beliefs.json_text if format_ == "json" else beliefs.text
    click.echo(write(path, inspection, report.frames.Sources(settings), line), nl=False)
    return 0
