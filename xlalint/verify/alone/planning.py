"""Which functions are to be verified alone, and what is known of their inputs: one child per module. Runs nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlalint.finding import Finding
from xlalint.semantics.parameter_beliefs import ParameterBeliefs
from xlalint.verify import jobs, plan
from xlalint.verify.alone.mentions import TestIndex
from xlalint.verify.jobs import Job, Module, Wanted

_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"^\s*(?:class|def)\s+(\w+)", re.M)


@dataclass(frozen=True, slots=True)
class Known:
    """What the parent can tell of inputs: check's beliefs, the settings' own, where tests are, the project's files."""

    beliefs: ParameterBeliefs
    inputs_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tests: TestIndex = field(default_factory=lambda: TestIndex(()))
    files: Sequence[Path] = ()


def jobs_for(
    findings: Iterable[Finding], folder: Path, known: Known, *, only_judged: bool = True
) -> list[Job]:
    """A child for each module with findings that a compiler can judge, or with any in a function."""
    by_file: dict[Path, list[Finding]] = {}
    for finding in findings:
        path = Path(folder, finding.path).resolve()
        is_judged = not finding.code.startswith(plan.NOT_COMPILED)
        if finding.cell is None and path.suffix == ".py" and (is_judged or not only_judged):
            by_file.setdefault(path, []).append(finding)
    definitions = _Definitions(known.files)
    made = [_job(path, of_file, folder, known, definitions) for path, of_file in by_file.items()]
    return [job for job in made if job.wanted]


def _job(
    path: Path, findings: Sequence[Finding], folder: Path, known: Known, definitions: _Definitions
) -> Job:
    name, root = plan.module_name(path)
    wanted = tuple(_wanted(path, name, findings, known, definitions))
    env, notes = plan.environment_for([path])
    return Job(
        kind=jobs.ALONE,
        label=f"functions of {plan.shown(path, folder)}",
        first_path=str(root),
        roots=plan.import_roots(folder, name, root),
        modules=(Module(name, str(root), str(path)),),
        wanted=wanted,
        flagged=tuple((one.path, one.line) for one in wanted),
        flagged_files=(str(path),),
        python=(sys.executable,),
        env={"PYTHONDONTWRITEBYTECODE": "1", **env},
        notes=notes,
        does_work=plan.is_script_without_guard(path),
    )


def _wanted(
    path: Path,
    module: str,
    findings: Sequence[Finding],
    known: Known,
    definitions: _Definitions,
) -> Iterator[Wanted]:
    spelled = {finding.path for finding in findings}
    by_line: dict[tuple[int, str], Wanted] = {}
    for finding in findings:
        around = plan.function_around(path, finding.span.line)
        if around is None:
            continue
        key = (around[0], finding.function)
        if key not in by_line:
            by_line[key] = _one(path, module, around[0], finding, known, definitions, spelled)
        lines = plan.statement_around(path, finding.span.line)
        known_lines, codes = by_line[key].lines, by_line[key].codes
        by_line[key] = replace(
            by_line[key],
            lines=tuple(dict.fromkeys((*known_lines, lines))),
            codes=tuple(dict.fromkeys((*codes, finding.code))),
        )
    yield from (by_line[key] for key in sorted(by_line))


def _one(
    path: Path,
    module: str,
    line: int,
    finding: Finding,
    known: Known,
    definitions: _Definitions,
    spelled: set[str],
) -> Wanted:
    qualname, why = finding.function, finding.region.why
    outer = qualname.partition(".<locals>")[0]
    owner = outer.rpartition(".")[0]
    at = plan.definition_line(path, line)
    keys = [(one, at) for one in spelled]
    believed = next(
        (known.beliefs.parameters[k] for k in keys if k in known.beliefs.parameters), {}
    )
    converted = next(
        (known.beliefs.converted[k] for k in keys if k in known.beliefs.converted), None
    )
    return Wanted(
        path=str(path),
        line=line,
        qualname=qualname,
        lines=(),
        via=why,
        modules=definitions.modules_of(why, module),
        is_converted=converted if converted is not None else not _is_unconverted(why),
        parameters={
            name: {"kind": one.kind, "dtype": one.dtype, "shape": one.shape}
            for name, one in believed.items()
        },
        inputs=known.inputs_of.get(f"{module}:{outer}", ()),
        constructor=known.inputs_of.get(f"{module}:{owner}", ()) if owner else (),
        tests=known.tests.of(qualname),
    )


def _is_unconverted(why: Sequence[str]) -> bool:
    return bool(why) and why[0].startswith("Keras 3")


class _Definitions:
    """Which modules of the project define a class or function of some name."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._modules: dict[str, list[Path]] | None = None

    def modules_of(self, why: Sequence[str], own: str) -> tuple[str, ...]:
        """The modules of the names in a chain of calls, without `own`."""
        found: dict[str, None] = {}
        for step in why:
            for name in _NAME.findall(step.partition(".<locals>")[0])[-2:]:
                for path in self._of(name)[:2]:
                    found.setdefault(plan.module_name(path)[0])
        return tuple(name for name in found if name != own)

    def _of(self, name: str) -> list[Path]:
        if self._modules is None:
            self._modules = {}
            for path in self._files:
                for defined in set(_DEFINED.findall(plan.text_of(path))):
                    self._modules.setdefault(defined, []).append(path)
        found = self._modules.get(name, [])
        # A name that many modules define says nothing of where it is.
        return found if len(found) <= 2 else []
