"""The shipped catalogues, one file per TensorFlow minor: which there are, and reading them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xlalint import data
from xlalint.semantics.catalog.catalog import Catalog

SCHEMA = 2

_MINOR = re.compile(r"(\d+)\.(\d+)(?:\.|$|[a-z-])")


class CatalogError(Exception):
    """There is no catalogue for the version asked for, or its file cannot be read. The message is for the reader."""


def available() -> tuple[str, ...]:
    """The TensorFlow minors that have a catalogue, oldest first: `("2.12", "2.15", ...)`."""
    return tuple(sorted((path.stem for path in _folder().glob("*.json")), key=_order))


def load(minor: str) -> Catalog:
    """The catalogue of a TensorFlow version (`"2.21"`, or `"2.21.0"`).

    Raises CatalogError when there is none, naming those that there are, or when its file cannot be read.
    """
    match = _MINOR.match(minor)
    path = _folder() / f"{match[1]}.{match[2]}.json" if match else None
    if path is None or not path.is_file():
        shipped = ", ".join(available()) or "none"
        raise CatalogError(
            f"no catalogue for TensorFlow {minor}; there is one for: {shipped}. "
            "Choose one of these with --tf-version, or generate it: python -m tools.catalog"
        )
    return _read(path)


def nearest(version: str) -> str:
    """The shipped minor to use for `version`: itself, else the newest that is older, else the oldest of all.

    Raises CatalogError when no catalogue is shipped at all, or when `version` is not a version.
    """
    minors = available()
    if not minors or _MINOR.match(version) is None:
        raise CatalogError(
            f"no catalogue for TensorFlow {version}; there is one for: {', '.join(minors)}"
        )
    older = [minor for minor in minors if _order(minor) <= _order(version)]
    return older[-1] if older else minors[0]


def _read(path: Path) -> Catalog:
    try:
        raw = _sections(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"{path} cannot be read ({error}); install xlalint again, or generate it: python -m tools.catalog"
        ) from error
    if raw.get("schema") != SCHEMA:
        raise CatalogError(
            f"{path} has schema {raw.get('schema')}, this xlalint reads {SCHEMA}; generate it: python -m tools.catalog"
        )
    return Catalog(raw)


def _sections(text: str) -> dict[str, Any]:
    """The parts of a catalogue, whose rows are not parsed yet: of several thousand, a run needs a few hundred.

    A catalogue has one row per line, and each part that holds rows begins and ends on a line of its own. Raises
    ValueError for anything else.
    """
    lines = text.split("\n")
    if lines[0] != "{" or lines[-2:] != ["}", ""]:
        raise ValueError("the file is cut off, or not a catalogue")
    parts: dict[str, Any] = {}
    at = 1
    while at < len(lines) - 2:
        key, _, value = lines[at].partition(":")
        if value == "{":
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("}"))
            parts[json.loads(key)] = _Rows(lines[at + 1 : end])
            at = end + 1
        else:
            parts[json.loads(key)] = json.loads(value.removesuffix(","))
            at += 1
    return parts


def _folder() -> Path:
    return data.root() / "catalog"


def _order(version: str) -> tuple[int, int]:
    match = _MINOR.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


class _Rows(Mapping[str, Any]):
    """Rows by name, each of which is parsed when it is asked for. Raises CatalogError for one that is not JSON."""

    __slots__ = ("_text",)

    def __init__(self, lines: Iterable[str]) -> None:
        """Of lines such as `"name":{...},`, as `tools/catalog` writes them."""
        self._text: dict[str, str] = {}
        for line in lines:
            name, colon, value = line[1:].partition('":')
            if not colon or line[0] != '"':
                raise ValueError(f"not a row: {line[:40]}")
            self._text[name] = value

    def __getitem__(self, name: str) -> Any:
        text = self._text[name]
        try:
            return json.loads(text[:-1] if text[-1] == "," else text)
        except ValueError as error:
            raise CatalogError(
                f"the catalogue's row of {name} cannot be read ({error}); install xlalint again"
            ) from error

    def __contains__(self, name: object) -> bool:
        return name in self._text

    def __iter__(self) -> Iterator[str]:
        return iter(self._text)

    def __len__(self) -> int:
        return len(self._text)
