"""Which of several programs check has an error for."""

from __future__ import annotations

from pathlib import Path

from xlalint.engine import check
from xlalint.project.settings import Settings


def errors(written: list[str], target: str, path: Path, head: str) -> dict[int, list[str]]:
    """The codes of what check calls an error, by the position of the program; all are in one file at `path`, below `head`."""
    text, owners = head, [-1] * head.count("\n")
    for position, program in enumerate(written):
        text += f"\n\n{program}\n"
        owners += [position] * (text.count("\n") - len(owners))
    path.write_text(text, encoding="utf-8")
    found: dict[int, list[str]] = {}
    for finding in check([str(path)], Settings(root=path.parent, target=target)).findings:
        if finding.severity == "error":
            found.setdefault(owners[finding.span.line - 1], []).append(finding.code)
    return found
