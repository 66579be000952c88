"""`xlalint rules`: list the rules."""

from __future__ import annotations

import shutil
import sys

import click

from xlalint import pages
from xlalint.pages import Page


@click.command("rules")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("table", "json", "markdown")),
    default="table",
    show_default=True,
    help="How to write the list.",
)
def command(format_: str) -> int:
    """List the rules: code, worst severity, name and what the rule reports (cut to the width of a terminal)."""
    writers = {"table": _table, "json": _json, "markdown": _markdown}
    try:
        listed = pages.all_pages()
    except pages.PageError as error:
        raise click.ClickException(str(error)) from error
    click.echo(writers[format_](listed), nl=False)
    return 0


def _table(listed: tuple[Page, ...]) -> str:
    width = max((len(page.name) for page in listed), default=0)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = [
        f"{page.code}  {page.severity.value:<7}  {page.name:<{width}}  {_first_sentence(page)}"
        for page in listed
    ]
    return "".join(f"{_cut(line.rstrip(), columns)}\n" for line in lines)


def _cut(line: str, columns: int | None) -> str:
    return line if columns is None or len(line) <= columns else line[: max(columns - 3, 0)] + "..."


def _first_sentence(page: Page) -> str:
    return page.summary.split(". ")[0].rstrip(".")


def _json(listed: tuple[Page, ...]) -> str:
    import json

    return json.dumps([_data(page) for page in listed], indent=2) + "\n"


def _data(page: Page) -> dict[str, object]:
    return {
        "code": page.code,
        "name": page.name,
        "category": page.category,
        "targets": list(page.targets),
        "versions": page.versions,
        "fix": page.fix,
        "summary": page.summary,
        "evidence": list(page.evidence),
        "variants": [
            {
                "key": variant.key,
                "severity": variant.severity.value,
                "message": variant.message,
                "help": variant.help,
            }
            for variant in page.variants.values()
        ],
    }


def _markdown(listed: tuple[Page, ...]) -> str:
    """The table of the README."""
    head = "| Code | Name | Severity | Reports |\n|---|---|---|---|\n"
    rows = [
        f"| [{p.code}](rules/{p.code}.md) | {p.name} | {_severities(p)} | {_first_sentence(p)} |\n"
        for p in listed
    ]
    return head + "".join(rows)


def _severities(page: Page) -> str:
    found = {v.severity for v in page.variants.values()}
    return ", ".join(s.value for s in sorted(found, key=lambda s: -s.rank))
