"""Send what a script saves to a temporary place: checkpoints, saved models, logs for TensorBoard, and files of its own.

A run of a few steps must not overwrite what a real run left behind. The temporary place is an overlay (`overlay`): what the
script saved it can load again. Python's own files go there by `python_files`, those that a library opens by itself by
`library_files`; here are the calls that save a model, a checkpoint or logs, which make their folders as they go.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from xlalint.verify import hooks, library_files, python_files
from xlalint.verify.overlay import Overlay, kept_folders
from xlalint.verify.patching import Patches


class Outputs:
    """Sends what a program writes to an overlay, from `start` to `undo`.

    `root` is the overlay's folder. Without one a temporary folder is made, and removed by `undo` or when the process exits.
    `project` folders are covered wherever they are.
    """

    def __init__(self, root: Path | None = None, project: Iterable[Path] = ()) -> None:
        self._is_temporary = root is None
        root = Path(tempfile.mkdtemp(prefix="xlalint-outputs-")) if root is None else root
        self.overlay = Overlay(root, kept_folders(), project)
        self._patches = Patches()
        if self._is_temporary:
            atexit.register(self._remove)

    @property
    def root(self) -> Path:
        """Stands in for `/`."""
        return Path(self.overlay.root)

    def start(self) -> None:
        """Watch Python's files from now on, and each library's own ways once it has been imported."""
        python_files.redirect(self.overlay, self._patches)
        hooks.install(
            {
                "tensorflow": self._patch_tensorflow,
                "h5py": functools.partial(library_files.redirect_h5py, self.overlay, self._patches),
                "sqlite3": functools.partial(
                    library_files.redirect_sqlite3, self.overlay, self._patches
                ),
                "keras": functools.partial(self._patch_keras, "keras"),
                "tf_keras": functools.partial(self._patch_keras, "tf_keras"),
                **{
                    module: functools.partial(self._patch_pretrained, module, name)
                    for module, name in _PRETRAINED.items()
                },
            }
        )

    def to_write(self, path: Any) -> Any:
        """The temporary path for one that the script writes; its directory exists afterwards."""
        if not isinstance(path, (str, os.PathLike)):
            return path  # an open file, a writer: not a path to send elsewhere
        return str(self.overlay.writing(os.path.expanduser(os.fspath(path)), parents=True))

    def to_read(self, path: Any) -> Any:
        """The temporary path, where this run wrote it (a checkpoint's path is the prefix of its files); else the script's own."""
        if not isinstance(path, (str, os.PathLike)):
            return path
        expanded = os.path.expanduser(os.fspath(path))
        used = self.overlay.reading_prefix(expanded)
        return path if used == expanded else str(used)

    def told(self, folder: Path) -> str:
        """What was written, for the reader, with paths below `folder` relative to it; empty where nothing was."""
        tops: dict[str, int] = {}
        for path in self.overlay.written():
            below = os.path.relpath(path, folder)
            top = path if below.startswith("..") else below.partition("/")[0] + "/" * ("/" in below)
            tops[top] = tops.get(top, 0) + 1
        if not tops:
            return ""
        named = [f"{top} ({count} files)" if count > 1 else top for top, count in tops.items()]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return (
            f"what the program wrote went to a temporary place: {', '.join(named[:_NAMED])}{more}"
        )

    def undo(self) -> None:
        """Give the libraries their own functions back; what went to a temporary directory is gone."""
        self._patches.undo()
        self._remove()

    def _remove(self) -> None:
        if self._is_temporary:
            self.overlay.clear()

    def _patch_tensorflow(self) -> None:
        tf = importlib.import_module("tensorflow")
        library_files.redirect_tensorflow(self.overlay, self._patches, tf)
        self._redirect(tf.train.Checkpoint, "save", "file_prefix", self.to_write)
        self._redirect(tf.train.Checkpoint, "write", "file_prefix", self.to_write)
        self._redirect(tf.train.Checkpoint, "restore", "save_path", self.to_read)
        self._redirect(tf.train.Checkpoint, "read", "save_path", self.to_read)
        self._redirect(tf.train, "latest_checkpoint", "checkpoint_dir", self.to_read)
        self._redirect(tf.saved_model, "save", "export_dir", self.to_write)
        self._redirect(tf.saved_model, "load", "export_dir", self.to_read)
        self._redirect(tf.summary, "create_file_writer", "logdir", self.to_write)
        self._redirect(tf.profiler.experimental, "start", "logdir", self.to_write)
        self._patches.wrap(tf.train.CheckpointManager, "save", self._manager_save)

    def _manager_save(self, save: Any) -> Any:
        # The manager's own save deletes the oldest checkpoints, and those may be the user's.
        @functools.wraps(save)
        def save_elsewhere(manager: Any, *args: Any, **kwargs: Any) -> Any:
            name = getattr(manager, "_checkpoint_name", "ckpt")
            path = manager.checkpoint.save(str(Path(manager.directory) / name))
            manager._latest_checkpoint = path
            return path

        return save_elsewhere

    def _patch_keras(self, library: str) -> None:
        keras = importlib.import_module(library)
        callbacks = importlib.import_module(f"{library}.callbacks")
        models = importlib.import_module(f"{library}.models")
        for name, parameter in _CALLBACK_PATHS.items():
            self._redirect(getattr(callbacks, name, None), "__init__", parameter, self.to_write)
        for name in ("save", "save_weights", "export"):
            self._redirect(keras.Model, name, "filepath", self.to_write)
        self._redirect(keras.Model, "load_weights", "filepath", self.to_read)
        self._redirect_function(library, models, "save_model", self.to_write)
        self._redirect_function(library, models, "load_model", self.to_read)

    def _patch_pretrained(self, module: str, name: str) -> None:
        owner = getattr(importlib.import_module(module), name, None)
        self._redirect(owner, "save_pretrained", "save_directory", self.to_write)

    def _redirect(self, owner: Any, name: str, parameter: str, move: Callable[[Any], Any]) -> None:
        self._patches.wrap(owner, name, lambda real: _with_path_moved(real, parameter, move))

    def _redirect_function(
        self, library: str, module: Any, name: str, move: Callable[[Any], Any]
    ) -> None:
        real = getattr(module, name, None)
        if real is not None:
            moved = _with_path_moved(real, "filepath", move)
            self._patches.put_wherever_named(real, name, moved, [library])


_NAMED = 6  # files and folders that a report names

_CALLBACK_PATHS = {
    "ModelCheckpoint": "filepath",
    "TensorBoard": "log_dir",
    "CSVLogger": "filename",
    "BackupAndRestore": "backup_dir",
}

_PRETRAINED = {
    "transformers.modeling_tf_utils": "TFPreTrainedModel",
    "transformers.tokenization_utils_base": "PreTrainedTokenizerBase",
    "transformers.configuration_utils": "PretrainedConfig",
}


def _with_path_moved(real: Any, parameter: str, move: Callable[[Any], Any]) -> Any:
    signature = inspect.signature(real)
    if parameter not in signature.parameters:
        # `Model.save(*args, **kwargs)` and its like take the path first, after self.
        return _with_first_path_moved(real, move)

    @functools.wraps(real)
    def moved(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return real(*args, **kwargs)  # the library words its own complaint
        default = signature.parameters[parameter].default
        if parameter in bound.arguments:
            bound.arguments[parameter] = move(bound.arguments[parameter])
        elif isinstance(default, str):
            bound.arguments[parameter] = move(default)
        return real(*bound.args, **bound.kwargs)

    return moved


def _with_first_path_moved(real: Any, move: Callable[[Any], Any]) -> Any:
    @functools.wraps(real)
    def moved(*args: Any, **kwargs: Any) -> Any:
        for index, value in enumerate(args):
            if isinstance(value, (str, os.PathLike)):
                return real(*args[:index], move(value), *args[index + 1 :], **kwargs)
        if "filepath" in kwargs:
            kwargs["filepath"] = move(kwargs["filepath"])
        return real(*args, **kwargs)

    return moved
