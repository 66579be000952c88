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

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(result: CheckResult, settings: Settings, style: Style) -> str:
    """One SARIF log with one run. URIs are relative to the current folder; columns count code points."""
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
        "results": [_result(f, codes.index(f.code)) for f in result.findings],
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


def _result(finding: Finding, index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{_where(finding)}{finding.message}\n{finding.help}".strip()},
        "locations": [_location(finding)],
        "properties": {
            "function": finding.function,
            "region": finding.region.kind,
            "why": list(finding.region.why),
            "confidence": finding.confidence,
        },
    }
    if finding.cell is not None:
        result["properties"]["cell"] = finding.cell
    # The regions of a notebook count in its cells: whoever made such edits in its JSON would break it.
    is_edited = finding.fix is not None and finding.fix.applicability != "display"
    if finding.fix is not None and is_edited and finding.cell is None:
        result["fixes"] = [_fix(finding.fix, finding.path)]
    return result


def _where(finding: Finding) -> str:
    return "" if finding.cell is None else f"cell {finding.cell}, line {finding.span.line}: "


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path)},
            "region": _region(finding.span),
        }
    }
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
