"""How findings compare with labels: what is found of what fails, and what is blamed though it compiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labels import COMPATIBLE, COSTLY, INCOMPATIBLE, Label, lines_of
from places import Sources

Finding = Mapping[str, Any]
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Missed:
    """A function that fails, without an error in it. `said` are the warnings there are, as codes and lines."""

    label: Label
    said: str


@dataclass(frozen=True, slots=True)
class WronglyBlamed:
    """An error at a line that ran in a program that compiles."""

    path: str
    line: int
    code: str
    message: str
    program: str


@dataclass(frozen=True, slots=True)
class Score:
    """What check makes of one package.

    `compatible`, `offenders` and `costly` count functions. `found` counts the offenders with an error in them, `found_at_all`
    those with any finding, and `on_line` those found at the statement that fails. `blamed` has one entry per compatible
    function. `per_kind` says of each offender what kind of failure it is, and whether it is found.
    """

    package: str
    half: str
    compatible: int
    offenders: int
    found: int
    found_at_all: int
    on_line: int
    costly: int
    costly_found: int
    missed: tuple[Missed, ...]
    blamed: tuple[WronglyBlamed, ...]
    costly_silent: tuple[str, ...]
    per_kind: tuple[tuple[str, bool], ...]


def score(
    package: str, half: str, labels: Sequence[Label], findings: Iterable[Finding], sources: Sources
) -> Score:
    """Compare the findings on a package with its labels; a finding belongs to the smallest function around it."""
    inside = _by_function(findings, sources)
    offenders = _grouped(label for label in labels if label.label == INCOMPATIBLE)
    costly = _grouped(label for label in labels if label.label == COSTLY)
    costly = {key: kept for key, kept in costly.items() if key not in offenders}
    compatible = [
        label for label in labels if label.label == COMPATIBLE and label.function not in offenders
    ]
    errors = {key: [f for f in found if f["severity"] == "error"] for key, found in inside.items()}
    found = {key for key in offenders if errors.get(key)}
    silent = [key for key in costly if key not in inside]
    return Score(
        package,
        half,
        len(compatible),
        len(offenders),
        len(found),
        sum(key in inside for key in offenders),
        sum(_is_on_line(offenders[key], errors[key], sources) for key in found),
        len(costly),
        len(costly) - len(silent),
        tuple(
            _missed(offenders[key][0], inside.get(key, ())) for key in offenders if key not in found
        ),
        tuple(
            false
            for label in compatible
            for false in _wrong(label, costly.get(label.function, ()), errors, sources)
        ),
        tuple(
            f"{costly[key][0].path}:{costly[key][0].line} {costly[key][0].kind}" for key in silent
        ),
        tuple((kept[0].kind, key in found) for key, kept in offenders.items()),
    )


def _by_function(findings: Iterable[Finding], sources: Sources) -> dict[Key, list[Finding]]:
    inside: dict[Key, list[Finding]] = defaultdict(list)
    for finding in findings:
        if sources.is_inside(finding["path"]):
            function = sources.function(finding["path"], finding["line"])
            if function is not None:
                inside[function.path, function.name, function.first].append(finding)
    return inside


def _grouped(labels: Iterable[Label]) -> dict[Key, list[Label]]:
    grouped: dict[Key, list[Label]] = defaultdict(list)
    for label in labels:
        grouped[label.function].append(label)
    return grouped


def _is_on_line(labels: Sequence[Label], errors: Sequence[Finding], sources: Sources) -> bool:
    return any(
        _overlap(
            sources.statement(label.path, label.line), sources.statement(label.path, f["line"])
        )
        for label in labels
        for f in errors
    )


def _overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] <= second[1] and second[0] <= first[1]


def _missed(label: Label, findings: Sequence[Finding]) -> Missed:
    return Missed(label, ", ".join(f"{f['code']} {f['severity']} at {f['line']}" for f in findings))


def _wrong(
    label: Label, costly: Sequence[Label], errors: Mapping[Key, Sequence[Finding]], sources: Sources
) -> list[WronglyBlamed]:
    """The first error at a line that ran and is known to cost nothing."""
    ran = lines_of(label.lines)
    paid = [sources.statement(label.path, price.line) for price in costly]
    for finding in errors.get(label.function, ()):
        statement = sources.statement(label.path, finding["line"])
        is_paid = any(_overlap(statement, price) for price in paid)
        if not is_paid and not ran.isdisjoint(range(statement[0], statement[1] + 1)):
            message = finding["message"]
            return [
                WronglyBlamed(label.path, finding["line"], finding["code"], message, label.program)
            ]
    return []
