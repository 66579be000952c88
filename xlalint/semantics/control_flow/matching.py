"""Patterns of `match` statements: whether a value meets one, and what it binds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from xlalint.semantics.attributes import read
from xlalint.semantics.elements import element
from xlalint.semantics.frames import Frame
from xlalint.semantics.type_kinds import kind_of_type
from xlalint.semantics.values import (
    COLLECTION,
    MAPPING,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    TENSOR,
    Const,
    OneOf,
    Usual,
    Value,
)


class Meeting(NamedTuple):
    """Whether a value meets a pattern, None where that is not known, and the names that are bound where it does.

    `usual` is what holds where nobody passes other than defaults, None where that says nothing.
    """

    answer: bool | None
    names: Mapping[str, Value] = MappingProxyType({})
    usual: bool | None = None


_OPEN = Meeting(None)
_NEVER = Meeting(False)


def meet(pattern: ast.pattern, subject: Value, frame: Frame) -> Meeting:
    """How a subject meets a pattern."""
    handler = _PATTERNS.get(type(pattern))
    return handler(pattern, subject, frame) if handler is not None else _OPEN


def compares(pattern: ast.pattern) -> bool:
    """Whether Python asks the subject itself whether it equals something."""
    if isinstance(pattern, ast.MatchOr):
        return any(compares(part) for part in pattern.patterns)
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is not None and compares(pattern.pattern)
    return isinstance(pattern, ast.MatchValue)


def _capture(pattern: ast.MatchAs, subject: Value, frame: Frame) -> Meeting:
    """`case _`, `case x` and `case "mean" as how`."""
    inner = Meeting(True) if pattern.pattern is None else meet(pattern.pattern, subject, frame)
    if pattern.name is None:
        return inner
    return inner._replace(names={**inner.names, pattern.name: subject})


def _value(pattern: ast.MatchValue, subject: Value, frame: Frame) -> Meeting:
    wanted = frame.analysis.evaluate(pattern.value, frame).constant()
    return _OPEN if wanted is None else _equal(subject, wanted.value)


def _singleton(pattern: ast.MatchSingleton, subject: Value, frame: Frame) -> Meeting:
    if subject.is_tensor and not (subject.optional or subject.guess):
        return _NEVER  # None, True and False are met by being them
    return _equal(subject, pattern.value)


def _equal(subject: Value, wanted: Any) -> Meeting:
    if subject.kind is not PYTHON:
        return _OPEN
    if type(subject.ref) is Const:
        return Meeting(subject.ref.value == wanted)
    if type(subject.ref) is Usual:
        return Meeting(None, usual=subject.ref.value == wanted)
    if type(subject.ref) is OneOf and wanted not in subject.ref.values:
        return _NEVER
    return _OPEN


def _alternatives(pattern: ast.MatchOr, subject: Value, frame: Frame) -> Meeting:
    every = [meet(part, subject, frame) for part in pattern.patterns]
    answers = [each.answer for each in every]
    usual = [each.usual for each in every if each.answer is None]
    return Meeting(
        True if True in answers else None if None in answers else False,
        {name: value for each in every for name, value in each.names.items()},
        True if True in usual else None if None in usual or not usual else False,
    )


def _sequence(pattern: ast.MatchSequence, subject: Value, frame: Frame) -> Meeting:
    """`case (x, y)`: of tuples and lists; no tensor is a sequence to Python."""
    if subject.is_tensor and not (subject.structured or subject.optional or subject.guess):
        return _NEVER
    stars = [part for part in pattern.patterns if isinstance(part, ast.MatchStar)]
    if subject.kind is not SEQUENCE or stars:
        inner = element(subject)
        return Meeting(None, _bound(pattern.patterns, [inner] * len(pattern.patterns), frame))
    if len(subject.ref) != len(pattern.patterns):
        return Meeting(None if not subject.ref else False)  # an empty one may be one of open length
    every = [meet(part, item, frame) for part, item in zip(pattern.patterns, subject.ref)]
    return _all(every)


def _all(every: Iterable[Meeting]) -> Meeting:
    found = list(every)
    answers = [each.answer for each in found]
    usual = [each.usual for each in found if each.answer is None]
    return Meeting(
        False if False in answers else None if None in answers else True,
        {name: value for each in found for name, value in each.names.items()},
        False if False in usual else None if None in usual or not usual else True,
    )


def _bound(
    patterns: Iterable[ast.pattern], values: Iterable[Value], frame: Frame
) -> dict[str, Value]:
    """What patterns bind, met or not."""
    names: dict[str, Value] = {}
    for part, value in zip(patterns, values):
        if isinstance(part, ast.MatchStar):
            if part.name is not None:
                names[part.name] = Value(COLLECTION, ref=value)
        else:
            names.update(meet(part, value, frame).names)
    return names


def _mapping(pattern: ast.MatchMapping, subject: Value, frame: Frame) -> Meeting:
    """`case {"image": x}`."""
    known = dict(subject.ref or ()) if subject.kind is MAPPING else {}
    names: dict[str, Value] = {}
    for key, part in zip(pattern.keys, pattern.patterns):
        wanted = frame.analysis.evaluate(key, frame).constant()
        item = known.get(wanted.value) if wanted is not None else None
        if item is None:
            item = element(subject) if subject.structured else NOTHING_KNOWN
        names.update(meet(part, item, frame).names)
    if pattern.rest is not None:
        names[pattern.rest] = subject if subject.kind is MAPPING else NOTHING_KNOWN
    return Meeting(None, names)


def _class(pattern: ast.MatchClass, subject: Value, frame: Frame) -> Meeting:
    """`case tf.Tensor()`, `case int()`, `case Batch(x=x)`."""
    asked = kind_of_type(frame.analysis.evaluate(pattern.cls, frame))
    names: dict[str, Value] = {}
    for attr, part in zip(pattern.kwd_attrs, pattern.kwd_patterns):
        names.update(meet(part, read(subject, attr, frame, pattern.cls), frame).names)
    items = subject.ref if subject.given and subject.kind is SEQUENCE else ()
    names.update(
        _bound(pattern.patterns, [*items, *[NOTHING_KNOWN] * len(pattern.patterns)], frame)
    )
    is_plain = not (pattern.patterns or pattern.kwd_patterns)
    vague = subject.guess or subject.optional or subject.structured
    answer = None
    if asked is not None and subject.kind in (TENSOR, PYTHON) and not vague:
        if subject.kind is not asked:
            answer = False
        elif subject.kind is TENSOR and is_plain:
            answer = True
    return Meeting(answer, names)


_PATTERNS: dict[type[ast.pattern], Callable[[Any, Value, Frame], Meeting]] = {
    ast.MatchAs: _capture,
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchOr: _alternatives,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}
