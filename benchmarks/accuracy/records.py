"""Recorded findings: one tab-separated line per finding, and what changed between two records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One finding, without its words: those may be bettered without a change of what is found.

    `path` is relative to the folder that the package was unpacked into; `line` and `column` are 1-based. A file that could
    not be checked has the code `unread`, and `-` as severity and confidence.
    """

    path: str
    line: int
    column: int
    code: str
    severity: str
    confidence: str

    def __str__(self) -> str:
        return "\t".join(map(str, astuple(self)))


_HEADER = "\t".join(field.name for field in fields(Row))


def read(path: Path) -> list[Row]:
    """The rows of a record; none where nothing was recorded yet.

    Raises:
        ValueError: a line that is not six tab-separated fields.
    """
    if not path.is_file():
        return []
    return [_row(line, path) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def _row(text: str, path: Path) -> Row:
    parts = text.split("\t")
    if len(parts) != len(fields(Row)):
        raise ValueError(f"{path}: not a record of findings: {text!r}")
    file, line, column, *words = parts
    return Row(file, int(line), int(column), *words)


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write `rows`, sorted, replacing what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in (_HEADER, *sorted(rows))), encoding="utf-8")


def difference(first: Sequence[Row], second: Sequence[Row]) -> list[Row]:
    """The rows of `second` that `first` lacks, sorted; a row that comes twice must be there twice."""
    return sorted((Counter(second) - Counter(first)).elements())


def counts(rows: Sequence[Row]) -> str:
    """Findings per code and severity: `XLA101 3 errors 2 warnings, XLA203 1 error`."""
    per_code: dict[str, Counter[str]] = {}
    for row in sorted(rows):
        per_code.setdefault(row.code, Counter())[row.severity] += 1
    return ", ".join(
        f"{code} "
        + " ".join(counted(number, severity) for severity, number in sorted(seen.items()))
        for code, seen in sorted(per_code.items())
    )


def counted(number: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
