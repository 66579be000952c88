"""What to write instead of an API that XLA refuses: a small table kept by hand, each row proven by a compiler test."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = Path(__file__).with_name("replacements.toml")


def replacements() -> dict[str, str]:
    """Canonical API name to the words of its replacement."""
    return {name: each["use"] for name, each in proofs().items()}


def proofs() -> Mapping[str, Mapping[str, Any]]:
    """Canonical API name to `use`, `before`, `after` and `inputs`; the last three are the proof's program."""
    table: Mapping[str, Mapping[str, Any]] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return table
