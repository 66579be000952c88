"""`sarif`: SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from xlalint import __version__, pages
from xlalint.finding import CheckResult, FileError, Finding, Fix, Severity, Span
from xlalint.project.settings import Settings
from xlalint.report import Style
from xlalint.report.file_lines import FileLines

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(result: CheckResult, settings: Settings, style: Style) -> str:
    """One SARIF log with one run. URIs are relative to the current folder; columns count code points.

    Regions of a notebook are the lines of its JSON, as a viewer of SARIF opens it; message and properties name cell and line.
    """
    places = FileLines(settings)
    codes = sorted({f.code for f in result.findings})
    run = {
        "tool": {
            "driver": {
                "name": "xlalint",
                "version": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, codes.index(f.code), places) for f in result.findings],
        "invocations": [
            {
                "executionSuccessful": not result.errors,
                "toolExecutionNotifications": [_notification(e) for e in result.errors],
            }
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    page = pages.load(code)
    return {
        "id": code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.summary},
        "help": {"text": page.markdown, "markdown": page.markdown},
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
        "properties": {"category": page.category, "targets": list(page.targets)},
    }


def _result(finding: Finding, index: int, places: FileLines) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{_where(finding)}{finding.message}\n{finding.help}".strip()},
        "locations": [_location(finding, places)],
        "properties": {
            "function": finding.function,
            "region": finding.region.kind,
            "why": list(finding.region.why),
            "confidence": finding.confidence,
        },
    }
    if finding.cell is not None:
        result["properties"] |= {"cell": finding.cell, "cellLine": finding.span.line}
    # The edits of a notebook are of its cells: whoever made them in its JSON would break it.
    is_edited = finding.fix is not None and finding.fix.applicability != "display"
    if finding.fix is not None and is_edited and finding.cell is None:
        result["fixes"] = [_fix(finding.fix, finding.path)]
    return result


def _where(finding: Finding) -> str:
    return "" if finding.cell is None else f"cell {finding.cell}, line {finding.span.line}: "


def _location(finding: Finding, places: FileLines) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.path)}}
    lines = places.of(finding)
    if finding.cell is None:
        physical["region"] = _region(finding.span)
    elif lines is not None:
        physical["region"] = {"startLine": lines[0], "endLine": lines[1]}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.function != "<module>":
        location["logicalLocations"] = [
            {"fullyQualifiedName": finding.function, "kind": "function"}
        ]
    return location


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(fix: Fix, path: str) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(e.span), "insertedContent": {"text": e.text}} for e in fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(path)}, "replacements": replacements}
    return {"description": {"text": fix.message}, "artifactChanges": [change]}


def _notification(error: FileError) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(error.path)}}
    if error.line:
        physical["region"] = {"startLine": error.line, "startColumn": max(error.column, 1)}
    return {
        "level": "error",
        "message": {"text": error.message},
        "locations": [{"physicalLocation": physical}],
    }


def _uri(path: str) -> str:
    """A relative URI where the file lies below the current folder, an absolute one where it does not."""
    given = Path(path)
    if given.is_absolute():
        try:
            given = given.relative_to(Path.cwd())
        except ValueError:
            return given.as_uri()
    return quote(given.as_posix())
