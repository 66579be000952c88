"""Make every traced operation remember the user's lines, not TensorFlow's.

One hook on the stack that `framework.ops` stores with an operation: it drops the frames of the core libraries. Operations,
XLA's error messages and the HLO's `source_file`/`source_line` then all name the user's own code (measured on TensorFlow
2.21: 5-10 % of a first trace).
"""

from __future__ import annotations

import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_CORE = (
    "tensorflow",
    "keras",
    "tf_keras",
    "numpy",
    "optree",
    "wrapt",
    "ml_dtypes",
    "absl",
    "jax",
    "six",
)


class UserCode:
    """Tells the code under test from the machinery: Python's library, TensorFlow, Keras and xlalint itself.

    Third-party packages count as the code under test (a failing line in a model library is worth naming); `is_project` is
    narrower: under `roots` and not installed.
    """

    def __init__(self, roots: tuple[str, ...]) -> None:
        paths = sysconfig.get_paths()
        self._installed = _site_folders(paths)
        self._stdlib = tuple({paths["stdlib"] + "/", paths["platstdlib"] + "/"})
        core = {f"{site}{name}/" for site in self._installed for name in _CORE}
        self._core = (*sorted(core), str(Path(__file__).resolve().parents[1]) + "/")
        self._roots = tuple(root.rstrip("/") + "/" for root in roots)

    def is_user(self, path: str) -> bool:
        return "__autograph_generated_file" not in path and not self.is_library(path)

    def is_library(self, path: str) -> bool:
        """Is it the machinery? AutoGraph's generated files are not: they stand for the user's."""
        if path.startswith(("<", *self._core)):
            return True
        return path.startswith(self._stdlib) and not path.startswith(self._installed)

    def whole(self, path: str) -> str:
        """The whole path of a file that TensorFlow names without the folders that a stack's files have in common."""
        if path.startswith(("/", "<")):
            return path
        folders = [Path(root) for root in (*self._roots, *self._installed)]
        candidates = [parent / path for folder in folders for parent in (folder, *folder.parents)]
        return next((str(one) for one in candidates if one.is_file()), path)

    def is_project(self, path: str) -> bool:
        return (
            self.is_user(path)
            and not path.startswith(self._installed)
            and (not self._roots or path.startswith(self._roots))
        )


def _site_folders(paths: Mapping[str, str]) -> tuple[str, ...]:
    """Where packages are installed: this environment's own folders, and those that a `.pth` file or the user's site adds."""
    named = [
        folder for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")
    ]
    return tuple(
        sorted(
            {folder.rstrip("/") + "/" for folder in (paths["purelib"], paths["platlib"], *named)}
        )
    )


def install(code: UserCode) -> bool:
    """Hook the stacks of operations. False where this TensorFlow has no such seam: errors then name fewer lines."""
    from tensorflow.python.framework import ops
    from tensorflow.python.util import tf_stack

    native = getattr(tf_stack, "_tf_stack", None)
    if native is None or not hasattr(ops, "tf_stack") or not hasattr(native, "PyBindFileSet"):
        return False
    if hasattr(tf_stack, "extract_stack_for_op"):
        return True  # TensorFlow 2.12 and 2.13 store whole stacks, by another way: they are filtered when read
    library_files = _LibraryFiles(code, native.PyBindFileSet())

    def user_mapping() -> Any:
        return tf_stack._source_mapper_stacks[tf_stack._get_thread_key()][-1].internal_map

    def extract_stack(stacklevel: int = 1) -> Any:
        # Level 0: levels are counted after the filter, so any other would drop the user's own frames.
        stack = native.extract_stack(user_mapping(), library_files.current(), 0)
        # An empty stack makes TensorFlow crash later on.
        return stack if len(stack) else tf_stack.extract_stack(stacklevel=stacklevel + 1)

    seam = types.SimpleNamespace(**vars(tf_stack))
    seam.extract_stack = extract_stack
    ops.tf_stack = seam
    return True


class _LibraryFiles:
    """The set of files to leave out of stacks, kept up to date as modules are imported."""

    def __init__(self, code: UserCode, native_set: Any) -> None:
        self._code = code
        self._set = native_set
        self._modules = -1

    def current(self) -> Any:
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
            core = {file for file in files if file and self._code.is_library(file)}
            frozen = {"<frozen runpy>", "<frozen importlib._bootstrap>", "<string>"}
            self._set.update_to(core | frozen | {__file__})
        return self._set
