"""The catalogue's file: JSON with one row per line, sorted, so that two versions can be compared with diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def render(catalog: Mapping[str, Any]) -> str:
    """The text of a catalogue; the same for the same facts."""
    parts = [f"{json.dumps(key)}:{_value(catalog[key])}" for key in sorted(catalog)]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(catalog: Mapping[str, Any], folder: Path) -> Path:
    """Write `MINOR.json` into `folder`, which is made where it is not there, by replacing the file at once."""
    minor = ".".join(catalog["tensorflow"].split(".")[:2])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{minor}.json"
    draft = path.with_suffix(".json.part")
    draft.write_text(render(catalog), encoding="utf-8")
    draft.replace(path)
    return path


def _value(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _compact(value)
    rows = [f"{json.dumps(name)}:{_compact(value[name])}" for name in sorted(value)]
    return "{\n" + ",\n".join(rows) + "\n}"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
