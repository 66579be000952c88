"""Send what a script saves to a temporary place: checkpoints, saved models, logs for TensorBoard.

A run of a few steps must not overwrite what a real run left behind. The temporary place mirrors the
paths that the script names (`gs://bucket/x` too), so what the script saved it can load again.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from xlalint.verify.patching import Patches


class Outputs:
    """Where the run's files go: `root` stands in for `/`.

    Without a `root`, a temporary directory is made when it is first needed, and removed by `undo` or
    when the process exits.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root.resolve() if root is not None else None
        self._is_temporary = root is None
        self._patches = Patches()

    @property
    def root(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="xlalint-outputs-")).resolve()
            atexit.register(self._remove)
        return self._root

    def on_import(self) -> Mapping[str, Callable[[], None]]:
        """What to do when each library has been imported; for `hooks.install`."""
        return {
            "tensorflow": self._patch_tensorflow,
            "keras": functools.partial(self._patch_keras, "keras"),
            "tf_keras": functools.partial(self._patch_keras, "tf_keras"),
            **{
                module: functools.partial(self._patch_pretrained, module, name)
                for module, name in _PRETRAINED.items()
            },
        }

    def to_write(self, path: Any) -> Any:
        """The temporary path for one that the script writes; its directory exists afterwards."""
        if not isinstance(path, (str, os.PathLike)):
            return path  # an open file, a writer: not a path to send elsewhere
        temporary = self._mirror(os.fspath(path))
        temporary.parent.mkdir(parents=True, exist_ok=True)
        return str(temporary)

    def to_read(self, path: Any) -> Any:
        """The temporary path, where this run wrote it; else the script's own."""
        if self._root is None or not isinstance(path, (str, os.PathLike)):
            return path
        temporary = self._mirror(os.fspath(path))
        # A checkpoint's path is the prefix of its files.
        written = temporary.exists() or any(temporary.parent.glob(f"{temporary.name}.*"))
        return str(temporary) if written else path

    def undo(self) -> None:
        """Give the libraries their own functions back; what went to a temporary directory is gone."""
        self._patches.undo()
        self._remove()

    def _remove(self) -> None:
        if self._is_temporary and self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root = None

    def _mirror(self, path: str) -> Path:
        scheme, separator, rest = path.partition("://")
        if separator:
            return self.root / scheme / rest
        absolute = Path(os.path.normpath(Path.cwd() / Path(path).expanduser()))
        if absolute.is_relative_to(self.root):
            return absolute
        return self.root / absolute.relative_to(absolute.anchor)

    def _patch_tensorflow(self) -> None:
        tf = importlib.import_module("tensorflow")
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
