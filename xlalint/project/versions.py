"""Which TensorFlow a project is written for, read from its declared dependencies without installing or running it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from xlalint import data
from xlalint.project import dependencies
from xlalint.project.dependencies import Clause, Requirement, numbers

# The oldest TensorFlow that anything here is said of.
_OLDEST = (2, 12)
_MINOR = re.compile(r"(\d+)\.(\d+)")
# The last TensorFlow whose tf.keras is Keras 2, of the same number.
_LAST_WITH_KERAS_2 = (2, 15)
_NAMES = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-tpu",
)
# No TensorFlow minor has had more patch releases than this (2.3 had five).
_PATCHES = range(10)
# More than any part of a version.
_LAST = 10**6


@dataclass(frozen=True, slots=True)
class Detected:
    """A TensorFlow minor (`2.15`), the declaration it was read from, and all that is declared with it."""

    minor: str
    origin: str
    declared: tuple[Requirement, ...] = ()


@cache
def known() -> tuple[str, ...]:
    """The TensorFlow minors from the oldest supported one to the newest that the catalogue describes, oldest first.

    Those that it does not describe are there too: which Keras a minor brings matters as much as its kernels.
    """
    found = [numbers(m) for p in (data.root() / "catalog").glob("*.json") if (m := minor(p.stem))]
    (major, oldest), (_, newest) = _OLDEST, max(found, default=_OLDEST)
    return tuple(f"{major}.{number}" for number in range(oldest, newest + 1))


def minor(version: str) -> str | None:
    """`2.15` from `2.15`, `2.15.1` or `tf-2.15.0rc1`; None where there is no such number."""
    match = _MINOR.search(version)
    return f"{match.group(1)}.{match.group(2)}" if match else None


def detect(folder: Path, candidates: Sequence[str], package: str = "") -> Detected | None:
    """The newest of `candidates` that the dependencies declared in `folder` allow; None when they name no TensorFlow.

    Keras below 3 came with the TensorFlow of its number: a project that asks for that alone runs with it. Of what is installed in
    `folder`, `package` is the one that is looked at.

    A project pinned below all candidates gets the oldest, one above all of them the newest. Files that cannot be read
    or parsed are passed over: they are not what this run is about.
    """
    for declared in dependencies.sources(folder, package):
        found = [d for each in declared if (d := _allowed(each, candidates))]
        found = found or [d for each in declared if (d := _of_keras_2(each, candidates))]
        if found:
            newest = max(found, key=lambda d: numbers(d.minor))
            return replace(newest, declared=tuple(declared))
    return None


def of_tensorflow(requirement: Requirement) -> bool:
    """Whether a requirement is of TensorFlow itself, in one of its wheels."""
    return requirement.name in _NAMES


def _allowed(requirement: Requirement, candidates: Sequence[str]) -> Detected | None:
    clauses = requirement.clauses
    if not of_tensorflow(requirement) or not clauses:
        # A bare `tensorflow` says nothing about the version.
        return None
    fitting = [c for c in candidates if any(_fits((*numbers(c), k), clauses) for k in _PATCHES)]
    chosen = fitting[-1] if fitting else _nearest(clauses, candidates)
    return Detected(chosen, requirement.origin)


def _of_keras_2(requirement: Requirement, candidates: Sequence[str]) -> Detected | None:
    clauses = requirement.clauses
    if requirement.name != "keras" or bounds(clauses)[1] >= (3,):
        return None
    fitting = [c for c in candidates if any(_fits((*numbers(c), k), clauses) for k in _PATCHES)]
    with_keras_2 = [c for c in fitting if numbers(c) <= _LAST_WITH_KERAS_2]
    return Detected(
        (with_keras_2 or list(candidates))[-1 if with_keras_2 else 0], requirement.origin
    )


def bounds(clauses: Iterable[Clause]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The oldest and the newest version that clauses allow, of release numbers alone.

    Without a bound that is before, and after, any version; just below 2.16 is 2.15.LAST.
    """
    oldest: tuple[int, ...] = (0,)
    newest: tuple[int, ...] = (_LAST,)
    for operator, wanted in clauses:
        given = numbers(wanted)
        if operator in (">=", ">", "~=", "==", "==="):
            oldest = max(oldest, given)
        if operator == "~=":
            newest = min(newest, (*given[:-1], _LAST))
        elif operator in ("==", "===", "<="):
            newest = min(newest, (*given, _LAST) if wanted.endswith(".*") else given)
        elif operator == "<":
            newest = min(newest, _just_below(given))
    return oldest, newest


def is_within(version: tuple[int, ...], clauses: Iterable[Clause]) -> bool:
    """Whether a version, or the end of a range as `bounds` tells it, is one that the clauses allow."""
    return _fits((*version, 0, 0)[: max(3, len(version))], clauses)


def _just_below(version: tuple[int, ...]) -> tuple[int, ...]:
    """The last version before this one: 2.15.LAST for 2.16, 1.LAST for 2.0."""
    shown = list(version)
    while len(shown) > 1 and shown[-1] == 0:
        shown.pop()
    return (*shown[:-1], shown[-1] - 1, _LAST)


def _nearest(clauses: Iterable[tuple[str, str]], candidates: Sequence[str]) -> str:
    """Nothing fits: the project wants something older than all candidates, or newer than all of them."""
    wanted = max((numbers(version) for _, version in clauses), default=(0,))
    return candidates[0] if wanted < numbers(candidates[0]) else candidates[-1]


def _fits(version: tuple[int, ...], clauses: Iterable[tuple[str, str]]) -> bool:
    return all(_satisfies(version, operator, wanted) for operator, wanted in clauses)


def _satisfies(version: tuple[int, ...], operator: str, wanted: str) -> bool:
    """One clause of a specifier, on release numbers alone (pre-releases count as their release)."""
    given = numbers(wanted)
    if wanted.endswith(".*"):
        same = version[: len(given)] == given
        return same if operator == "==" else not same
    padded = (*given, 0, 0)[: max(3, len(given))]
    if operator in ("==", "==="):
        return version == padded
    if operator == "!=":
        return version != padded
    if operator == "~=":
        return version >= padded and version[: len(given) - 1] == given[:-1]
    if operator == ">=":
        return version >= padded
    if operator == "<=":
        return version <= padded
    return version > padded if operator == ">" else version < padded
