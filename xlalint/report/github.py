"""`github`: workflow commands, shown on the lines of a pull request."""

from __future__ import annotations

from xlalint.finding import CheckResult, FileError, Finding, Severity
from xlalint.project.settings import Settings
from xlalint.report import Style
from xlalint.report.file_lines import FileLines

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(result: CheckResult, settings: Settings, style: Style) -> str:
    """One `::error`, `::warning` or `::notice` per finding, one `::error` per file that could not be checked."""
    places = FileLines(settings)
    commands = [_command(f, places) for f in result.findings] + [*map(_error, result.errors)]
    return "".join(f"{command}\n" for command in commands)


def _command(finding: Finding, places: FileLines) -> str:
    span = finding.span
    fields = {
        "title": f"xlalint ({finding.code})",
        "file": finding.path,
        "line": str(span.line),
        "col": str(span.column),
        "endLine": str(span.end_line),
        "endColumn": str(span.end_column),
    }
    if finding.cell is not None:
        # GitHub shows a notebook's JSON: a line within a cell means nothing there.
        fields = {"title": fields["title"], "file": finding.path}
        lines = places.of(finding)
        if lines is not None:
            fields |= {"line": str(lines[0]), "endLine": str(lines[1])}
    if span.end_line != span.line:
        # Columns of a range over several lines are refused.
        fields.pop("col", None)
        fields.pop("endColumn", None)
    where = f"cell {finding.cell}, line {span.line}: " if finding.cell is not None else ""
    message = f"{where}{finding.message}\n{finding.help}".strip()
    return f"::{_LEVELS[finding.severity]} {_fields(fields)}::{_data(message)}"


def _error(error: FileError) -> str:
    fields = {"title": "xlalint (not checked)", "file": error.path}
    if error.line:
        fields |= {"line": str(error.line), "col": str(error.column)}
    return f"::error {_fields(fields)}::{_data(error.message)}"


def _fields(fields: dict[str, str]) -> str:
    return ",".join(f"{name}={_property(value)}" for name, value in fields.items())


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
