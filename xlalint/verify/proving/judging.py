"""Fixes that are proposed, judged by proofs: only what is proven is applied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlalint import engine
from xlalint.finding import Finding, Fix
from xlalint.fixes.applying import Change, Lines, applied, changes_of, conflict
from xlalint.fixes.fixpoint import Proposal
from xlalint.fixes.proof import NOT_RUNNABLE, REFUTED, Proof
from xlalint.fixes.site import DISPLAY
from xlalint.isolation import sandbox
from xlalint.project.files import discover
from xlalint.project.settings import Settings
from xlalint.verify import run
from xlalint.verify.alone.mentions import TestIndex
from xlalint.verify.alone.planning import Known
from xlalint.verify.proving import planning

_WORDS = {REFUTED: "refuted:", NOT_RUNNABLE: "not proven:"}


@dataclass(frozen=True, slots=True)
class Means:
    """How proofs are run: `folder` is what relative paths count from, `limits` those of each child process,
    `python` the interpreter where it is not this one. `scratch` is an empty folder, for the programs of notebooks."""

    folder: Path
    limits: sandbox.Limits
    say: run.Say
    workers: int = 1
    python: tuple[str, ...] = ()
    scratch: Path | None = None


class Judge:
    """Proves each proposal against the file as it is on disk. `proofs` holds what was found, by finding and fix."""

    def __init__(self, paths: Sequence[str], settings: Settings, means: Means) -> None:
        self._paths, self._settings, self._means = paths, settings, means
        self._known: Known | None = None
        self._originals: dict[Path, str] = {}
        self._programs: dict[Path, Path] = {}
        self.proofs: dict[tuple[Finding, Fix], Proof] = {}

    def __call__(self, proposals: Sequence[Proposal]) -> Mapping[int, str]:
        """Why proposals must not be applied, by their index: those that are not proven."""
        asks = [self._ask(proposal, proposals) for proposal in proposals]
        proofs = _prove(asks, self._what_is_known(), self._means)
        for proposal, proof in zip(proposals, proofs):
            for finding in proposal.findings:
                there = proposal.manuscript.source.relocate(finding)
                self.proofs[there, proposal.fix] = proof
        return {index: why(proof) for index, proof in enumerate(proofs) if not proof.is_proven}

    def _ask(self, proposal: Proposal, proposals: Sequence[Proposal]) -> planning.Ask:
        source = proposal.manuscript.source
        together: list[Change] = []
        for other in proposals:
            if other.file.path == proposal.file.path:
                together += other.changes
        path, finding = proposal.file.path, proposal.finding
        notebook = None
        if proposal.file.is_notebook and self._means.scratch is not None:
            notebook, path = path, self._program(proposal, self._means.scratch)
            self._know_as(finding.path, path)
            finding = replace(finding, path=str(path))
        return planning.Ask(
            finding=finding,
            path=path,
            original=self._original(proposal),
            before=source.text,
            after=applied(source.text, proposal.changes),
            together=applied(source.text, together),
            notebook=notebook,
        )

    def _program(self, proposal: Proposal, scratch: Path) -> Path:
        """A notebook's code as it was before any pass, in a file that can be loaded."""
        notebook = proposal.file.path
        if notebook not in self._programs:
            folder = scratch / str(len(self._programs))
            folder.mkdir()
            self._programs[notebook] = folder / f"{re.sub(r'[^A-Za-z0-9_]', '_', notebook.stem)}.py"
            self._programs[notebook].write_text(self._original(proposal), encoding="utf-8")
        return self._programs[notebook]

    def _know_as(self, shown: str, program: Path) -> None:
        """What check believes of a notebook's functions, it believes of its program's."""
        beliefs = self._what_is_known().beliefs
        of_parameters, of_whole = beliefs.parameters, beliefs.converted
        of_parameters |= {
            (str(program), n): v for (of, n), v in of_parameters.items() if of == shown
        }
        of_whole |= {(str(program), n): v for (of, n), v in of_whole.items() if of == shown}

    def _original(self, proposal: Proposal) -> str:
        """The file as it was before any pass."""
        path = proposal.file.path
        if path not in self._originals:
            self._originals[path] = proposal.manuscript.source.text
        return self._originals[path]

    def _what_is_known(self) -> Known:
        if self._known is None:
            self._known = known_of(self._paths, self._settings, self._means.folder)
        return self._known


def known_of(paths: Sequence[str], settings: Settings, folder: Path) -> Known:
    """What can be told of inputs before anything runs: check's beliefs, the settings' own, where tests are."""
    files, _ = discover(paths, settings)
    root = settings.source.parent if settings.source else folder
    return Known(
        beliefs=engine.believed_parameters(paths, settings),
        inputs_of=dict(settings.verify.inputs_of),
        tests=TestIndex((root,)),
        files=[file.path for file in files if not file.is_notebook],
    )


def proofs_of(
    findings: Sequence[Finding], paths: Sequence[str], settings: Settings, means: Means
) -> dict[Finding, Proof]:
    """Proofs of the fixes that the findings bring, each against the files as they are; of what is only shown, none."""
    mended = [one for one in findings if one.fix is not None and one.fix.applicability != DISPLAY]
    if not mended:
        return {}
    changes = {one: _changes(one, means.folder) for one in mended}
    asks = [_ask(one, changes, means.folder) for one in mended]
    found = _prove(asks, known_of(paths, settings, means.folder), means)
    return dict(zip(mended, found))


def _ask(
    finding: Finding, changes: Mapping[Finding, Sequence[Change]], folder: Path
) -> planning.Ask:
    path = Path(folder, finding.path).resolve()
    text = _text(path)
    together: list[Change] = []
    for other, made in changes.items():
        if other.path == finding.path and not conflict(made, together):
            together += made
    after = applied(text, changes[finding])
    return planning.Ask(finding, path, text, text, after, applied(text, together))


def _changes(finding: Finding, folder: Path) -> tuple[Change, ...]:
    assert finding.fix is not None
    if finding.cell is not None:
        return ()  # planning says that there is no file to load
    text = _text(Path(folder, finding.path).resolve())
    try:
        return changes_of(Lines.of(text), finding.fix.edits)
    except ValueError:  # the file has changed meanwhile
        return ()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def _prove(asks: Sequence[planning.Ask], known: Known, means: Means) -> list[Proof]:
    return planning.prove(
        asks, means.folder, known, means.limits, means.say, means.workers, means.python
    )


def why(proof: Proof) -> str:
    """Why a fix with this proof is not applied."""
    first, *rest = proof.lines
    return "\n    ".join((f"{_WORDS[proof.status]} {first}", *rest))
