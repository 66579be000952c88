"""What says which TensorFlow a project runs with: the settings, its requirements, and what its programs install."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from xlalint.project.dependencies import Clause, Requirement, numbers, of_program
from xlalint.project.files import SourceFile
from xlalint.project.settings import NOBODY_SAYS, Settings
from xlalint.project.source import Source
from xlalint.project.versions import is_within, of_tensorflow
from xlalint.readiness.items import Evidence


@dataclass(frozen=True, slots=True)
class Declared:
    """Places that name a version, and the clauses that each has; both empty where nothing does."""

    places: tuple[Evidence, ...] = ()
    clauses: tuple[tuple[Clause, ...], ...] = ()

    def allows(self, version: str) -> bool:
        """Whether all of them allow a version such as `2.21.0`."""
        return all(is_within(numbers(version), each) for each in self.clauses)


def declared_by(programs: Iterable[tuple[SourceFile, Source]], settings: Settings) -> Declared:
    """What the project, and the programs themselves, say of TensorFlow."""
    origin = dict(settings.origins).get("tf_version", NOBODY_SAYS)
    places: list[Evidence] = []
    clauses: list[tuple[Clause, ...]] = []
    if origin != NOBODY_SAYS:
        required = [each for each in settings.dependencies if _names_a_version(each)]
        places.append(Evidence(f"TensorFlow {settings.tf_version}, from {_near(origin)}"))
        clauses += [each.clauses for each in required] or [
            (("==", f"{settings.tf_version}.*"),),
        ]
    for file, source in programs:
        for each in of_program(source.text, source.installs):
            if _names_a_version(each):
                places.append(Evidence(f"asks for {each.text}", file.display))
                clauses.append(each.clauses)
    return Declared(tuple(places), tuple(clauses))


def _near(origin: str) -> str:
    """A settings file as one sees it from here; what is no path, as it is."""
    path = Path(origin)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else origin


def _names_a_version(requirement: Requirement) -> bool:
    return of_tensorflow(requirement) and bool(requirement.clauses)
