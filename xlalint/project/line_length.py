"""How long a project lets its lines be, as its formatter or linter is told."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xlalint import toml

DEFAULT = 88
_SHORTEST = 40
# Of pyproject.toml: a tool, and what it calls the limit. The formatters come first.
_TOOLS = (
    ("ruff", "line-length"), ("black", "line-length"), ("pyink", "line-length"), ("yapf", "column_limit"),
    ("flake8", "max-line-length"), ("pycodestyle", "max-line-length"), ("autopep8", "max_line_length"),
)  # fmt: skip
_SECTIONS = (
    ("yapf", "column_limit"),
    ("style", "column_limit"),
    ("flake8", "max-line-length"),
    ("pycodestyle", "max-line-length"),
    ("pep8", "max-line-length"),
    ("FORMAT", "max-line-length"),
)
_INI_FILES = (".style.yapf", "setup.cfg", "tox.ini", ".flake8", ".pylintrc", "pylintrc")


def line_length(path: Path) -> int:
    """The limit for a file: of the nearest folder above it that says one, no further than its repository; else black's 88.

    A configuration that cannot be read says nothing: it is not what this is about.
    """
    for folder in path.absolute().parents:
        for found in _said_in(folder):
            if isinstance(found, int) and found >= _SHORTEST:
                return found
        if (folder / ".git").exists():
            break
    return DEFAULT


def _said_in(folder: Path) -> Iterator[Any]:
    for name in ("ruff.toml", ".ruff.toml"):
        yield _table(folder / name).get("line-length")
    tools = _table(folder / "pyproject.toml").get("tool", {})
    for tool, key in _TOOLS:
        section = tools.get(tool) if isinstance(tools, dict) else None
        if isinstance(section, dict):
            yield section.get(key)
    for name in _INI_FILES:
        yield from _of_sections(folder / name)


def _table(path: Path) -> Mapping[str, Any]:
    try:
        return toml.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError):
        return {}


def _of_sections(path: Path) -> Iterator[int]:
    if not path.is_file():
        return
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return
    for section, key in _SECTIONS:
        said = parser.get(section, key, fallback="")
        number = re.match(r"\s*(\d+)", said)
        if number is not None:
            yield int(number.group(1))
