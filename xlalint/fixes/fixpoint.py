"""Fixes applied in passes until none is left: each pass takes those that do not overlap, and checks what came of them.

Nothing is written here. A fix stays only when the program it gives parses, keeps its comments, no longer has the finding,
and has no other finding in its place that is as bad.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlalint import engine
from xlalint.engine import Checked
from xlalint.finding import CheckResult, Finding, Fix
from xlalint.fixes.applying import Change, Lines, conflict, moved
from xlalint.fixes.fitting import fitted
from xlalint.fixes.manuscript import Manuscript, UnfitError
from xlalint.project.files import SourceFile
from xlalint.project.line_length import line_length
from xlalint.project.settings import Settings
from xlalint.project.suppressions import UNUSED

# Every pass but the last settles something; a rewrite that undoes another would go on for ever.
MOST_PASSES = 12
_DEFINED = re.compile(r"^\s*def (\w+)\(", re.MULTILINE)
_LEFT = "the finding would still be there"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fix for findings of one file that it mends alike (their places counted in the file's program)."""

    file: SourceFile
    manuscript: Manuscript
    findings: tuple[Finding, ...]
    fix: Fix
    changes: tuple[Change, ...]

    @property
    def finding(self) -> Finding:
        return self.findings[0]


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that was applied, with the finding as its file's reader saw it in that pass (1-based)."""

    finding: Finding
    fix: Fix
    number: int


@dataclass(frozen=True, slots=True)
class Withheld:
    """A fix that was asked for and not applied, and why."""

    finding: Finding
    fix: Fix
    why: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file whose text changes."""

    file: SourceFile
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What remains to be said of the files, and what was done to them. `is_cut_off`: the passes ran out."""

    result: CheckResult
    files: tuple[Rewritten, ...]
    applied: tuple[Applied, ...]
    withheld: tuple[Withheld, ...]
    is_cut_off: bool = False


# Which findings are to be mended: those that a baseline does not hide.
Wanted = Callable[[CheckResult], Collection[Finding]]
# Why a proposal must not be applied, for those of which somebody knows a reason.
Judge = Callable[[Sequence[Proposal]], Mapping[int, str]]


@dataclass(eq=False, slots=True)
class _Run:
    """What stays the same through the passes, and what they have settled."""

    paths: Sequence[str]
    settings: Settings
    applicabilities: Collection[str]
    wanted: Wanted
    judge: Judge
    texts: dict[Path, str] = field(default_factory=dict)
    programs: dict[Path, str] = field(default_factory=dict)
    applied: list[Applied] = field(default_factory=list)
    withheld: dict[tuple[object, ...], Withheld] = field(default_factory=dict)

    def check(self, texts: Mapping[Path, str]) -> tuple[list[Checked], CheckResult]:
        unsaved = tuple(sorted((str(path), text) for path, text in texts.items()))
        settings = replace(self.settings, unsaved=unsaved)
        return engine.check_programs(self.paths, settings, with_fixes=True)


def run(
    paths: Sequence[str],
    settings: Settings,
    applicabilities: Collection[str],
    *,
    wanted: Wanted = lambda result: result.findings,
    judge: Judge = lambda proposals: {},
    most_passes: int = MOST_PASSES,
) -> Outcome:
    """Apply the fixes of these applicabilities to the files, in memory.

    Args:
        wanted: the findings of a result that are to be mended.
        judge: asked of the proposals of each pass before they are applied; says by their index which must not be, and why.

    Raises:
        CatalogError: as `engine.check`.
    """
    state = _Run(paths, settings, applicabilities, wanted, judge)
    checked, result = state.check({})
    before = {item.file.path: item.file for item in checked}
    for number in range(1, most_passes + 1):
        step = _pass(state, checked, result)
        if step is None:
            return _outcome(state, before, *_fitted(state, before, checked, result))
        proposals, texts, checked, result = step
        state.texts = texts
        state.applied += [
            Applied(p.manuscript.source.relocate(finding), p.fix, number)
            for p in proposals
            for finding in p.findings
        ]
    is_cut_off = bool(_proposals(state, checked, result))
    outcome = _outcome(state, before, *_fitted(state, before, checked, result))
    return replace(outcome, is_cut_off=is_cut_off)


def _fitted(
    state: _Run,
    before: Mapping[Path, SourceFile],
    checked: list[Checked],
    result: CheckResult,
) -> tuple[list[Checked], CheckResult]:
    """Lay out what has become too long, once all passes are done, and check what lies elsewhere then.

    The cells of notebooks stay as they are.
    """
    texts = {
        path: text
        if before[path].is_notebook
        else fitted(before[path].raw(), text, line_length(path))
        for path, text in state.texts.items()
    }
    if texts == state.texts:
        return checked, result
    state.texts = texts
    return state.check(texts)


def _pass(
    state: _Run, checked: Sequence[Checked], result: CheckResult
) -> tuple[list[Proposal], dict[Path, str], list[Checked], CheckResult] | None:
    """One pass: what was applied, the texts after it, and what check says of them; None when nothing was."""
    proposals = _proposals(state, checked, result)
    reasons = state.judge(proposals) if proposals else {}
    for index, why in reasons.items():
        _withhold(state, proposals[index], why)
    proposals = [p for index, p in enumerate(proposals) if index not in reasons]
    while proposals:
        texts, unfit = _texts(state, proposals)
        if not unfit:
            after, new_result = state.check(texts)
            unfit = _spoiled(proposals, checked, after, new_result)
            if not unfit:
                return proposals, texts, after, new_result
        for index, why in unfit.items():
            _withhold(state, proposals[index], why)
        proposals = [p for index, p in enumerate(proposals) if index not in unfit]
    return None


def _proposals(state: _Run, checked: Sequence[Checked], result: CheckResult) -> list[Proposal]:
    """The fixes to apply together, in the order of the text: for each file those that do not overlap, the first first."""
    found: list[Proposal] = []
    wanted = set(state.wanted(_relocated(checked, result)))
    for item in checked:
        raw = state.texts.get(item.file.path)
        manuscript = Manuscript(item.file.raw() if raw is None else raw, item.source)
        taken: list[Change] = []
        functions: set[tuple[str | None, str]] = set()
        for findings, fix in _distinct_fixes(item, wanted):
            if fix.applicability not in state.applicabilities:
                continue
            first = item.source.relocate(findings[0])
            if _key(item, findings[0], fix) in state.withheld:
                continue
            try:
                is_of_comments = findings[0].code == UNUSED
                changes = manuscript.changes(fix.edits, takes_comments=is_of_comments)
            except UnfitError as error:
                withheld = Withheld(first, fix, str(error))
                state.withheld[_key(item, findings[0], fix)] = withheld
                continue
            # Two of one name would hide one another: the second is made in the next pass, under another name.
            defined = {(findings[0].function, name) for name in _functions(fix)}
            if not conflict(changes, taken) and not defined & functions:
                taken += changes
                functions |= defined
                found.append(Proposal(item.file, manuscript, findings, fix, changes))
    return found


def _functions(fix: Fix) -> list[str]:
    """The names of the functions that a fix defines."""
    return [name for edit in fix.edits for name in _DEFINED.findall(edit.text)]


def _distinct_fixes(
    item: Checked, wanted: Collection[Finding]
) -> Iterator[tuple[tuple[Finding, ...], Fix]]:
    """The fixes of a file in the order of the text; findings that the same edits mend come together."""
    by_fix: dict[Fix, list[Finding]] = {}
    for finding in item.findings:
        if finding.fix is not None and item.source.relocate(finding) in wanted:
            by_fix.setdefault(finding.fix, []).append(finding)
    for fix, findings in by_fix.items():
        yield tuple(findings), fix


def _key(item: Checked | Proposal, finding: Finding, fix: Fix) -> tuple[object, ...]:
    """What tells a fix from others, whatever lines stand above it by now."""
    return (
        item.file.path,
        finding.code,
        finding.function,
        fix.message,
        tuple(e.text for e in fix.edits),
    )


def _withhold(state: _Run, proposal: Proposal, why: str) -> None:
    finding = proposal.manuscript.source.relocate(proposal.finding)
    key = _key(proposal, proposal.finding, proposal.fix)
    state.withheld[key] = Withheld(finding, proposal.fix, why)


def _texts(state: _Run, proposals: Sequence[Proposal]) -> tuple[dict[Path, str], dict[int, str]]:
    """The files after the proposals; or, where one of them does not parse then, the proposals at fault."""
    texts = dict(state.texts)
    unfit: dict[int, str] = {}
    for path, own in _by_file(proposals).items():
        changes = [change for index in own for change in proposals[index].changes]
        try:
            texts[path], _ = proposals[own[0]].manuscript.rewritten(changes)
        except UnfitError as error:
            unfit |= _culprits(own, proposals) or {own[-1]: str(error)}
    return texts, unfit


def _culprits(own: Sequence[int], proposals: Sequence[Proposal]) -> dict[int, str]:
    found = {}
    for index in own:
        try:
            proposals[index].manuscript.rewritten(proposals[index].changes)
        except UnfitError as error:
            found[index] = str(error)
    return found


def _by_file(proposals: Sequence[Proposal]) -> dict[Path, list[int]]:
    own: dict[Path, list[int]] = {}
    for index, proposal in enumerate(proposals):
        own.setdefault(proposal.file.path, []).append(index)
    return own


# --- what came of a pass --------------------------------------------------------------------------------------------


def _spoiled(
    proposals: Sequence[Proposal],
    before: Sequence[Checked],
    after: Sequence[Checked],
    result: CheckResult,
) -> dict[int, str]:
    """The proposals that leave their finding, or have brought another that is as bad, and why they must go."""
    was = {item.file.path: item for item in before}
    is_now = {item.file.path: item for item in after}
    errors = {error.path: error.message for error in result.errors}
    spoiled: dict[int, str] = {}
    for path, own in _by_file(proposals).items():
        changes = [change for index in own for change in proposals[index].changes]
        for index in own:
            proposal = proposals[index]
            if path not in is_now:
                spoiled[index] = errors.get(proposal.file.display, "the result cannot be checked")
                continue
            why = _complaint(proposal, changes, was[path], is_now[path])
            if why is not None:
                spoiled[index] = why
    return spoiled


def _complaint(
    proposal: Proposal, changes: Sequence[Change], was: Checked, now: Checked
) -> str | None:
    old, new = Lines.of(was.source.text), Lines.of(now.source.text)
    stretches = [old.range_of(f.span) for f in proposal.findings]
    stretches += [(change.start, change.end) for change in proposal.changes]
    moved_to = [moved(start, end, changes) for start, end in stretches]
    least = min(f.severity.rank for f in proposal.findings)
    had = _counted(_within(was.findings, old, stretches), least)
    has = _counted(_within(now.findings, new, moved_to), least)
    if has[proposal.finding.code] >= had[proposal.finding.code]:
        return _LEFT
    for finding in _within(now.findings, new, moved_to):
        if finding.severity.rank >= least and has[finding.code] > had[finding.code]:
            return f"it would bring another finding: {finding.code} {finding.message}"
    return None


def _counted(findings: Iterable[Finding], least: int) -> Counter[str]:
    """How many findings of each rule are as bad as this: an error that has become a warning is mended."""
    return Counter(finding.code for finding in findings if finding.severity.rank >= least)


def _within(
    findings: Iterable[Finding], lines: Lines, stretches: Sequence[tuple[int, int]]
) -> Iterator[Finding]:
    for finding in findings:
        start, end = lines.range_of(finding.span)
        if any(start < b and a < end for a, b in stretches):
            yield finding


def _relocated(checked: Sequence[Checked], result: CheckResult) -> CheckResult:
    """The result with the findings as the readers of the files see them."""
    findings = [item.source.relocate(f) for item in checked for f in item.findings]
    return engine.with_findings(result, findings)


def _outcome(
    state: _Run,
    before: Mapping[Path, SourceFile],
    checked: Sequence[Checked],
    result: CheckResult,
) -> Outcome:
    files = [
        Rewritten(before[path], before[path].raw(), text)
        for path, text in state.texts.items()
        if text != before[path].raw()
    ]
    return Outcome(
        _relocated(checked, result),
        tuple(sorted(files, key=lambda item: item.file.display)),
        tuple(state.applied),
        tuple(state.withheld.values()),
    )
