"""What a program in HLO text says of itself."""

from __future__ import annotations

import re

_PLACED = re.compile(r'source_file="([^"]+)" source_line=(\d+)')
_BOUNDED = re.compile(r"\[[^\]\s]*<=\d")
_METADATA = re.compile(r", metadata=\{[^}]*\}")
_NAME = re.compile(r"%[\w.-]+")


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
    """Whether two texts lowered from one graph are one program: metadata and names apart. Names are the graph's, and those of constants that
    TensorFlow moves out of loops count how often it has lowered anything (`%_0.4`, then `%_1.4`).
    """
    return _anonymous(left) == _anonymous(right)


def _anonymous(text: str) -> str:
    """A program whose instructions and computations are numbered in the order in which they are first named."""
    numbers: dict[str, str] = {}
    plain = _METADATA.sub("", text)
    return _NAME.sub(lambda name: numbers.setdefault(name[0], f"%{len(numbers)}"), plain)
