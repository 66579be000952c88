"""What only a hosted notebook has: IPython's own names, and the modules of Colab and Kaggle. Harmless stand-ins, each told once.

Only what cannot be imported here is stood in for. Data that such a module would have fetched is not there, and the program's own
error says so.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType
from typing import Any

from xlalint.verify.sites import is_user_file

_TOP_LEVEL = ("IPython", "ipywidgets", "kaggle_datasets", "kaggle_secrets", "kaggle_web_client")
_COLAB = "google.colab"


def names() -> dict[str, Any]:
    """What a notebook's kernel puts into its namespace: `get_ipython()`, `display(...)`."""
    shell = _Anything("get_ipython()")
    return {"get_ipython": lambda: shell, "display": _display}


def install(say: Callable[[str], None]) -> None:
    """Let the modules that only Colab, Kaggle or IPython have be imported. `say` hears of each that is."""
    sys.meta_path.append(_Finder(say))


def _display(*values: Any, **options: Any) -> None:
    for value in values:
        print(value)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last on `sys.meta_path`, so that a module which is installed is itself."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        is_ours = fullname.partition(".")[0] in _TOP_LEVEL or f"{fullname}.".startswith(
            f"{_COLAB}."
        )
        if not is_ours or not _asked_by_user():
            return None  # libraries ask for IPython to know whether they are in a notebook
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name in (*_TOP_LEVEL, _COLAB):
            self._say(f"{spec.name} is not installed here: calls of it do nothing")
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def _asked_by_user() -> bool:
    """Does the import that is being looked up stand in the user's own code?"""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        "importlib" in frame.f_code.co_filename or frame.f_code.co_filename == __file__
    ):
        frame = frame.f_back
    return frame is not None and is_user_file(frame.f_code.co_filename)


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Datasets if name == "KaggleDatasets" else _Anything(f"{self.__name__}.{name}")


class _Anything:
    """Can be called, asked for attributes, entered, iterated and used as a decorator; none of it does anything."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}, which is not here>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        is_decorator = len(args) == 1 and not kwargs and callable(args[0])
        return args[0] if is_decorator else self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False


class _Datasets:
    """`KaggleDatasets().get_gcs_path(name)` names the bucket of a data set; beside a kernel lies the same as files."""

    def get_gcs_path(self, name: str = "") -> str:
        return f"/kaggle/input/{name}"
