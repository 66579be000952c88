"""What every rule is built on: a libcst visitor that asks for facts by the span of a node, and reports findings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst

from xlalint import pages
from xlalint.finding import Finding, Region, Severity, Span
from xlalint.rules.positions import Place, Positions
from xlalint.semantics.facts import Fact
from xlalint.semantics.values import ReadInCalls

_LONGEST_QUOTE = 60
_UNUSUAL = (
    "With the default arguments this line is not run: it fails where a caller chooses otherwise."
)


@dataclass(frozen=True, slots=True)
class Aim:
    """What the code is headed for. `goes_to_tpu` says that the project or its user has named a TPU, `trains` that the project
    itself compiles a model or runs steps on replicas: without that it is a library, which others put to use.
    """

    target: str
    goes_to_tpu: bool
    trains: bool

    @property
    def is_tpu(self) -> bool:
        return self.target.startswith("tpu")


@dataclass(eq=False, slots=True)
class Passage:
    """The stretch of a module that the rules read together: one function, or one statement of the module.

    `facts` are keyed by place: line, column, end line, end column in the file (columns in code points, from 0).
    Statements that hold no fact may have been left out of `module`.
    """

    path: str
    facts: Mapping[Place, Sequence[Fact]]
    positions: Positions
    module: cst.Module
    aim: Aim
    findings: list[Finding] = field(default_factory=list)

    def facts_at(self, node: cst.CSTNode) -> Sequence[Fact]:
        """What the analysis saw at a node."""
        place = self.positions.found.get(id(node))
        return self.facts[place] if place is not None else ()

    def key(self, node: cst.CSTNode) -> Place:
        return self.positions.of(node)


class Rule:
    """A libcst visitor that reads one passage at a time. `code` names its page, which holds its words and severities.

    Methods are named as in libcst: `visit_If` before a node's children, `leave_If` after them. All rules share one walk
    (`walk.py`), so they return nothing and cannot skip children.
    """

    code: ClassVar[str]

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    def facts(self, node: cst.CSTNode, *kinds: str) -> list[Fact]:
        """What the analysis saw at a node, of these kinds, as far as it is so on the target."""
        seen = [f for f in self.passage.facts_at(node) if f.kind in kinds]
        if self.passage.aim.is_tpu:
            return seen
        return [f for f in seen if type(f.value.producer) is not ReadInCalls]

    def quote(self, node: cst.CSTNode) -> str:
        """The source of a node on one line, shortened, for a message."""
        text = " ".join(self.passage.module.code_for_node(node).split())
        return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3].rstrip() + "..."

    def report(
        self,
        node: cst.CSTNode,
        fact: Fact,
        variant: str,
        *,
        confidence: str | None = None,
        **words: str,
    ) -> None:
        """Report the node; of several facts about one node, the worst is kept (see `worst`)."""
        page = pages.load(self.code)
        said = page.variants[variant]
        message, help_text = said.render(words)
        if not fact.usual and said.severity is Severity.ERROR:
            help_text = f"{help_text}\n{_UNUSUAL}"
        line, column, end_line, end_column = self.passage.key(node)
        self.passage.findings.append(
            Finding(
                code=self.code,
                name=page.name,
                severity=said.severity,
                path=self.passage.path,
                span=Span(line, column + 1, end_line, end_column + 1),
                message=message,
                function=fact.function.qualname if fact.function is not None else "<module>",
                region=Region(fact.context.region, fact.context.why),
                help=help_text,
                confidence=confidence or ("certain" if fact.value.sure else "likely"),
                variant=variant,
            )
        )


_CONFIDENCE = {"certain": 2, "likely": 1, "possible": 0}


def worst(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per rule and place: the most certain severe one, first come first kept."""
    chosen: dict[tuple[str, Span], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.span)
        known = chosen.get(key)
        if known is None or _weight(finding) > _weight(known):
            chosen[key] = finding
    return list(chosen.values())


def _weight(finding: Finding) -> tuple[bool, int, int, bool]:
    shown = finding.confidence != "possible"
    return (
        shown,
        finding.severity.rank,
        _CONFIDENCE[finding.confidence],
        finding.region.kind == "compiled",
    )


def key_of(node: ast.AST, columns: Mapping[int, str]) -> Place:
    """The span of an `ast` node with columns in code points. `columns` holds the lines that are not ASCII."""
    start, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    return (
        start,
        _code_points(columns.get(start), node.col_offset),  # type: ignore[attr-defined]
        end,
        _code_points(columns.get(end), node.end_col_offset),  # type: ignore[attr-defined]
    )


def _code_points(line: str | None, offset: int) -> int:
    """ast counts UTF-8 bytes; libcst and people count characters."""
    return offset if line is None else len(line.encode()[:offset].decode(errors="ignore"))
