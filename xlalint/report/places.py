"""Where something is, as a reader of the report sees it."""

from __future__ import annotations

import re
from pathlib import Path

_INSTALLED = re.compile(r"^.*/(?:site|dist)-packages/")


def shown(path: str, line: int, column: int, folder: Path) -> str:
    """For the reader: relative to the folder, an installed file by its package."""
    shown = _INSTALLED.sub("", relative(path, folder))
    return shown + (f":{line}" if line else "") + (f":{column}" if column else "")


def relative(path: str, folder: Path) -> str:
    try:
        return str(Path(path).relative_to(folder.resolve()))
    except ValueError:
        return path
