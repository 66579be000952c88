"""In the parent: which functions are to be proven, in which children, and what those said."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlalint.finding import Finding, Span
from xlalint.fixes.proof import NOT_RUNNABLE, REFUTED, Proof
from xlalint.isolation import sandbox
from xlalint.verify import jobs, plan, run
from xlalint.verify.alone import planning
from xlalint.verify.alone.planning import Known
from xlalint.verify.jobs import Job, Rewrite

_NO_FILE = "is not in a Python file that can be loaded"
_NO_FUNCTION = (
    "is outside of any function, and changes what the program does, not what one computes"
)
_NO_INPUTS = "is about how the program is run: there is no function to compare"


@dataclass(frozen=True, slots=True)
class Ask:
    """A fix to prove. `original` is the file as it is on disk, `before` its text when the fix was proposed (fixes of earlier
    passes are in it), `after` the text with the fix, `together` with all fixes of its pass. The places of `finding` count in
    `before`. `notebook` is the one that the file is the code of."""

    finding: Finding
    path: Path
    original: str
    before: str
    after: str
    together: str
    notebook: Path | None = None


def prove(
    asks: Sequence[Ask],
    folder: Path,
    known: Known,
    limits: sandbox.Limits,
    say: run.Say,
    workers: int = 1,
    python: tuple[str, ...] = (),
) -> list[Proof]:
    """A proof for each, in the same order. Runs child processes, of `python` where it is given; raises nothing for what they
    do."""
    planned = _planned(asks, folder, known)
    wanted = [job for job in planned.jobs if job.rewrites]
    wanted = [replace(job, python=python) if python else job for job in wanted]
    gathered = run.run(wanted, limits, say, workers)
    broken = {one.what: one.message for one in gathered.broken}
    died = {one.id: one for one in gathered.targets}
    found: list[Proof] = []
    for index, ask in enumerate(asks):
        identity = planned.ids.get(index)
        if identity is None:
            found.append(Proof(NOT_RUNNABLE, f"it {planned.why[index]}"))
        elif identity in gathered.proofs:
            found.append(gathered.proofs[identity])
        elif identity in died:
            message = died[identity].failures[0].message
            found.append(Proof(REFUTED, f"running both versions ends the process: {message}"))
        else:
            found.append(Proof(NOT_RUNNABLE, _why(ask, broken, gathered)))
    return found


def _why(ask: Ask, broken: dict[str, str], gathered: run.Gathered) -> str:
    path = str(ask.path)
    if path in broken:
        return f"its module cannot be imported: {broken[path]}"
    if gathered.interrupted:
        return "interrupted"
    return next(iter(broken.values()), "the process in which it was tried died")


@dataclass(frozen=True, slots=True)
class _Planned:
    """`ids` and `why` (there is nothing to run) by the index of what was asked."""

    jobs: tuple[Job, ...]
    ids: dict[int, str]
    why: dict[int, str]


def _planned(asks: Sequence[Ask], folder: Path, known: Known) -> _Planned:
    why: dict[int, str] = {}
    found: dict[Path, dict[int, Finding]] = {}
    for index, ask in enumerate(asks):
        if ask.path.suffix != ".py" or ask.finding.cell is not None or not ask.path.is_file():
            why[index] = _NO_FILE
            continue
        finding = _inside(ask.path, _on_disk(ask))
        if plan.function_around(ask.path, finding.span.line) is None:
            why[index] = _NO_FUNCTION
            continue
        found.setdefault(ask.path.resolve(), {})[index] = finding
    everything = [finding for of_file in found.values() for finding in of_file.values()]
    made: list[Job] = []
    ids: dict[int, str] = {}
    for job in planning.jobs_for(everything, folder, known, only_judged=False):
        path = Path(job.modules[0].path)
        wanted = {(one.line, one.qualname) for one in job.wanted}
        rewrites = []
        for index, finding in found[path].items():
            rewrite = _rewrite(index, asks[index], finding)
            if rewrite.function in wanted:
                rewrites.append(rewrite)
                ids[index] = rewrite.id
        job = replace(job, kind=jobs.PROOF, rewrites=tuple(rewrites))
        notebook = next(ask.notebook for ask in asks if ask.path.resolve() == path)
        made.append(job if notebook is None else _of_notebook(job, notebook))
    for index in range(len(asks)):
        if index not in ids:
            why.setdefault(index, _NO_INPUTS)
    return _Planned(tuple(made), ids, why)


def _of_notebook(job: Job, notebook: Path) -> Job:
    """A notebook's code runs whole, in the folder that it lies in, with the names that IPython gives it."""
    home = notebook.parent
    return replace(
        job,
        label=f"functions of {notebook.name}",
        first_path=str(home),
        roots=tuple(dict.fromkeys((*job.roots, str(home)))),
        cwd=str(home),
        has_ipython=True,
        does_work=True,
    )


def _rewrite(index: int, ask: Ask, finding: Finding) -> Rewrite:
    around = plan.function_around(ask.path, finding.span.line)
    assert around is not None
    own = plan.statement_around(ask.path, finding.span.line)
    return Rewrite(
        id=f"proof:{index}:{ask.path}:{finding.span.line}:{finding.code}",
        number=index,
        function=(around[0], finding.function),
        text=ask.after,
        together=ask.together,
        lines=(own,),
        new_lines=tuple(_new_lines(ask.before, ask.after)),
    )


def _on_disk(ask: Ask) -> Finding:
    """The finding with its line in the file as it is."""
    if ask.original == ask.before:
        return ask.finding
    line = _line_before(ask.original, ask.before, ask.finding.span.line)
    return replace(ask.finding, span=Span(line, 1, line, 1))


def _inside(path: Path, finding: Finding) -> Finding:
    """A finding about a decorator as one about the function: what it does is what is compared."""
    found = plan.decorated_at(path, finding.span.line)
    if found is None:
        return finding
    qualname, line = found
    return replace(finding, function=qualname, span=Span(line, 1, line, 1))


def _line_before(original: str, before: str, line: int) -> int:
    """The line of the original that became this one, or the first of those that were replaced."""
    for tag, i1, i2, j1, j2 in _opcodes(original, before):
        if j1 < line <= j2:
            return i1 + (line - j1) if tag == "equal" else max(1, min(i1 + 1, i2 or i1 + 1))
    return 1


def _new_lines(before: str, after: str) -> Iterable[tuple[int, int]]:
    for tag, _, _, j1, j2 in _opcodes(before, after):
        if tag in ("replace", "insert"):
            yield (j1 + 1, j2)


def _opcodes(before: str, after: str) -> Sequence[tuple[str, int, int, int, int]]:
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return matcher.get_opcodes()
