"""The messages that are known, from `rules/errors.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from xlalint import data, toml

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[a-z]{4,}")
_NEAR = 0.25


@dataclass(frozen=True, slots=True)
class Known:
    """A kind of message. `code` is the rule it belongs to, None where there is none, `variant` which of its
    findings is about this; `instead` what to write then; `examples` are messages as they were raised."""

    name: str
    pattern: re.Pattern[str]
    says: str
    code: str | None
    variant: str
    instead: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A message that is known: what it says with its names filled in, and those names."""

    known: Known
    says: str
    names: Mapping[str, str]


@cache
def all_known() -> tuple[Known, ...]:
    """Every kind of message, the most particular first."""
    raw = toml.loads((data.root() / "errors.toml").read_text(encoding="utf-8"))["error"]
    return tuple(
        Known(
            name=entry["name"],
            pattern=re.compile(entry["pattern"]),
            says=entry["says"].strip(),
            code=entry.get("code"),
            variant=entry.get("variant", ""),
            instead=entry.get("instead", "").strip(),
            examples=tuple(entry["examples"]),
        )
        for entry in raw
    )


def find(*texts: str) -> Match | None:
    """What the first of `texts` (readings of one message) that is known says; None where none is."""
    for known in all_known():
        for text in texts:
            match = known.pattern.search(text)
            if match is not None:
                return _filled(known, match)
    return None


def nearest(text: str) -> str | None:
    """The known message most like a text that is not known: its first line; None where none is like it."""
    words = set(_WORD.findall(text.lower()))
    best, most = None, _NEAR
    for known in all_known():
        for example in known.examples:
            own = set(_WORD.findall(example.lower()))
            likeness = len(words & own) / max(1, min(len(words), len(own)))
            if likeness > most and len(words & own) > 2:
                best, most = example.splitlines()[0], likeness
    return best


def _filled(known: Known, match: re.Match[str]) -> Match:
    # `op2` is another way to name `op`.
    names = {name.rstrip("234"): value for name, value in match.groupdict().items() if value}
    says = _PLACEHOLDER.sub(lambda m: names.get(m.group(1), "it"), known.says)
    return Match(known, says.replace(" (it)", ""), names)
