"""The plain data that passes between rules, verify and report: a finding, its fix, and what a run of check found."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Severity(str, Enum):
    """How bad a finding is on the target, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.INFO: 0}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source. Lines and columns are 1-based, columns count code points, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `span` with `text`. `cell` is the notebook cell (1-based) that `span` counts from."""

    span: Span
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding. `applicability` is `safe`, `unsafe` or `display`."""

    applicability: str
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """Where a piece of code runs (`compiled`, `host`, `eager`, `assumed`) and the chain of calls that proves it.

    `why` reads from the outside in: `("fit()", "MyModel.train_step", "masked_mean")`.
    """

    kind: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's claim about one span of source.

    `path` is as the user gave it, `function` the qualified name inside the module (`MyModel.call`, or `<module>`),
    `confidence` is `certain`, `likely` (the analysis inferred that a parameter is a tensor) or `possible`
    (shown with --pedantic only), `cell` the notebook cell (1-based) that `span` counts from, `variant` which of the rule's
    ways to speak this is (a table of its page).
    """

    code: str
    name: str
    severity: Severity
    path: str
    span: Span
    message: str
    function: str
    region: Region
    help: str
    confidence: str = "certain"
    fix: Fix | None = None
    cell: int | None = None
    variant: str = ""

    def sort_key(self) -> tuple[str, int, Span, str]:
        return (self.path, self.cell or 0, self.span, self.code)


@dataclass(frozen=True, slots=True)
class FileError:
    """Why a file could not be checked: syntax, encoding, permission. `line` and `column` are 0 where there is none."""

    path: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one run of check found: findings sorted by path, line, column and code.

    `also_read` lists the files (absolute paths) that were read for what their names mean, though nobody asked to check
    them; a cached result holds only while they stay as they are.
    """

    findings: tuple[Finding, ...] = ()
    errors: tuple[FileError, ...] = ()
    files_checked: int = 0
    summary: dict[str, int] = field(default_factory=dict)
    also_read: tuple[str, ...] = ()
