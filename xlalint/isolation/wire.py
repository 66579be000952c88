"""Records on their way from a child to its parent: one line of JSON each, told from noise by a mark.

The program under test may write to any descriptor, that of the results included: half a line, a flood, JSON of its own.
Each record therefore starts on a new line and with the mark of its child.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

RESULTS = "XLALINT_RESULTS"  # in the child's environment: the path of the pipe
END = "end"  # the `kind` of the record that says the child did all it was asked
PHASE = "xlalint-phase:"  # marks phases on a child's stderr, among what libraries log of their work

_LONGEST_RECORD = 32_000_000
_LONE_SURROGATES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}
_CONTROLS = {code: f"\\x{code:02x}" for code in range(32) if chr(code) not in "\n\t"}
_UNPRINTABLE = {**_LONE_SURROGATES, **_CONTROLS}


def encode(mark: str, record: dict[str, Any], to_json: Callable[[Any], str]) -> bytes:
    return f"\n{mark} {to_json(record)}\n".encode("utf-8", "backslashreplace")


@dataclass(slots=True)
class Records:
    """The records that came so far; `on_record` hears of each as it comes."""

    mark: str
    on_record: Callable[[dict[str, Any]], None] | None = None
    found: list[dict[str, Any]] = field(default_factory=list)
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0

    def feed(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._keep(first)
        for other in others:
            self._take(b"".join(self._parts))
            self._parts, self._size = [], 0
            self._keep(other)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= _LONGEST_RECORD:
            self._parts.append(part)
        else:
            self._parts = []

    def _take(self, line: bytes) -> None:
        mark, _, text = line.partition(b" ")
        if mark != self.mark.encode():
            return
        try:
            record = json.loads(text)
        except ValueError:
            return
        if not isinstance(record, dict) or "kind" not in record:
            return
        if b"\\u" in text:
            record = printable(record)
        self.found.append(record)
        if self.on_record is not None:
            self.on_record(record)


@dataclass(slots=True)
class Tail:
    """The last bytes of a stream, and its lines as they come."""

    longest: int
    on_line: Callable[[str], None] | None = None
    kept: bytearray = field(default_factory=bytearray)
    partial: bytes = b""

    def feed(self, data: bytes) -> None:
        self.kept += data
        if len(self.kept) > 2 * self.longest:
            del self.kept[: -self.longest]
        if self.on_line is None:
            return
        *lines, rest = (self.partial + data).split(b"\n")
        self.partial = rest[-self.longest :]
        for line in lines:
            self.on_line(line.decode("utf-8", "replace"))

    def text(self) -> str:
        return bytes(self.kept[-self.longest :]).decode("utf-8", "replace")


def printable(value: Any) -> Any:
    """The same data with what no report can print (lone surrogates, terminal escapes) spelled out."""
    if isinstance(value, str):
        return value.translate(_UNPRINTABLE)
    if isinstance(value, dict):
        return {key: printable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [printable(one) for one in value]
    return value
