"""Run a callback right after a library has been imported, whoever imports it and whenever."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

Callback = Callable[[], None]


@dataclass(frozen=True, slots=True)
class HookFailure:
    """A callback that raised. The import it followed went on as if nothing had happened."""

    library: str
    error: Exception


class Hooks(importlib.abc.MetaPathFinder):
    """The finder that `install` puts first on `sys.meta_path`; made by `install` only.

    `failures` lists the callbacks that raised, in the order in which they did.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._pending: dict[str, list[Callback]] = {}
        self._known: list[tuple[str, Callback]] = []
        self._failures: list[HookFailure] = []
        self._imported: set[str] = set()
        self._searching = threading.local()

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        with self._lock:
            return tuple(self._failures)

    def add(self, library: str, callback: Callback) -> None:
        """Run `callback` after `library` is imported: now, if it already was. Once per pair."""
        with self._lock:
            if (library, callback) in self._known:
                return
            self._known.append((library, callback))
            self._pending.setdefault(library, []).append(callback)
            is_late = library in self._imported or _is_imported(library)
        if is_late:
            self.fire(library)

    def fire(self, library: str) -> None:
        """Run what waits for `library`."""
        while True:
            with self._lock:
                waiting = self._pending.get(library)
                if not waiting:
                    return
                callback = waiting.pop(0)
            try:
                callback()
            except Exception as error:  # an import that we only watch must not fail because of us
                with self._lock:
                    self._failures.append(HookFailure(library, error))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        with self._lock:
            is_awaited = bool(self._pending.get(fullname))
        if not is_awaited or getattr(self._searching, "name", None) == fullname:
            return None
        self._searching.name = fullname
        try:
            spec = _spec_from_the_others(self, fullname, path, target)
        finally:
            self._searching.name = None
        if spec is not None and spec.loader is not None:
            self._watch(fullname, spec.loader)
        return spec

    def _watch(self, library: str, loader: importlib.abc.Loader) -> None:
        # A spec is no import: `import tensorflow` looks keras's up long before anybody imports it,
        # so the callbacks are taken when the module has run, never here.
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            original(module)
            with self._lock:
                self._imported.add(library)
            self.fire(library)

        try:
            loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # a loader with slots: its library stays unwatched, and importable
            with self._lock:
                self._failures.append(
                    HookFailure(library, ImportError(f"{type(loader).__name__} cannot be watched"))
                )


def install(on_import: Mapping[str, Callback]) -> Hooks:
    """Call each callback right after the library it is named for has been imported.

    Names are those of modules (`tensorflow`, `keras`, `transformers.modeling_tf_utils`). A library
    that is imported already has its callback run at once. Calling `install` again adds callbacks;
    a pair that was added before is not added, nor run, twice. Callbacks of one library run in the
    order in which they were added. A callback that raises is listed in `Hooks.failures` and never
    breaks the import.
    """
    hooks = next((finder for finder in sys.meta_path if isinstance(finder, Hooks)), None)
    if hooks is None:
        hooks = Hooks()
        sys.meta_path.insert(0, hooks)
    for library, callback in on_import.items():
        hooks.add(library, callback)
    return hooks


def _is_imported(library: str) -> bool:
    module = sys.modules.get(library)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


def _spec_from_the_others(
    ours: Hooks, fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> importlib.machinery.ModuleSpec | None:
    for finder in list(sys.meta_path):
        if finder is ours or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(fullname, path, target)
        if spec is not None:
            return spec
    return None
