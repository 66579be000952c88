"""Let the files that libraries open in C++ go through an overlay: `tf.io.gfile`, TFRecords, HDF5, SQLite."""

from __future__ import annotations

import functools
import glob
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from xlalint.verify.overlay import Overlay
from xlalint.verify.patching import Patches

_Move = Callable[[Any], Any]

# Of tensorflow.python.lib.io.file_io, which `tf.io.gfile` names anew.
_READERS = ("file_exists_v2", "is_directory_v2", "stat_v2")
_RECORDS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")


def redirect_tensorflow(overlay: Overlay, patches: Patches, tf: Any) -> None:
    """Files by `tf.io.gfile`, TFRecords, and datasets that are saved or cached."""
    to_write = functools.partial(overlay.writing, parents=True)
    file_io = importlib.import_module("tensorflow.python.lib.io.file_io")
    _redirect_gfile(overlay, patches, file_io)
    patches.wrap(tf.io.TFRecordWriter, "__init__", lambda real: _moved(real, 1, to_write))
    patches.wrap(tf.data.Dataset, "save", lambda real: _moved(real, 1, to_write))
    patches.wrap(tf.data.Dataset, "cache", lambda real: _moved(real, 1, _only_if_complete(overlay)))
    patches.wrap(
        tf.data.Dataset, "load", lambda real: staticmethod(_moved(real, 0, overlay.reading))
    )
    for name in _RECORDS:
        patches.wrap(
            getattr(tf.data, name), "__init__", lambda real: _moved(real, 1, _each(overlay))
        )
    _wrap_function(patches, tf.io, "write_file", lambda real: _moved(real, 0, to_write))
    _wrap_function(patches, tf.io, "read_file", lambda real: _read_file(overlay, tf, real))


def redirect_h5py(overlay: Overlay, patches: Patches) -> None:
    """`h5py.File`, by its mode."""

    def wrap(real: Any) -> Any:
        @functools.wraps(real)
        def __init__(self: Any, name: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> None:  # noqa: N807
            is_path = isinstance(name, (str, bytes, os.PathLike))
            real(
                self, _by_mode(overlay, name, str(mode)) if is_path else name, mode, *args, **kwargs
            )

        return __init__

    patches.wrap(importlib.import_module("h5py").File, "__init__", wrap)


def redirect_sqlite3(overlay: Overlay, patches: Patches) -> None:
    """`sqlite3.connect`, which may write: it gets a copy."""

    def wrap(real: Any) -> Any:
        def is_file(path: Any) -> bool:
            return os.fspath(path) not in ("", ":memory:") and not str(path).startswith("file:")

        def move(path: Any) -> Any:
            return overlay.writing(path, keep=True) if is_file(path) else path

        return _moved(real, 0, move)

    patches.wrap(importlib.import_module("sqlite3"), "connect", wrap)


def _by_mode(overlay: Overlay, path: Any, mode: str) -> Any:
    if "w" in mode or (mode in ("x", "w-") and not overlay.exists(path)):
        return overlay.writing(path)
    if "a" in mode or "+" in mode:
        return overlay.writing(path, keep=True)
    return overlay.reading(path)


def _moved(real: Any, index: int, move: _Move) -> Any:
    """`real` with the path at `index` moved (by position, or under that parameter's name)."""
    try:
        name = list(inspect.signature(real).parameters)[index]
    except (ValueError, TypeError, IndexError):
        name = ""

    @functools.wraps(real)
    def moved(*args: Any, **kwargs: Any) -> Any:
        if len(args) > index:
            args = (*args[:index], _if_path(args[index], move), *args[index + 1 :])
        elif name in kwargs:
            kwargs[name] = _if_path(kwargs[name], move)
        return real(*args, **kwargs)

    return moved


def _if_path(value: Any, move: _Move) -> Any:
    return move(value) if isinstance(value, (str, bytes, os.PathLike, list, tuple)) else value


def _only_if_complete(overlay: Overlay) -> _Move:
    """The file of a cache where there is one; else memory: a run that stops early leaves a cache that nobody can use."""
    return lambda path: path if path and overlay.exists(f"{os.fspath(path)}.index") else ""


def _each(overlay: Overlay) -> _Move:
    def move(paths: Any) -> Any:
        if isinstance(paths, (list, tuple)):
            return type(paths)([_if_path(path, overlay.reading) for path in paths])
        return overlay.reading(paths)

    return move


def _wrap_function(patches: Patches, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    real = getattr(owner, name)
    patches.put(owner, name, wrap(real))


def _read_file(overlay: Overlay, tf: Any, real: Any) -> Any:
    """`tf.io.read_file`; in a graph (a map of tf.data) the path is known when it runs."""

    def where(path: Any) -> bytes:
        return os.fsencode(overlay.reading(os.fsdecode(path)))

    @functools.wraps(real)
    def read_file(filename: Any, name: Any = None) -> Any:
        if isinstance(filename, (str, bytes, os.PathLike)):
            filename = overlay.reading(filename)
        elif overlay.is_used and tf.is_tensor(filename):
            if tf.executing_eagerly():
                filename = where(filename.numpy())
            else:
                shape = filename.shape
                filename = tf.numpy_function(where, [filename], tf.string)
                filename.set_shape(shape)
        return real(filename, name)

    return read_file


def _redirect_gfile(overlay: Overlay, patches: Patches, file_io: Any) -> None:
    to_write = functools.partial(overlay.writing, parents=True)
    put = functools.partial(_put_everywhere, patches, file_io)
    patches.wrap(file_io.FileIO, "__init__", lambda real: _opened(overlay, real))
    for name in _READERS:
        put(name, lambda real: _moved(real, 0, overlay.reading))
    for name in ("create_dir_v2", "recursive_create_dir_v2"):
        put(name, lambda real: _moved(real, 0, to_write))
    put("copy_v2", lambda real: _moved(_moved(real, 0, overlay.reading), 1, to_write))
    for name in ("delete_file_v2", "delete_recursively_v2"):
        put(name, lambda real: _deleted(overlay, real))
    put("rename_v2", lambda real: _renamed(overlay, real))
    put("list_directory_v2", lambda real: _listed(overlay, real))
    put("get_matching_files_v2", lambda real: _matching(overlay, real))


def _put_everywhere(patches: Patches, file_io: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    """`tf.io.gfile.exists` is `file_io.file_exists_v2` by another name."""
    real = getattr(file_io, name, None)
    if real is None:
        return
    value = wrap(real)
    patches.put(file_io, name, value)
    tf = sys.modules["tensorflow"]
    for namespace in (tf.io.gfile, tf.compat.v1.io.gfile, tf.compat.v2.io.gfile):
        for public, held in list(vars(namespace).items()):
            if held is real:
                patches.put(namespace, public, value)


def _opened(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def __init__(self: Any, name: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:  # noqa: N807
        is_path = isinstance(name, (str, bytes, os.PathLike)) and isinstance(mode, str)
        real(self, _by_mode(overlay, name, mode) if is_path else name, mode, *args, **kwargs)

    return __init__


def _deleted(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def delete(path: Any) -> Any:
        if overlay.covers(path) and overlay.exists(path):
            return overlay.remove(path)
        return real(overlay.reading(path))

    return delete


def _renamed(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def rename(src: Any, dst: Any, overwrite: bool = False) -> Any:
        is_ours = overlay.covers(src) or overlay.covers(dst)
        if is_ours and overlay.exists(src) and (overwrite or not overlay.exists(dst)):
            return overlay.rename(src, dst)
        return real(overlay.reading(src), overlay.reading(dst), overwrite)

    return rename


def _listed(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def listdir(path: Any) -> Any:
        layers = overlay.layers(path)
        if layers is None:
            return real(path)
        upper, lower, gone = layers
        below = [] if lower is None else [one for one in real(path) if one.strip("/") not in gone]
        above = [] if upper is None else real(upper)
        found = {one.rstrip("/"): one for one in (*below, *above)}
        return [found[name] for name in sorted(found)] if found else real(upper or path)

    return listdir


def _matching(overlay: Overlay, real: Any) -> Any:
    @functools.wraps(real)
    def matching(pattern: Any) -> Any:
        patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
        if not overlay.is_used or any("://" in str(one) for one in patterns):
            return real(pattern)
        return sorted(path for one in patterns for path in glob.glob(os.fspath(one)))

    return matching
