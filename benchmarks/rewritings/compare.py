"""What check says of a program before and after it is rewritten, told by the lines that the program has in its fixture."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rewritings.programs import Files, Program, numbers
from xlalint.engine import check
from xlalint.project.settings import Settings

# A finding on a line that the rewriting has added has no line in the fixture.
ADDED = 0


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A finding, at a line of the fixture."""

    line: int
    code: str
    severity: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What a rewriting of one program takes away from the findings, and adds to them."""

    lost: tuple[Found, ...]
    new: tuple[Found, ...]

    def __bool__(self) -> bool:
        return bool(self.lost or self.new)


def found_in(files: Files, program: Program) -> frozenset[Found]:
    """What check finds in these files, under the settings of the fixture.

    Raises:
        ValueError: check cannot read what the rewriting has made.
    """
    with tempfile.TemporaryDirectory(prefix="rewritten-") as folder:
        write(files, Path(folder))
        settings = dataclasses.replace(Settings(root=Path(folder)), **dict(program.script.settings))
        result = check([folder], settings)
        if result.errors:
            raise ValueError(f"{program.script.name}: {result.errors[0].message}")
        lines = {str(Path(folder, name)): numbers(text) for name, text in files.items()}
        return frozenset(
            Found(lines[f.path].get(f.span.line, ADDED), f.code, f.severity.value)
            for f in result.findings
        )


def write(files: Files, folder: Path) -> None:
    """Put the files into `folder`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def difference(before: Iterable[Found], after: Iterable[Found], program: Program) -> Difference:
    """What differs, without what the fixture leaves open."""
    before, after = set(before), set(after)
    open_ = {(e.line, e.code) for e in program.script.expectations if e.verb == "maybe"}
    lost = sorted(f for f in before - after if (f.line, f.code) not in open_)
    new = sorted(f for f in after - before if (f.line, f.code) not in open_)
    return Difference(tuple(lost), tuple(new))
