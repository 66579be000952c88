"""XLA107: what Python does while tracing, and never when the program runs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.rules.base import Passage, Rule
from xlalint.semantics.facts import ASSUMED, TRACE_EFFECT
from xlalint.semantics.hazards.trace_effects import (
    COLLECTED,
    DROPPED,
    EVERY_TIME,
    LEAKED,
    REBOUND,
    STATE,
    TraceEffect,
)


class EffectWhileTracing(Rule):
    """Clocks and dice that are frozen, counters that stop, tensors that outlive their trace, variables made on the way."""

    code = "XLA107"

    def __init__(self, passage: Passage) -> None:
        super().__init__(passage)
        self._kept: set[cst.CSTNode] = set()
        self._places: set[cst.CSTNode] = set()
        self._shared: set[str] = set()

    def visit_Global(self, node: cst.Global) -> None:
        self._shared |= {item.name.value for item in node.names}

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:
        self._shared |= {item.name.value for item in node.names}

    def visit_Assign(self, node: cst.Assign) -> None:
        # What is kept in an attribute or a global may be made by the first trace alone, behind `if self.v is None`.
        if all(self._outlives(target.target) for target in node.targets):
            self._kept.add(node.value)
        for target in node.targets:
            for place in _places(target.target):
                self._judge_place(place)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._judge_place(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge_place(node.target)

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """`self.mask`, which functools.cached_property makes; what is assigned has been judged."""
        if node not in self._places:
            self._judge(node)

    def _outlives(self, target: cst.BaseExpression) -> bool:
        if isinstance(target, cst.Name):
            return target.value in self._shared
        return isinstance(target, (cst.Attribute, cst.Subscript))

    def _judge_place(self, node: cst.BaseExpression) -> None:
        self._places.add(node)
        self._judge(node)

    def _judge(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, TRACE_EFFECT):
            detail: TraceEffect = fact.detail
            if detail.kind == STATE and node in self._kept and detail.where != EVERY_TIME:
                continue
            # A library function that nobody compiles may well be host code; what AutoGraph makes a loop of is not.
            may_be_host = detail.kind not in (LEAKED, COLLECTED, REBOUND, DROPPED)
            confidence = "possible" if fact.context.region == ASSUMED and may_be_host else None
            words = {"name": detail.name, "where": detail.where, "code": self.quote(node)}
            self.report(node, fact, detail.kind, confidence=confidence, **words)


def _places(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an assignment stores in: each of the places of `self.state, output = ...`."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _places(element.value)
    else:
        yield target
