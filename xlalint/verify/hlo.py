"""What a program in HLO text says of itself."""

from __future__ import annotations

import re

_PLACED = re.compile(r'source_file="([^"]+)" source_line=(\d+)')
_BOUNDED = re.compile(r"\[[^\]\s]*<=\d")
_METADATA = re.compile(r", metadata=\{[^}]*\}")


def bounded_lines(hlo: str) -> dict[str, list[int]]:
    """path -> lines whose instructions have a dimension known only when the program runs (`f32[<=4,3]`)."""
    found: dict[str, set[int]] = {}
    for line in hlo.splitlines():
        result = line.split(" = ", 1)[-1].split("(", 1)[0]
        placed = _PLACED.search(line)
        if placed and _BOUNDED.search(result):
            found.setdefault(placed[1], set()).add(int(placed[2]))
    return {path: sorted(lines) for path, lines in sorted(found.items())}


def same_program(left: str, right: str) -> bool:
    """Whether two texts lowered from one graph are one program: metadata apart, since names are the graph's."""
    return _METADATA.sub("", left) == _METADATA.sub("", right)
