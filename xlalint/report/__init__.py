"""What a run of check found, written for people and for machines. One module per family of formats."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from xlalint.finding import CheckResult, Severity
from xlalint.project.settings import Settings

_MODULES = {
    "full": "text",
    "concise": "text",
    "json": "json",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
}
FORMATS = tuple(_MODULES)


@dataclass(frozen=True, slots=True)
class Style:
    """How text is shown."""

    color: bool = False


def render(
    result: CheckResult,
    settings: Settings,
    format_: str,
    style: Style,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """The report of `result` in one of FORMATS, ending in a line end (or empty). `more` is what `json` holds besides."""
    # Each format is in a module of its own, imported when it is asked for.
    module = importlib.import_module(f"xlalint.report.{_MODULES[format_]}")
    if format_ == "json" and more:
        text = module.document(result, settings, more)
    else:
        text = getattr(module, format_)(result, settings, style)
    assert isinstance(text, str)
    return text


def statistics(result: CheckResult, format_: str, style: Style) -> str:
    """How often each rule was found, most often first: a table, or a list of objects for `json`."""
    rows = Counter((f.code, f.name, f.severity) for f in result.findings)
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0][0], item[0][2].rank))
    if format_ == "json":
        import json

        listed = [
            {"code": code, "name": name, "severity": severity.value, "count": count}
            for (code, name, severity), count in ordered
        ]
        return json.dumps(listed, indent=2) + "\n"
    lines = [
        f"{count:>6}  {code}  {severity.value:<7}  {name}"
        for (code, name, severity), count in ordered
    ]
    return "".join(line + "\n" for line in (*lines, totals(result)))


def totals(result: CheckResult) -> str:
    """One line that sums up: `3 errors and 1 warning in 2 of 14 files`."""
    files = len({f.path for f in result.findings})
    counts = Counter(f.severity for f in result.findings)
    parts = [
        _count(counts[severity], noun)
        for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"))
        if counts[severity]
    ]
    if counts[Severity.INFO]:
        parts.append(_count(counts[Severity.INFO], "remark"))
    checked = _count(result.files_checked, "file")
    if not parts:
        return f"No problems found in {checked}"
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"Found {listed} in {files} of {checked}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
