"""The types of the fixtures that conftest.py provides: a project on disk, and the command line run as users run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


RunXlalint = Callable[..., Ran]
WriteFiles = Callable[[dict[str, str]], Path]
