"""A layer of files over the machine's own: what is written lands in it, what is read comes from it first.

A run of a few steps must not overwrite what a real run left behind, and must find again what it wrote itself. The layer is a
folder that mirrors the paths that a program names (`/data/x` lies at `ROOT/data/x`, `gs://bucket/x` at `ROOT/gs/bucket/x`); what
the program removes is remembered as gone, and stays on the disk.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Not files at all, or the machine's own.
_DEVICES = ("/dev", "/proc", "/sys", "/run")
# What libraries download and keep for all projects; a hidden folder of the home, such as ~/.keras, is one too.
_KEPT_AT_HOME = ("tensorflow_datasets", "nltk_data", "scikit_learn_data", "Library")


def _alone(
    method: Callable[Concatenate[Overlay, _P], _R],
) -> Callable[Concatenate[Overlay, _P], _R]:
    """Let the method see the machine's own files: what replaces `os` and `open` asks `is_busy`."""

    @functools.wraps(method)
    def alone(self: Overlay, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        was_busy, self._local.busy = self.is_busy, True
        try:
            return method(self, *args, **kwargs)
        finally:
            self._local.busy = was_busy

    return alone  # type: ignore[return-value]


class Overlay:
    """Says where to read and write each path.

    `root` must be a folder of its own. What is in a `spared` folder is left as it is, but for `covered` folders in it.
    """

    def __init__(
        self, root: Path, spared: Iterable[Path] = (), covered: Iterable[Path] = ()
    ) -> None:
        self._local = threading.local()
        self.root = os.path.realpath(root)
        self._spared = (self.root, *{os.path.realpath(path) for path in spared})
        self._covered = tuple({os.path.realpath(path) for path in covered})
        self._gone: set[str] = set()
        self._folders: dict[str, str] = {}
        self.is_used = False

    @property
    def is_busy(self) -> bool:
        """Is this thread inside the overlay itself?"""
        return getattr(self._local, "busy", False)

    @_alone
    def covers(self, path: Any) -> bool:
        """Would what is written at `path` go to the layer?"""
        return self._key(path) is not None

    @_alone
    def reading(self, path: Any) -> Any:
        """Where to read `path`: in the layer where the program wrote (or removed) it, else `path` itself.

        A folder that is in both is the machine's own; `entries` has all that is in it.
        """
        key = self._key(path) if self.is_used else None
        if key is None:
            return path
        mirror = self._mirror(key)
        is_hidden = self._is_hidden(key)
        if os.path.lexists(mirror):
            is_in_both = not is_hidden and os.path.isdir(mirror) and os.path.isdir(key)
            return path if is_in_both else mirror
        return mirror if is_hidden else path

    @_alone
    def reading_prefix(self, path: Any) -> Any:
        """`reading` for the common beginning of several files' paths, as checkpoints have it."""
        key = self._key(path) if self.is_used else None
        if key is not None:
            folder, name = os.path.split(self._mirror(key))
            if os.path.isdir(folder) and any(
                one.startswith(f"{name}.") for one in os.listdir(folder)
            ):
                return os.path.join(folder, name)
        return self.reading(path)

    @_alone
    def writing(self, path: Any, *, keep: bool = False, parents: bool = False) -> Any:
        """Where to write `path`. `keep` brings along what it holds; `parents` makes its folders, which must exist otherwise."""
        key = self._key(path)
        if key is None:
            return path
        mirror = self._mirror(key)
        if not os.path.lexists(mirror):
            if not self._is_hidden(key) and os.path.isdir(key) and not parents:
                return path  # opening a folder is the program's error, and harmless
            if parents or self._visible(os.path.dirname(key)) is not None:
                self._make_parents(mirror)
            if keep and self._visible(key) == key and os.path.isfile(key):
                shutil.copy2(key, mirror)
        self.is_used = True
        return mirror

    @_alone
    def exists(self, path: Any) -> bool:
        key = self._key(path)
        return os.path.lexists(path) if key is None else self._visible(key) is not None

    @_alone
    def remove(self, path: Any) -> None:
        """Let a file, or a folder with all that is in it, be gone for the program."""
        key = self._key(path)
        if key is not None:
            self._remove(key)

    @_alone
    def rename(self, source: Any, target: Any) -> None:
        """Move a file or folder, onto an existing file too. Raises FileNotFoundError."""
        source_key, target_key = self._key(source), self._key(target)
        origin = os.fspath(source) if source_key is None else self._visible(source_key)
        if origin is None:
            raise FileNotFoundError(2, "No such file or directory", os.fspath(source))
        if target_key is None:
            goal = os.fspath(target)
        else:
            goal = self._mirror(target_key)
            if not os.path.isdir(goal):
                self._remove(target_key)
            self._make_parents(goal)
        if source_key is None:
            shutil.move(origin, goal)
        else:
            self._bring(source_key, goal)
            self._remove(source_key)
        self.is_used = True

    @_alone
    def layers(self, folder: Any) -> tuple[str | None, str | None, frozenset[str]] | None:
        """Where the entries of a folder are: in the layer, on the machine (None for neither), and names that are gone there.

        None where the machine's own folder is all there is.
        """
        key = self._key(folder) if self.is_used else None
        if key is None:
            return None
        mirror = self._mirror(key)
        upper = mirror if os.path.isdir(mirror) else None
        lower = None if self._is_hidden(key) or not os.path.isdir(key) else key
        gone = frozenset(os.path.basename(one) for one in self._gone if os.path.dirname(one) == key)
        return None if upper is None and lower is not None and not gone else (upper, lower, gone)

    @_alone
    def written(self) -> tuple[str, ...]:
        """The paths of the files in the layer as the program named them, sorted."""
        found = []
        for folder, _, names in os.walk(self.root):
            inner = folder[len(self.root) :]
            found += [f"{inner}/{name}" for name in names]
        return tuple(sorted(found))

    @_alone
    def clear(self) -> None:
        """Remove the layer's files; from now on the machine's own are what there is."""
        shutil.rmtree(self.root, ignore_errors=True)
        self._gone.clear()
        self.is_used = False

    # Keys: absolute paths with the links of their folders resolved, so that every name of a file is the same one

    def _key(self, path: Any) -> str | None:
        """None for what stays where it is: open files, devices, caches, temporary folders, the layer itself."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        text = os.fsdecode(path)
        scheme, separator, rest = text.partition("://")
        if separator:
            return os.path.normpath(f"/{scheme}/{rest}")
        try:
            absolute = os.path.abspath(text)
        except OSError:  # the working directory is gone
            return None
        folder, name = os.path.split(absolute)
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = os.path.realpath(folder)
        key = os.path.join(known, name)
        return None if not name or self._is_spared(key) else key

    def _is_spared(self, key: str) -> bool:
        return _longest_around(key, self._spared) > _longest_around(key, self._covered)

    def _mirror(self, key: str) -> str:
        return self.root + key

    def _is_hidden(self, key: str) -> bool:
        """Was it, or a folder that holds it, removed?"""
        while self._gone and key not in self._gone:
            parent = os.path.dirname(key)
            if parent == key:
                return False
            key = parent
        return bool(self._gone)

    def _visible(self, key: str) -> str | None:
        """Where the path's file or folder is; None where the program must see none."""
        if os.path.lexists(self._mirror(key)):
            return self._mirror(key)
        return key if not self._is_hidden(key) and os.path.lexists(key) else None

    def _make_parents(self, mirror: str) -> None:
        os.makedirs(os.path.dirname(mirror), exist_ok=True)

    def _remove(self, key: str) -> None:
        mirror = self._mirror(key)
        if os.path.isdir(mirror) and not os.path.islink(mirror):
            shutil.rmtree(mirror, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(mirror)
        if os.path.lexists(key):
            self._gone.add(key)
            self.is_used = True

    def _bring(self, key: str, goal: str) -> None:
        """Put all that is visible at `key` at `goal`."""
        origin = self._visible(key)
        if origin is None:
            return
        if not os.path.isdir(origin) or os.path.islink(origin):
            put = shutil.move if origin != key else shutil.copy2
            put(origin, goal)
            return
        os.makedirs(goal, exist_ok=True)
        names = set(os.listdir(origin))
        if not self._is_hidden(key) and os.path.isdir(key):
            names.update(os.listdir(key))
        for name in names:
            self._bring(os.path.join(key, name), os.path.join(goal, name))


def _longest_around(key: str, folders: Iterable[str]) -> int:
    """The length of the innermost of `folders` that holds `key`, 0 for none."""
    return max(
        (len(one) for one in folders if key == one or key.startswith(one.rstrip(os.sep) + os.sep)),
        default=0,
    )


def kept_folders() -> Iterator[Path]:
    """Folders in which a program's writes stay: devices, installed packages, libraries' caches, this process's temporary one."""
    yield from map(Path, _DEVICES)
    yield from (Path(prefix) for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix})
    yield Path(tempfile.gettempdir())
    home = Path.home()
    yield from (home / name for name in _KEPT_AT_HOME)
    yield from (Path(os.environ[name]) for name in _CACHE_VARIABLES if os.environ.get(name))
    with contextlib.suppress(OSError):
        yield from (entry for entry in home.iterdir() if entry.name.startswith("."))


_CACHE_VARIABLES = ("KERAS_HOME", "TFHUB_CACHE_DIR", "HF_HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR")
