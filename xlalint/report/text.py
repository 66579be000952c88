"""Reports for people: `full` with code frames, `concise` with a line per finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from xlalint.finding import CheckResult, Finding, Fix, Severity
from xlalint.project.settings import Settings
from xlalint.report import Style, totals
from xlalint.report.frames import FrameLine, Sources, frame

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_BOLD, _DIM, _BLUE, _GREEN, _RED = "1", "2", "34", "32", "31"
# What to call the chain of calls, by the kind of region.
_BECAUSE = {
    "compiled": "compiled by",
    "assumed": "taken as compiled (its callers are not seen)",
    "host": "runs on the host",
    "eager": "runs eagerly",
}


def full(result: CheckResult, settings: Settings, style: Style) -> str:
    """Every finding with its code frame, why that code is compiled, and how to rewrite it."""
    sources = Sources(settings)
    blocks = ["\n".join(_block(f, sources, style)) + "\n" for f in result.findings]
    return "\n".join([*blocks, _closing(result, settings, style)])


def concise(result: CheckResult, settings: Settings, style: Style) -> str:
    """One line per finding: `path:line:column: severity CODE message`."""
    lines = [f"{_heading(f, style)} {f.message}\n" for f in result.findings]
    return "".join([*lines, _closing(result, settings, style)])


def place(finding: Finding) -> str:
    """`path:line:column`, with the cell for a notebook: `path:cell 3:line:column`."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{finding.path}:{cell}{finding.span.line}:{finding.span.column}"


def _heading(finding: Finding, style: Style) -> str:
    where = _paint(place(finding), _BOLD, style)
    what = _paint(finding.severity.value, f"{_BOLD};{_COLORS[finding.severity]}", style)
    return f"{where}: {what} {_paint(finding.code, _BOLD, style)}"


def _closing(result: CheckResult, settings: Settings, style: Style) -> str:
    if not result.files_checked and not result.findings:
        return ""
    line = f"{totals(result)} (target {settings.target}, TensorFlow {settings.tf_version})"
    return (line if result.findings else _paint(line, _GREEN, style)) + "\n"


def _block(finding: Finding, sources: Sources, style: Style) -> Iterator[str]:
    yield f"{_heading(finding, style)} {_paint(finding.message, _BOLD, style)}"
    lines = frame(sources.lines(finding.path, finding.cell), finding.span)
    gutter = len(str(lines[-1].number)) if lines else 1
    bar = _paint(" " * gutter + " |", _BLUE, style)
    if lines:
        yield bar
        yield from _framed(lines, gutter, finding, style)
        yield bar
    for label, text in _notes(finding):
        first, *rest = text.splitlines()
        mark = _paint(" " * gutter + " =", _BLUE, style)
        yield f"{mark} {_paint(label + ':', _BOLD, style)} {first.strip()}"
        indent = " " * (gutter + 3)
        yield from (f"{indent}{line.strip()}" for line in rest)
    if finding.fix is not None:
        lines_of = partial(sources.lines, finding.path)
        yield from _hunk(finding.fix, lines_of, gutter, style)


def _hunk(
    fix: Fix, lines_of: Callable[[int | None], Sequence[str]], gutter: int, style: Style
) -> Iterator[str]:
    from xlalint.report.hunks import hunk

    for line in hunk(lines_of, fix):
        color = {"-": _RED, "+": _GREEN}.get(line[:1], _DIM)
        yield f"{' ' * (gutter + 3)}{_paint(line, color, style)}"


def _framed(
    lines: tuple[FrameLine, ...], gutter: int, finding: Finding, style: Style
) -> Iterator[str]:
    for line in lines:
        number = _paint(f"{line.number:>{gutter}} |", _BLUE, style)
        yield f"{number} {line.text}".rstrip()
        if line.carets:
            bar = _paint(" " * gutter + " |", _BLUE, style)
            yield f"{bar} {_paint_carets(line.carets, finding, style)}"


def _paint_carets(carets: str, finding: Finding, style: Style) -> str:
    spaces = len(carets) - len(carets.lstrip())
    return carets[:spaces] + _paint(carets[spaces:], _COLORS[finding.severity], style)


def _notes(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.region.why:
        yield (
            _BECAUSE.get(finding.region.kind, finding.region.kind),
            " -> ".join(finding.region.why),
        )
    if finding.confidence != "certain":
        yield "confidence", finding.confidence
    if finding.help:
        yield "help", finding.help
    if finding.fix is not None:
        yield f"fix ({finding.fix.applicability})", finding.fix.message


def _paint(text: str, code: str, style: Style) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if style.color and text else text
