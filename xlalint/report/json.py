"""`json`: the whole result, for programs. The keys are a contract; `schema_version` changes when one goes or moves."""

from __future__ import annotations

import json as standard_json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from xlalint.finding import CheckResult, FileError, Finding, Fix, Span
from xlalint.project.settings import Settings
from xlalint.report import Style

SCHEMA_VERSION = 1


def json(result: CheckResult, settings: Settings, style: Style) -> str:
    """One JSON object. Lines and columns are 1-based, columns count code points, ends are exclusive."""
    return document(result, settings, {})


def document(result: CheckResult, settings: Settings, more: Mapping[str, Any]) -> str:
    """As `json`, with more beside the findings."""
    data = {**as_data(result, settings), **more}
    return standard_json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def as_data(result: CheckResult, settings: Settings) -> dict[str, Any]:
    """The object that `json` writes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "findings": [finding_data(f) for f in result.findings],
        "files_checked": result.files_checked,
        "errors": [error_data(e) for e in result.errors],
        "summary": _summary(result, settings),
    }


def finding_data(finding: Finding) -> dict[str, Any]:
    """One finding. `cell` is there for a notebook only."""
    data: dict[str, Any] = {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "path": finding.path,
        **_span_data(finding.span),
        "message": finding.message,
        "function": finding.function,
        "region": {"kind": finding.region.kind, "why": list(finding.region.why)},
        "fix": None if finding.fix is None else _fix_data(finding.fix),
        "confidence": finding.confidence,
        "help": finding.help,
    }
    if finding.cell is not None:
        data["cell"] = finding.cell
    return data


def error_data(error: FileError) -> dict[str, Any]:
    """Why a file could not be checked. Line and column are 0 where there is no place in the file."""
    return {
        "path": error.path,
        "line": error.line,
        "column": error.column,
        "message": error.message,
    }


def _fix_data(fix: Fix) -> dict[str, Any]:
    edits = [
        {**_span_data(e.span), "text": e.text, **({} if e.cell is None else {"cell": e.cell})}
        for e in fix.edits
    ]
    return {"applicability": fix.applicability, "message": fix.message, "edits": edits}


def _span_data(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _summary(result: CheckResult, settings: Settings) -> dict[str, Any]:
    severities = Counter(f.severity.value for f in result.findings)
    codes = Counter(f.code for f in result.findings)
    return {
        "target": settings.target,
        "tf_version": settings.tf_version,
        "severities": {name: severities[name] for name in ("error", "warning", "info")},
        "codes": dict(sorted(codes.items())),
    }
