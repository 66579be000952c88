"""`gitlab`: a Code Quality report, as merge requests show it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from xlalint.finding import CheckResult, FileError, Finding, Severity
from xlalint.project.settings import Settings
from xlalint.report import Style
from xlalint.report.file_lines import FileLines

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def gitlab(result: CheckResult, settings: Settings, style: Style) -> str:
    """A list of issues. Fingerprints hold no line numbers, so an issue stays the same when code above it moves."""
    seen: Counter[str] = Counter()
    places = FileLines(settings)
    issues = [_issue(f, _fingerprint(_identity(f), seen), places) for f in result.findings]
    issues += [_error(e, _fingerprint(f"{e.path}:{e.message}", seen)) for e in result.errors]
    return json.dumps(issues, indent=2) + "\n"


def _identity(finding: Finding) -> str:
    return f"{_path(finding.path)}:{finding.code}:{finding.function}:{finding.message}"


def _fingerprint(identity: str, seen: Counter[str]) -> str:
    """A hash of `identity`, told apart from equal ones by their order."""
    seen[identity] += 1
    return hashlib.sha256(f"{identity}:{seen[identity]}".encode()).hexdigest()


def _issue(finding: Finding, fingerprint: str, places: FileLines) -> dict[str, Any]:
    begin, end = places.of(finding) or (1, 1)
    line = finding.span.line
    where = f" (cell {finding.cell}, line {line})" if finding.cell is not None else ""
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code}{where}: {finding.message}",
        "content": {"body": finding.help},
        "categories": ["Bug Risk"],
        "severity": _LEVELS[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": _path(finding.path),
            "lines": {"begin": begin, "end": end},
        },
    }


def _error(error: FileError, fingerprint: str) -> dict[str, Any]:
    line = max(error.line, 1)
    return {
        "type": "issue",
        "check_name": "not-checked",
        "description": f"cannot be checked: {error.message}",
        "categories": ["Bug Risk"],
        "severity": "blocker",
        "fingerprint": fingerprint,
        "location": {"path": _path(error.path), "lines": {"begin": line, "end": line}},
    }


def _path(path: str) -> str:
    """Relative to the current folder, which in a pipeline is the repository's root."""
    given = Path(path)
    if given.is_absolute() and given.is_relative_to(Path.cwd()):
        given = given.relative_to(Path.cwd())
    return given.as_posix()
