"""From what the compiler said of a program to a verdict on each finding that the program reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler import Frame, Judgement, Operation, Outcome, holds_the_same, lower_part, part_for

RIGHT, WRONG, UNCLEAR = "right", "wrong", "could not run"
_PRODUCERS = frozenset(
    "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 DynamicPartition ListDiff".split()
)
# Rules whose errors say that tracing stops.
_WHILE_TRACING = frozenset(("XLA101", "XLA102", "XLA105"))
_CONDITIONALS = frozenset(("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"))

# What the compiler's words must hold for a failure to be the one that a rule speaks of.
_SAID = {"XLA203": "compile-time constant", "XLA401": "no XLA kernel", "XLA402": "no XLA kernel"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on the finding `code` at `path`:`line`; `path` starts with the package's folder."""

    path: str
    line: int
    code: str
    severity: str
    program: str
    verdict: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A program that does not compile, at a line where check says nothing. `place` is the innermost package line."""

    program: str
    stage: str
    place: str
    message: str


class Package:
    """The sources of a package, for turning frames of the interpreter into `path:line` and statements."""

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        self._root = root
        self._statements: dict[str, list[ast.stmt]] = {}

    def places(self, frames: Iterable[Frame]) -> list[tuple[str, int]]:
        """The frames inside the package, paths relative to the folder that holds it."""
        found = []
        for file, line in frames:
            marker = f"/{self.name}/"
            if marker in file:
                found.append((self.name + "/" + file.split(marker, 1)[1], line))
        return found

    def statement(self, path: str, line: int, with_body: bool = False) -> tuple[int, int]:
        """First and last line of the smallest statement that holds `line`; of a compound one the header, or all of it.

        An exception under a condition is raised in its body, so findings about conditions ask for `with_body`.
        """
        if path not in self._statements:
            tree = ast.parse((self._root / path).read_text(encoding="utf-8"))
            self._statements[path] = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        holding = [
            node for node in self._statements[path] if _extent(node)[0] <= line <= _extent(node)[1]
        ]
        if not holding:
            return line, line
        smallest = min(holding, key=lambda node: _extent(node)[1] - _extent(node)[0])
        return (smallest.lineno, smallest.end_lineno or line) if with_body else _extent(smallest)


def _extent(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None)
    if body and isinstance(body, list):
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, node.end_lineno or node.lineno


def judged(
    package: Package, program: str, said: Judgement, findings: Sequence[Any]
) -> Iterator[Verdict]:
    """A verdict on every finding whose statement the program reached."""
    if not said.eager.is_ok and not said.traced.is_ok:
        return  # The program itself is at fault.
    for finding in findings:
        extent = package.statement(finding["path"], finding["line"], finding["code"] == "XLA101")
        evidence = _evidence(package, said, finding, extent)
        if evidence is not None:
            yield Verdict(
                finding["path"],
                finding["line"],
                finding["code"],
                finding["severity"],
                program,
                *evidence,
            )


def missed(package: Package, program: str, said: Judgement, findings: Sequence[Any]) -> Miss | None:
    """The failure of the program, unless a finding names one of the statements on its stack."""
    if not said.eager.is_ok:
        return None
    for stage, outcome in (
        ("trace", said.traced),
        ("compile", said.compiled),
        ("gradient", said.gradient),
    ):
        if outcome is None or outcome.is_ok:
            continue
        places = package.places(outcome.frames)
        for path, line in places:
            first, last = package.statement(path, line)
            if any(f["path"] == path and _holds(package, f, line, (first, last)) for f in findings):
                return None
        where = f"{places[-1][0]}:{places[-1][1]}" if places else "?"
        return Miss(program, stage, where, outcome.message)
    return None


def _holds(package: Package, finding: Any, line: int, extent: tuple[int, int]) -> bool:
    if extent[0] <= finding["line"] <= extent[1]:
        return True
    first, last = package.statement(finding["path"], finding["line"], finding["code"] == "XLA101")
    return first <= line <= last


def _evidence(
    package: Package, said: Judgement, finding: Any, extent: tuple[int, int]
) -> tuple[str, str] | None:
    """(verdict, one line), or None where the program does not come by the finding."""
    failed = next((o for o in (said.traced, said.compiled) if o is not None and not o.is_ok), None)
    header = package.statement(finding["path"], finding["line"])
    here = [op for op in said.operations if _is_at(package, op, finding, header)]
    by_kind = _by_kind(finding, here, failed)
    if by_kind is not None:
        return by_kind
    is_there = failed is not None and _is_at(package, failed, finding, extent)
    if finding["code"] in _WHILE_TRACING and finding["severity"] == "error" and said.traced.is_ok:
        return (WRONG, f"traces: {_types(here)}") if here else None
    if (
        is_there
        and finding["severity"] == "error"
        and _SAID.get(finding["code"], "") in failed.message
    ):
        return RIGHT, f"fails there: {failed.message}"
    if not here:
        return _unreached(failed) if is_there and failed is not None else None
    if finding["code"] == "XLA204":
        return _numbers(said, here, failed)
    return _alone(said, here, failed)


def _unreached(failed: Outcome) -> tuple[str, str]:
    """A warning at a statement where tracing fails: wrong where it fails for what the warning says is converted."""
    is_unconverted = "OperatorNotAllowedInGraph" in failed.message
    return (WRONG if is_unconverted else UNCLEAR), f"tracing fails there: {failed.message}"


def _by_kind(
    finding: Any, here: Sequence[Operation], failed: Outcome | None
) -> tuple[str, str] | None:
    """RIGHT where the operations that the rule speaks of are there."""
    code, is_fine = finding["code"], "" if failed else ", compiles"
    lacking = sorted({op.type for op in here if not op.has_kernel})
    if code in ("XLA401", "XLA402") and lacking:
        return RIGHT, f"{', '.join(lacking)} there has no XLA kernel"
    producers = sorted({op.type for op in here if op.type in _PRODUCERS and op.is_data_sized})
    if code in ("XLA201", "XLA202") and producers:
        return RIGHT, f"{producers[0]} of open size there{is_fine}"
    branches = sorted({op.type for op in here if op.type in _CONDITIONALS})
    if code in ("XLA101", "XLA102") and finding["severity"] == "warning" and branches:
        return RIGHT, f"{branches[0]} there{is_fine}"
    return None


def _numbers(said: Judgement, here: Sequence[Operation], failed: Outcome | None) -> tuple[str, str]:
    """Whether what the statement computes is the same with XLA as without."""
    outer = [op for op in here if not op.is_nested and op.type != "Const"]
    for op in outer:
        part = part_for(said, op.name)
        outcome = lower_part(part)
        if not outcome.is_ok:
            own = op.name in outcome.nodes or op.type in outcome.message
            return (RIGHT if own else UNCLEAR), f"compiled alone, {op.type}: {outcome.message}"
        if holds_the_same(part) is False:
            return RIGHT, f"{op.type} there gives other numbers than without XLA"
    if said.agrees is False:
        return RIGHT, "the program gives other numbers than eager"
    if failed is not None:
        return UNCLEAR, f"inside a branch or loop; elsewhere: {failed.message}"
    return WRONG, f"same numbers with these inputs: {_types(here)}"


def _alone(said: Judgement, here: Sequence[Operation], failed: Outcome | None) -> tuple[str, str]:
    """What the operations of the finding do when the program ends with them."""
    if failed is None:
        return WRONG, f"compiles: {_types(here)}"
    outer = [op for op in here if not op.is_nested]
    if not outer:
        return UNCLEAR, f"inside a branch or loop; elsewhere: {failed.message}"
    for op in outer:
        outcome = lower_part(part_for(said, op.name))
        if not outcome.is_ok:
            if op.name in outcome.nodes or op.type in outcome.message:
                return RIGHT, f"fails there, compiled alone: {op.type}: {outcome.message}"
            return UNCLEAR, f"hidden by an earlier failure: {outcome.message}"
    return WRONG, f"compiles alone: {_types(outer)}; elsewhere: {failed.message}"


def _types(operations: Sequence[Operation]) -> str:
    return ", ".join(sorted({op.type for op in operations})[:6])


def _is_at(
    package: Package, thing: Outcome | Operation, finding: Any, extent: tuple[int, int]
) -> bool:
    return any(
        path == finding["path"] and extent[0] <= line <= extent[1]
        for path, line in package.places(thing.frames)
    )
