"""Which frames are the user's: for saying where in a script something happened."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import Path
from types import FrameType


def user_site() -> tuple[str, int]:
    """The real path and line of the innermost user frame on the stack; `("", 0)` without one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return real_path(frame.f_code.co_filename), frame.f_lineno
        frame = frame.f_back
    return "", 0


def is_user_file(filename: str) -> bool:
    """Is it source that the user may have written: no library, no generated code, not ours?"""
    if not filename or filename.startswith("<") or "__autograph_generated_file" in filename:
        return False
    return not real_path(filename).startswith(_library_roots())


def package_of(filename: str) -> str:
    """The installed package that a file belongs to (`keras` for `.../site-packages/keras/x.py`)."""
    path = real_path(filename)
    for root in _site_roots():
        if path.startswith(root):
            return path[len(root) :].partition("/")[0]
    return ""


@functools.lru_cache(maxsize=4096)
def real_path(filename: str) -> str:
    return str(Path(filename).resolve())


@functools.lru_cache(maxsize=1)
def _library_roots() -> tuple[str, ...]:
    ours = str(Path(__file__).resolve().parents[1]) + "/"
    return (*_site_roots(), real_path(sysconfig.get_paths()["stdlib"]) + "/", ours)


@functools.lru_cache(maxsize=1)
def _site_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    # Those that a `.pth` file or the user's own site adds come by sys.path only.
    added = [one for one in sys.path if Path(one).name in ("site-packages", "dist-packages")]
    return tuple(
        sorted({real_path(one) + "/" for one in (paths["purelib"], paths["platlib"], *added)})
    )
