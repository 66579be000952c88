"""`xlalint check`: read code and report what XLA or a TPU cannot run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlalint import report
from xlalint.cli.options import settings_from, shared_options
from xlalint.cli.progress import progress
from xlalint.cli.terminal import wants_color
from xlalint.finding import CheckResult, Finding, Severity
from xlalint.project.settings import Settings, SettingsError

if TYPE_CHECKING:
    from xlalint.project.baseline import Applied

CLEAN, FINDINGS, FAILED = 0, 1, 2


@click.command("check")
@click.argument("paths", nargs=-1)
@shared_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(report.FORMATS),
    default="full",
    show_default=True,
    help="How to write the report.",
)
@click.option(
    "--output-file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the report there instead of to standard output.",
)
@click.option("--fix", is_flag=True, help="Rewrite the files where that keeps what the code means.")
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix or --diff: make the rewrites that a person should look at, too.",
)
@click.option("--diff", is_flag=True, help="Show what --fix would write, and write nothing.")
@click.option(
    "--prove",
    is_flag=True,
    help="With --fix or --diff: run each rewritten function and the original on many inputs, eagerly and under XLA, and "
    "apply only the rewrites that are proven to do the same. Runs your code, in child processes.",
)
@click.option(
    "--show-fixes", is_flag=True, help="Show with each finding the rewrite that is on offer."
)
@click.option("--statistics", is_flag=True, help="Count findings per rule instead of listing them.")
@click.option("--stdin-filename", metavar="FILE", help="The name of what `-` reads.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Leave out the findings that this file holds [default: the settings' `baseline`].",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write all findings there, for --baseline to leave out, instead of reporting them.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colours; auto means on a terminal, unless NO_COLOR is set.",
)
@click.pass_obj
def command(remains: list[object] | None, /, paths: tuple[str, ...], **options: Any) -> int:
    """Read code and report what XLA or a TPU cannot run.

    PATHS are files, folders, or - for standard input; the current folder when there are none. Nothing is imported or
    run, unless --prove asks for it.
    """
    paths = paths or (".",)
    settings = _with_stdin(settings_from(paths, options), paths)
    if options["fix"] or options["diff"]:
        return _fix(paths, settings, options)
    if options["unsafe_fixes"]:
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
    if options["prove"]:
        raise click.UsageError("--prove goes with --fix or --diff")
    with progress("checking"):
        result = _check(paths, settings, remains, options)
    if options["write_baseline"]:
        return _write_baseline(result, settings, Path(options["write_baseline"]))
    result, told = _without_baseline(result, settings, options["baseline"])
    _write(_render(result, settings, options), options)
    _tell(result, options["format_"])
    for line in told:
        click.echo(f"xlalint: {line}", err=True)
    return _status(result, settings, options["exit_zero"])


def _with_stdin(settings: Settings, paths: tuple[str, ...]) -> Settings:
    """Read standard input once: the analysis and the report's code frames both need it."""
    return replace(settings, stdin=sys.stdin.buffer.read()) if "-" in paths else settings


def _fix(paths: tuple[str, ...], settings: Settings, options: dict[str, Any]) -> int:
    """`check --fix` and `check --diff`: rewrite, then report what remains."""
    from xlalint.cli.fixing import fix
    from xlalint.cli.proving import proving
    from xlalint.semantics.catalog.shipped import CatalogError

    _refuse_contradictions(options)

    def wanted(result: CheckResult) -> frozenset[Finding]:
        return frozenset(_without_baseline(result, settings, options["baseline"])[0].findings)

    unsafe, dry = options["unsafe_fixes"], options["diff"]
    try:
        if options["prove"]:
            with proving(paths, settings) as prover:
                done = fix(paths, settings, wanted, unsafe=unsafe, dry=dry, prover=prover)
        else:
            with progress("rewriting"):
                done = fix(paths, settings, wanted, unsafe=unsafe, dry=dry)
    except CatalogError as error:
        raise click.ClickException(str(error)) from error
    result, told = _without_baseline(done.result, done.settings, options["baseline"])
    if options["diff"]:
        sys.stdout.write(done.diff)
    elif done.program is not None:
        # Standard output is for the program then, which an editor puts in the place of its text.
        sys.stdout.write(done.program)
        click.echo(_render(result, done.settings, options, done.data()), nl=False, err=True)
    else:
        _write(_render(result, done.settings, options, done.data()), options)
    _tell(result, options["format_"])
    for line in (*done.told(), *told):
        click.echo(f"xlalint: {line}", err=True)
    status = _status(result, settings, options["exit_zero"])
    return FINDINGS if status == CLEAN and done.diff and not options["exit_zero"] else status


def _refuse_contradictions(options: dict[str, Any]) -> None:
    if options["write_baseline"]:
        raise click.UsageError("--write-baseline goes neither with --fix nor with --diff")
    if options["diff"] and (options["format_"] not in ("full", "concise") or options["statistics"]):
        raise click.UsageError("--diff is a report of its own: it has no --format or --statistics")


def _check(
    paths: tuple[str, ...],
    settings: Settings,
    remains: list[object] | None,
    options: dict[str, Any],
) -> CheckResult:
    # Programs read fixes; people ask for them, as finding them takes half as long again.
    with_fixes = options["show_fixes"] or options["format_"] in ("json", "sarif")
    # The analysis is imported here: `xlalint check --help` does without it.
    from xlalint.semantics.catalog.shipped import CatalogError

    try:
        if not options["no_cache"] and "-" not in paths:
            from xlalint.cli import cached

            return cached.check(paths, settings, remains, with_fixes=with_fixes)
        from xlalint import engine

        return engine.check(paths, settings, remains, with_fixes=with_fixes)
    except CatalogError as error:
        raise click.ClickException(str(error)) from error


def _without_baseline(
    result: CheckResult, settings: Settings, given: str | None
) -> tuple[CheckResult, list[str]]:
    """The result without what the baseline holds, and what to tell of that."""
    if given is None and settings.baseline is None:
        return result, []
    from xlalint.project import baseline

    file = Path(given) if given is not None else Path(settings.root, str(settings.baseline))
    try:
        entries = baseline.read(file)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    applied = baseline.applied(result, entries, settings, file)
    return applied.result, list(_of_baseline(applied))


def _of_baseline(applied: Applied) -> Iterator[str]:
    if applied.hidden:
        yield f"the baseline hides {applied.hidden} finding{'s' * (applied.hidden != 1)}"
    for entry in applied.stale:
        where = f"{entry.path}, in {entry.function}: {entry.text}"
        yield f"the baseline holds {entry.code} of a line that has no such finding now ({where})"
    if applied.other_version:
        yield f"{applied.other_version} of the baseline's entries are for another TensorFlow version, and hide nothing"


def _write_baseline(result: CheckResult, settings: Settings, file: Path) -> int:
    from xlalint.project import baseline

    entries = baseline.entries_of(result.findings, settings, file)
    try:
        baseline.write(file, entries)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    count = len(result.findings)
    click.echo(f"Wrote {count} finding{'s' * (count != 1)} to {file}")
    _tell(result, "")
    return FAILED if result.errors else CLEAN


def _render(
    result: CheckResult,
    settings: Settings,
    options: dict[str, Any],
    more: dict[str, Any] | None = None,
) -> str:
    """The report; `more` is what its JSON holds besides."""
    color = wants_color(options["color"], options["output_file"])
    style = report.Style(color=color)
    if options["statistics"]:
        return report.statistics(result, options["format_"], style)
    return report.render(result, settings, options["format_"], style, more or {})


def _write(text: str, options: dict[str, Any]) -> None:
    target = options["output_file"]
    if target is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {target}: {error.strerror}") from error


def _tell(result: CheckResult, format_: str) -> None:
    """What belongs beside the report: files that could not be checked, and that there was nothing to check."""
    for error in result.errors:
        where = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
        click.echo(f"{where}: cannot be checked: {error.message}", err=True)
    if not result.files_checked and not result.errors:
        click.echo("xlalint: no Python files", err=True)


def _status(result: CheckResult, settings: Settings, exit_zero: bool) -> int:
    if result.errors:
        return FAILED
    least = Severity(settings.fail_on).rank
    if exit_zero or not any(f.severity.rank >= least for f in result.findings):
        return CLEAN
    return FINDINGS
