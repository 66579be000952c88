"""Cells of a notebook written anew, while every other byte of its JSON stays what it was: outputs, metadata, indentation."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


def with_cells(text: str, sources: Mapping[int, str]) -> str:
    """The JSON of a notebook with other sources for some of its cells, by their number among all cells (1-based).

    Raises:
        ValueError: the text is not the JSON of a notebook, or it has no such cell.
    """
    spans = _source_spans(text)
    parts: list[str] = []
    done = 0
    for number in sorted(sources):
        if number not in spans:
            raise ValueError(f"no cell {number} with a source")
        start, end = spans[number]
        parts += (text[done:start], _written(text[start:end], sources[number]))
        done = end
    return "".join((*parts, text[done:]))


def json_lines(text: str) -> dict[int, list[int]]:
    """The line of the JSON (1-based) on which each line of a cell stands, by the cell's number among all cells (1-based).

    Raises:
        ValueError: the text is not the JSON of a notebook.
    """
    ends = [match.start() for match in re.finditer("\n", text)]
    found: dict[int, list[int]] = {}
    for number, (start, _) in _source_spans(text).items():
        parts = _elements(text, start) if text[start] == "[" else iter((start,))
        is_ended = False
        lines: list[int] = []
        for at in parts:
            here = bisect_right(ends, at) + 1
            rest = re.split(r"\r\n|\r|\n", str(_decode(text, at)[0]))
            # The first of them goes on where the part before it has stopped: within a line, or where it has ended one.
            if lines and is_ended:
                lines[-1] = here
            lines += [here] * (len(rest) - bool(lines))
            is_ended = not rest[-1]
        found[number] = lines
    return found


def _written(before: str, source: str) -> str:
    """A source as it was written before: as one string or as a list of lines, and with the same spaces between them."""
    is_ascii = before.isascii()
    if not before.startswith("["):
        return json.dumps(source, ensure_ascii=is_ascii)
    lines = re.findall(r".*?\n|.+$", source, re.DOTALL)
    # What stood between the bracket and the first line, before the last bracket, and between two lines.
    head = _SPACE.match(before, 1)
    opening = head.group() if head else ""
    closing = before[len(before[:-1].rstrip()) : -1]
    joint = f",{opening}" if "\n" in opening else ", "
    if not lines:
        return "[]"
    return f"[{opening}{joint.join(json.dumps(line, ensure_ascii=is_ascii) for line in lines)}{closing}]"


def _source_spans(text: str) -> dict[int, tuple[int, int]]:
    """Where the `source` of each cell stands in the text."""
    top = _values(text, _skip(text, 0))
    spans: dict[int, tuple[int, int]] = {}
    for number, start in enumerate(_cells(text, top), start=1):
        cell = _values(text, start) if text[start] == "{" else {}
        source = cell.get("source") or cell.get("input")
        if source is not None:
            spans[number] = source
    return spans


def _cells(text: str, top: Mapping[str, tuple[int, int]]) -> Iterator[int]:
    """Where the cells begin; in format 3 they lie in the worksheets."""
    if "cells" in top:
        yield from _elements(text, top["cells"][0])
    elif "worksheets" in top:
        for start in _elements(text, top["worksheets"][0]):
            sheet = _values(text, start) if text[start] == "{" else {}
            if "cells" in sheet:
                yield from _elements(text, sheet["cells"][0])
    else:
        raise ValueError("a notebook without cells")


def _elements(text: str, position: int) -> Iterator[int]:
    """Where the elements of the list that begins at `position` stand; of anything else, none."""
    if text[position] != "[":
        return
    position = _skip(text, position + 1)
    while text[position] != "]":
        yield position
        _, end = _decode(text, position)
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _values(text: str, position: int) -> dict[str, tuple[int, int]]:
    """Where the values of the object that begins at `position` stand, by key."""
    if text[position] != "{":
        raise ValueError("not an object")
    found: dict[str, tuple[int, int]] = {}
    position = _skip(text, position + 1)
    while text[position] != "}":
        key, end = _decode(text, position)
        start = _skip(text, _skip(text, end) + 1)
        _, end = _decode(text, start)
        found[str(key)] = (start, end)
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def _skip(text: str, position: int) -> int:
    """The next place that is no space. Raises ValueError at the end of the text."""
    match = _SPACE.match(text, position)
    after = match.end() if match else position
    if after >= len(text):
        raise ValueError("the JSON ends too early")
    return after
