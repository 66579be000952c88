"""What a target's evidence says of one place in the source."""

from __future__ import annotations

from collections.abc import Mapping

from xlalint.verify.records import FAILED, SKIPPED, TargetReport
from xlalint.verify.spans import Span


def executed(span: Span, target: TargetReport) -> bool:
    """Did the statement of a finding run while the target was traced?"""
    lines = {*target.evidence.executed.get(span.path, [])}
    return bool(ops_made(span, target)) or any(line in span.statement for line in lines)


def ops_made(span: Span, target: TargetReport) -> frozenset[str]:
    """The types of the operations that the statement made."""
    return _at(span, target.evidence.ops)


def ops_at(span: Span, target: TargetReport) -> frozenset[str]:
    """The types of the operations that the statement made, and that the target's results need."""
    return _at(span, target.evidence.needed)


def _at(span: Span, by_path: Mapping[str, Mapping[str, list[str]]]) -> frozenset[str]:
    made = by_path.get(span.path, {})
    return frozenset(
        op for line, types in made.items() if int(line) in span.statement for op in types
    )


def is_differentiated(span: Span, target: TargetReport) -> bool:
    """Does a gradient in the target's program, or in that of its gradient, pass operations of the statement?"""
    lines = target.evidence.differentiated.get(span.path, [])
    return any(line in span.statement for line in lines)


def passed(target: TargetReport, name: str) -> bool:
    """Did the target come through a stage?"""
    stage = target.stage(name)
    return stage is not None and stage.status not in (FAILED, SKIPPED)
