"""Patterns that name files, in the notation of .gitignore, relative to a folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@lru_cache(maxsize=256)
def compiled(lines: tuple[str, ...]) -> GitIgnoreSpec:
    """The matcher of `lines`, in order, later lines overriding earlier ones."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def matches(pattern: str, path: Path, root: Path) -> bool:
    """Whether `pattern`, counted from `root`, names the file at `path` or a folder above it (both absolute)."""
    return verdict((pattern,), path, root) is True


def verdict(lines: tuple[str, ...], path: Path, root: Path, is_folder: bool = False) -> bool | None:
    """What `lines` of the folder `root` say of `path`: True to leave it out, False to keep it (`!`), None for nothing."""
    try:
        relative = path.relative_to(root).as_posix()
    except ValueError:
        return None
    if relative == ".":
        return None
    result = compiled(lines).check_file(relative + "/" if is_folder else relative)
    return result.include
