"""Let Python's own files go through an overlay: `open`, `os`, `shutil` and all that is built on them (pathlib, json, NumPy...)."""

from __future__ import annotations

import bz2
import functools
import glob
import importlib
import io
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from xlalint.verify.overlay import Overlay
from xlalint.verify.patching import Patches

_READ = ("stat", "lstat", "access", "readlink", "chdir", "listxattr", "getxattr", "statvfs")
_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Attributes, not contents: of the machine's own files they stay as they are.
_ATTRIBUTES = ("chmod", "lchmod", "chown", "lchown", "utime", "setxattr", "removexattr")


def redirect(overlay: Overlay, patches: Patches) -> None:
    """From now on, until `patches` are undone."""
    replaced = _replacements(overlay)
    originals = {id(getattr(owner, name)): value for owner, name, value in replaced}
    for owner, name, value in replaced:
        _leave_unconverted(value)
        patches.put(owner, name, value)
    for holder in _holders():
        for name, held in list(vars(holder).items()):
            new = originals.get(id(held.__func__ if isinstance(held, staticmethod) else held))
            if new is not None:
                is_static = isinstance(holder, type)
                patches.put(holder, name, staticmethod(new) if is_static else new)


def _holders() -> Iterator[Any]:
    """What has taken functions of `os` and `io` for itself as it was imported; it differs by version of Python."""
    yield bz2
    for module, names in (
        (pathlib, ("_NormalAccessor", "_Globber", "_PathGlobber")),
        (glob, ("_GlobberBase", "_StringGlobber")),
    ):
        yield from (vars(module)[name] for name in names if name in vars(module))


def _leave_unconverted(function: Any) -> None:
    # AutoGraph calls what has this attribute as it is.
    function.autograph_info__ = {"do_not_convert": True}


def _replacements(overlay: Overlay) -> list[tuple[Any, str, Any]]:
    opened = _open(overlay, io.open)
    found: list[tuple[Any, str, Any]] = [
        (importlib.import_module("builtins"), "open", opened),
        (io, "open", opened),
        (os, "open", _os_open(overlay, os.open)),
        (os, "listdir", _listdir(overlay, os.listdir)),
        (os, "scandir", _scandir(overlay, os.scandir)),
        (os, "mkdir", _mkdir(overlay, os.mkdir)),
        (os, "rmdir", _rmdir(overlay, os.rmdir)),
        (os, "remove", _unlink(overlay, os.remove)),
        (os, "unlink", _unlink(overlay, os.unlink)),
        (os, "rename", _rename(overlay, os.rename)),
        (os, "replace", _rename(overlay, os.replace)),
        (os, "symlink", _linked(overlay, os.symlink)),
        (os, "link", _copied(overlay, os.link)),
        (os, "truncate", _truncate(overlay, os.truncate)),
        (shutil, "rmtree", _rmtree(overlay, shutil.rmtree)),
    ]
    for names, replace in ((_READ, _read), (_ATTRIBUTES, _attribute)):
        there = [name for name in names if hasattr(os, name)]  # macOS has others than Linux
        found += [(os, name, replace(overlay, getattr(os, name))) for name in there]
    return found


def _named(call: Callable[[], Any], given: Any, used: Any) -> Any:
    """`call()`, whose error names the file as the program does."""
    try:
        return call()
    except OSError as error:
        if error.filename == used:
            error.filename = given
        raise


def _is_for_us(overlay: Overlay, path: Any, kwargs: Any = ()) -> bool:
    """Not inside the overlay itself, not an open file, not relative to an open folder."""
    if overlay.is_busy or not isinstance(path, (str, bytes, os.PathLike)):
        return False
    return not any(name.endswith("dir_fd") and kwargs[name] is not None for name in kwargs)


def _open(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not isinstance(mode, str) or not _is_for_us(overlay, file):
            return real(file, mode, *args, **kwargs)
        is_new = "w" in mode or ("x" in mode and not overlay.exists(file))
        if is_new or "a" in mode or "+" in mode:
            used = overlay.writing(file, keep=not is_new)
        else:
            used = overlay.reading(file)
        return _named(lambda: real(used, mode, *args, **kwargs), file, used)

    return open


def _os_open(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def open(path: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, path, kwargs):
            return real(path, flags, *args, **kwargs)
        is_refused = bool(flags & os.O_EXCL) and overlay.exists(path)
        if flags & _WRITING_FLAGS and not is_refused:
            used = overlay.writing(path, keep=not flags & os.O_TRUNC)
        else:
            used = overlay.reading(path)
        return _named(lambda: real(used, flags, *args, **kwargs), path, used)

    return open


def _read(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def read(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, path, kwargs):
            return real(path, *args, **kwargs)
        used = overlay.reading(path)
        return _named(lambda: real(used, *args, **kwargs), path, used)

    return read


def _attribute(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def change(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, path, kwargs):
            return real(path, *args, **kwargs)
        used = overlay.reading(path)
        if overlay.covers(used) and overlay.exists(used):
            return None
        return _named(lambda: real(used, *args, **kwargs), path, used)

    return change


def _mkdir(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def mkdir(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, path, kwargs):
            return real(path, *args, **kwargs)
        used = overlay.reading(path) if overlay.exists(path) else overlay.writing(path)
        return _named(lambda: real(used, *args, **kwargs), path, used)

    return mkdir


def _rmdir(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def rmdir(path: Any, **kwargs: Any) -> Any:
        is_ours = _is_for_us(overlay, path, kwargs) and overlay.covers(path)
        if not is_ours or not os.path.isdir(path) or os.listdir(path):
            used = overlay.reading(path) if is_ours else path
            return _named(lambda: real(used, **kwargs), path, used)
        return overlay.remove(path)

    return rmdir


def _unlink(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def unlink(path: Any, **kwargs: Any) -> Any:
        is_ours = _is_for_us(overlay, path, kwargs) and overlay.covers(path)
        is_folder = is_ours and os.path.isdir(path) and not os.path.islink(path)
        if not is_ours or is_folder or not overlay.exists(path):
            used = overlay.reading(path) if is_ours else path
            return _named(lambda: real(used, **kwargs), path, used)
        return overlay.remove(path)

    return unlink


def _rename(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def rename(src: Any, dst: Any, **kwargs: Any) -> Any:
        is_ours = _is_for_us(overlay, src, kwargs) and _is_for_us(overlay, dst, kwargs)
        if not is_ours or not (overlay.covers(src) or overlay.covers(dst)):
            return real(src, dst, **kwargs)
        return overlay.rename(src, dst)

    return rename


def _linked(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def symlink(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, dst, kwargs) or not overlay.covers(dst):
            return real(src, dst, *args, **kwargs)
        if overlay.exists(dst):
            raise FileExistsError(17, "File exists", src, None, dst)
        # In the layer a relative link would lead elsewhere.
        absolute = os.path.join(os.path.dirname(os.path.abspath(dst)), src)
        return real(overlay.reading(absolute), overlay.writing(dst), *args, **kwargs)

    return symlink


def _copied(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def link(src: Any, dst: Any, **kwargs: Any) -> Any:
        if not _is_for_us(overlay, dst, kwargs) or not overlay.covers(dst):
            return real(src, dst, **kwargs)
        shutil.copyfile(src, dst)
        return None

    return link


def _truncate(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def truncate(path: Any, length: int) -> Any:
        used = overlay.writing(path, keep=True) if _is_for_us(overlay, path) else path
        return _named(lambda: real(used, length), path, used)

    return truncate


def _rmtree(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def rmtree(path: Any, *args: Any, **kwargs: Any) -> Any:
        is_ours = _is_for_us(overlay, path, kwargs) and overlay.covers(path)
        if is_ours and os.path.isdir(path) and not os.path.islink(path):
            return overlay.remove(path)
        used = overlay.reading(path) if is_ours else path
        return real(used, *args, **kwargs)

    rmtree.avoids_symlink_attacks = real.avoids_symlink_attacks  # type: ignore[attr-defined]
    return rmtree


def _listdir(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def listdir(path: Any = ".") -> Any:
        given = "." if path is None else path
        layers = overlay.layers(given) if _is_for_us(overlay, given) else None
        if layers is None or isinstance(given, bytes):
            return real(path)
        with os.scandir(given) as entries:
            return [entry.name for entry in entries]

    return listdir


def _scandir(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def scandir(path: Any = ".") -> Any:
        given = "." if path is None else path
        layers = overlay.layers(given) if _is_for_us(overlay, given) else None
        if layers is None or isinstance(given, bytes):
            return real(path)
        upper, lower, gone = layers
        if upper is None and lower is None:
            used = overlay.reading(given)
            return _named(lambda: real(used), given, used)
        found = {}
        if lower is not None:
            with real(given) as entries:
                found = {entry.name: entry for entry in entries if entry.name not in gone}
        if upper is not None:
            with real(upper) as entries:
                found |= {entry.name: _Entry(entry, os.fspath(given)) for entry in entries}
        return _Entries(iter(list(found.values())))

    return scandir


class _Entry:
    """An `os.DirEntry` of the layer, at the path by which the program knows its folder."""

    def __init__(self, entry: os.DirEntry[str], folder: str) -> None:
        self._entry = entry
        self.name = entry.name
        self.path = os.path.join(folder, entry.name)

    def __fspath__(self) -> str:
        return self.path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


class _Entries:
    """What `os.scandir` returns: an iterator that can be closed."""

    def __init__(self, entries: Iterator[Any]) -> None:
        self._entries = entries

    def __iter__(self) -> _Entries:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())
