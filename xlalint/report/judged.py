"""Findings with their verdicts as findings, for the formats of `check` that build servers and code hosts read."""

from __future__ import annotations

from dataclasses import replace

from xlalint import report
from xlalint.finding import CheckResult, FileError, Finding, Severity
from xlalint.project.settings import Settings
from xlalint.verify.verdicts import REFUTED, Verdict
from xlalint.verify.verification import Verification

FORMATS = ("github", "gitlab", "junit", "sarif")


def render(result: Verification, format_: str, style: report.Style) -> str:
    """The report in one of FORMATS: each finding with its verdict and evidence, a refuted one as a remark; what could not
    be run, and failures that check did not foresee, as errors."""
    findings = tuple(_finding(one) for one in result.verdicts)
    missed = [
        FileError(
            failure.place.path if failure.place else target.path,
            failure.place.line if failure.place else target.line,
            failure.place.column if failure.place else 0,
            f"check did not foresee: {failure.stage}: {failure.message}",
        )
        for target, failure in result.unclaimed
    ]
    broken = [
        FileError(
            one.place.path if one.place else one.what,
            one.place.line if one.place else 0,
            0,
            one.message,
        )
        for one in result.broken
    ]
    checked = CheckResult(findings, (*result.errors, *missed, *broken))
    return report.render(checked, Settings(root=result.folder), format_, style)


def _finding(one: Verdict) -> Finding:
    severity = Severity.INFO if one.verdict == REFUTED else one.finding.severity
    message = f"{one.verdict}: {one.finding.message} ({one.evidence})"
    return replace(one.finding, severity=severity, message=message)
