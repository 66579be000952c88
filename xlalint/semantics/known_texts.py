"""Texts that are put together while reading: `f"segment_{mode}"`, of which a start or an end may be known where the whole is not."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from itertools import takewhile

from xlalint.semantics.values import PYTHON, SOME_PYTHON, Const, Partly, Value, constant, usually


def joined(parts: Sequence[Value]) -> Value:
    """These values as text, after one another; usual where all are known and one is no more than usual."""
    usual = [_read(part.usual()) for part in parts]
    whole = _known(usual)
    if len(whole) == len(parts):
        is_certain = all(part.constant() is not None for part in parts)
        return constant("".join(whole)) if is_certain else usually("".join(whole))
    texts = [_read(part.constant()) for part in parts]
    start, end = _known(texts), _known(texts[::-1])[::-1]
    if not (start or end):
        return SOME_PYTHON
    return Value(PYTHON, ref=Partly("".join(start), "".join(end)))


def filled(pattern: Value, value: Value) -> Value:
    """`"segment_%s" % mode`: a text with one place for another."""
    known = pattern.constant()
    if known is None or known.value.count("%") != 1 or "%s" not in known.value:
        return SOME_PYTHON
    before, after = known.value.split("%s")
    return joined((constant(before), value, constant(after)))


def is_text(value: Value) -> bool:
    """Whether a value is text that is known, or usual."""
    known = value.usual()
    return known is not None and isinstance(known.value, str)


def _read(known: Const | None) -> str | None:
    """What a value reads as in an f-string, where that is known."""
    is_plain = known is not None and type(known.value) in (str, int)
    return str(known.value) if known is not None and is_plain else None


def formatted(template: str, given: Mapping[str, Value]) -> Value:
    """`template.format(...)` with values by position (`"0"`) or name."""
    parts: list[Value] = []
    position = 0
    try:
        for literal, name, spec, conversion in string.Formatter().parse(template):
            parts.append(constant(literal))
            if name is None:
                continue
            if name == "":
                name, position = str(position), position + 1
            is_plain = name in given and not (spec or conversion)
            parts.append(given[name] if is_plain else SOME_PYTHON)
    except ValueError:
        return SOME_PYTHON  # not a template after all
    return joined(parts)


def _known(parts: list[str | None]) -> list[str]:
    """The first of them that are known."""
    return [part for part in takewhile(lambda part: part is not None, parts) if part is not None]
