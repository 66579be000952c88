"""What distributions say of themselves in the folder that they lie in: installed, unpacked from a wheel, or a source archive.

`NAME-VERSION.dist-info` stands beside the packages of a wheel, `NAME.egg-info` beside those of a checkout that was installed, and
`PKG-INFO` at the top of a source archive.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_REQUIRES = "Requires-Dist:"
# What lists the files of a distribution.
_FILES = ("RECORD", "SOURCES.txt")


def requirements(folder: Path, package: str = "") -> Iterator[tuple[str, str]]:
    """What the distribution that `package` belongs to asks for, and the file that says so. Without a package: the only distribution there.

    Where many are installed side by side, each speaks for its own packages alone.
    """
    yield from _headers(folder / "PKG-INFO", "PKG-INFO")
    found = sorted((*folder.glob("*.dist-info"), *folder.glob("*.egg-info")))
    if package:
        found = [each for each in found if _holds(each, package)]
    if len(found) == 1:
        yield from _headers(found[0] / "METADATA", f"{found[0].name}/METADATA")
        yield from _sections(found[0] / "requires.txt", f"{found[0].name}/requires.txt")


def has_any(folder: Path) -> bool:
    """Whether a distribution lies in a folder."""
    return any(folder.glob("*.dist-info")) or any(folder.glob("*.egg-info"))


def _headers(path: Path, where: str) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        if not line:
            return  # the description follows
        if line.startswith(_REQUIRES):
            yield line.removeprefix(_REQUIRES), where


def _sections(path: Path, where: str) -> Iterator[tuple[str, str]]:
    """Requirements a line, those of extras below the extra's name in brackets."""
    section = ""
    for line in _lines(path):
        if line.startswith("["):
            section = f" {line}"
        else:
            yield line, where + section


def _holds(information: Path, package: str) -> bool:
    """Whether a package is one of a distribution's."""
    if package in _lines(information / "top_level.txt"):
        return True
    files = (line for name in _FILES for line in _lines(information / name))
    return any(line.startswith(f"{package}/") for line in files)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
