"""Texts that are put together while reading: `f"segment_{mode}"`, of which a start or an end may be known where the whole is not."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

from xlalint.semantics.values import (
    PYTHON,
    SEQUENCE,
    SOME_PYTHON,
    SOME_TEXT,
    Const,
    Partly,
    Value,
    constant,
    usually,
)


def joined(parts: Sequence[Value]) -> Value:
    """These values as text, after one another; usual where all are known and one is no more than usual."""
    whole = _known([part.usual() for part in parts])
    if len(whole) == len(parts):
        is_certain = all(part.constant() is not None for part in parts)
        return constant("".join(whole)) if is_certain else usually("".join(whole))
    start = _known_start(parts, False)
    end = _known_start(parts[::-1], True)
    return Value(PYTHON, ref=Partly(start, end)) if start or end else SOME_TEXT


def added(one: Value, other: Value) -> Value:
    """`"parameters/" + name`: text where one of them is."""
    whole = joined((one, other))
    is_certain = is_certain_text(one) or is_certain_text(other)
    return whole if is_certain or whole.usual() is not None else SOME_PYTHON


def filled(pattern: Value, value: Value) -> Value:
    """`"segment_%s" % mode`, `"%s_%s" % (mode, part)`: a text with places for others."""
    known = pattern.constant()
    items = value.ref if value.kind is SEQUENCE else (value,)
    between = known.value.split("%s") if known is not None else []
    if known is None or "%" in "".join(between) or len(between) != len(items) + 1:
        return SOME_TEXT if is_certain_text(pattern) else SOME_PYTHON
    parts = [constant(between[0])]
    for item, text in zip(items, between[1:]):
        parts += [item, constant(text)]
    return joined(parts)


def is_text(value: Value) -> bool:
    """Whether a value is text that is known, or usual."""
    known = value.usual()
    return known is not None and isinstance(known.value, str)


def is_certain_text(value: Value) -> bool:
    """Whether a value is text, whoever calls, known or not."""
    known = value.constant()
    is_known = known is not None and isinstance(known.value, str)
    return is_known or (type(value.ref) is Partly and not value.optional)


def are_texts(value: Value) -> bool:
    """Whether a value is one of several texts, or one that is not known."""
    words = value.choices()
    return all(isinstance(w, (str, bytes)) for w in words) if words else is_certain_text(value)


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


def _known(parts: Sequence[Const | None]) -> list[str]:
    """The first of them that are known, as text."""
    found: list[str] = []
    for part in parts:
        text = _read(part)
        if text is None:
            break
        found.append(text)
    return found


def _known_start(parts: Sequence[Value], is_end: bool) -> str:
    """What the text of these begins with; of parts given backwards, what it ends with."""
    found = _known([part.constant() for part in parts])
    if len(found) < len(parts) and type(parts[len(found)].ref) is Partly:
        partly = parts[len(found)].ref
        found.append(partly.end if is_end else partly.start)
    return "".join(found[::-1] if is_end else found)
