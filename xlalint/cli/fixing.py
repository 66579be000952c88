"""What `check --fix`, `--unsafe-fixes` and `--diff` do: the fixes applied, the diff made, the files written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from xlalint import engine
from xlalint.finding import CheckResult, FileError
from xlalint.fixes import fixpoint, writing
from xlalint.fixes.fixpoint import Judge, Outcome, Wanted
from xlalint.fixes.site import SAFE, UNSAFE
from xlalint.project.files import SourceFile, named
from xlalint.project.settings import Settings
from xlalint.report import fixed
from xlalint.report.fixed import Proofs


class Prover(Protocol):
    """Says why proposals must not be applied, by their index, and keeps the proofs."""

    @property
    def proofs(self) -> Proofs: ...

    def __call__(self, proposals: Sequence[fixpoint.Proposal]) -> Mapping[int, str]: ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """What came of it: what remains to be reported, with the settings under which it can be shown.

    `with_unsafe` says that unsafe fixes were asked for, too. `diff` is set when nothing was to be written, `program` is what came by standard input, rewritten or not.
    """

    result: CheckResult
    settings: Settings
    outcome: Outcome
    wanted: Wanted
    with_unsafe: bool = False
    diff: str = ""
    program: str | None = None
    wrote: bool = True
    proofs: Proofs = field(default_factory=dict)

    def told(self) -> list[str]:
        """What to say on standard error."""
        wanted = self.wanted(self.outcome.result)
        offered = [] if self.with_unsafe else [f for f in wanted if f.fix is not None]
        return fixed.summary(self.outcome, self.proofs, wrote=self.wrote, offered=offered)

    def data(self) -> dict[str, Any]:
        """What to say of it in JSON."""
        return fixed.data(self.outcome, self.proofs)


def fix(
    paths: Sequence[str],
    settings: Settings,
    wanted: Wanted,
    *,
    unsafe: bool,
    dry: bool,
    prover: Prover | None = None,
) -> Fixed:
    """Apply the fixes, and write the files unless this is `dry` or they came by standard input.

    With a `prover`, only those that it finds nothing against.

    Raises:
        CatalogError: as `engine.check`.
    """
    allowed: Collection[str] = (SAFE, UNSAFE) if unsafe else (SAFE,)
    judge = _unwritable if prover is None else _with_proofs(prover)
    outcome = fixpoint.run(paths, settings, allowed, wanted=wanted, judge=judge)
    proofs = prover.proofs if prover is not None else {}
    done = Fixed(outcome.result, settings, outcome, wanted, unsafe, proofs=proofs)
    if dry:
        return replace(done, diff=fixed.diff(outcome.files), wrote=False)
    if "-" in paths:
        program = _standard_input(outcome, settings)
        return replace(done, settings=replace(settings, stdin=program.encode()), program=program)
    problems = writing.write(outcome.files)
    return replace(done, result=_as_it_is(paths, settings, problems)) if problems else done


def _with_proofs(prover: Prover) -> Judge:
    """Proofs are asked for of what could be written."""

    def judge(proposals: Sequence[fixpoint.Proposal]) -> Mapping[int, str]:
        unwritable = _unwritable(proposals)
        left = [index for index in range(len(proposals)) if index not in unwritable]
        found = prover([proposals[index] for index in left]) if left else {}
        return {**unwritable, **{left[index]: why for index, why in found.items()}}

    return judge


def _unwritable(proposals: Sequence[fixpoint.Proposal]) -> dict[int, str]:
    found = {index: writing.refusal(proposal.file) for index, proposal in enumerate(proposals)}
    return {index: why for index, why in found.items() if why is not None}


def _as_it_is(paths: Sequence[str], settings: Settings, problems: list[FileError]) -> CheckResult:
    """What is to be said of the files where some of them could not be written."""
    result = engine.check(paths, settings)
    errors = sorted((*result.errors, *problems), key=lambda e: (e.path, e.line, e.column))
    return replace(result, errors=tuple(errors))


def _standard_input(outcome: Outcome, settings: Settings) -> str:
    """The program that came by standard input, rewritten or not; nothing where it could not be read."""
    file = named(settings.stdin_filename or "<stdin>", settings)
    if not isinstance(file, SourceFile):
        return ""
    after = {item.file.path: item.after for item in outcome.files}
    return after.get(file.path, file.raw())
