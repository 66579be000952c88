"""Texts that are put together while reading: `f"segment_{mode}"`, of which a start or an end may be known where the whole is not."""

from __future__ import annotations

from itertools import takewhile

from xlalint.semantics.values import PYTHON, SOME_PYTHON, Partly, Value, constant


def text(value: Value) -> str | None:
    """What a value reads as in an f-string, where that is known."""
    known = value.constant()
    is_plain = known is not None and type(known.value) in (str, int)
    return str(known.value) if known is not None and is_plain else None


def joined(parts: list[str | None]) -> Value:
    """These texts after one another; None stands for one that is not known."""
    start = _known(parts)
    if len(start) == len(parts):
        return constant("".join(start))
    end = _known(parts[::-1])[::-1]
    if not (start or end):
        return SOME_PYTHON
    return Value(PYTHON, ref=Partly("".join(start), "".join(end)))


def _known(parts: list[str | None]) -> list[str]:
    """The first of them that are known."""
    return [part for part in takewhile(lambda part: part is not None, parts) if part is not None]
