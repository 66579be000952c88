"""The state of Python itself, put back after the program under test, which may have replaced any of it.

What the program made of its own modules and of TensorFlow stays: its functions are compiled as it left them. What it added
to `builtins` stays too, as its functions may use it. Python's own modules, descriptors, signals and limits are put back, since
TensorFlow and the stages that follow need them.
"""

from __future__ import annotations

import builtins
import faulthandler
import gc
import importlib
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

# Modules whose public attributes programs replace, knowingly or by a careless `from ... import *`.
_MODULES = (
    "collections contextlib copy ctypes dataclasses functools gc importlib inspect io itertools json json.decoder json.encoder"
    " linecache logging math operator os os.path pathlib pickle posixpath re runpy shutil signal stat string subprocess tempfile"
    " threading time tokenize traceback types typing warnings weakref"
).split()
_OF_SYS = (
    "stdin stdout stderr __stdin__ __stdout__ __stderr__ excepthook displayhook unraisablehook breakpointhook modules"
    " path_hooks exit _getframe exc_info settrace setprofile getrecursionlimit setrecursionlimit intern getsizeof"
).split()
_PRIVATE_BUILTINS = ("__import__", "__build_class__", "__name__", "__debug__")
_DEEPEST = (
    100_000  # frames; a limit beyond it means a crash where Python would have raised RecursionError
)
_SWITCH = 0.0005  # seconds
_RESOURCES = ("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_STACK")


class Interpreter:
    """Made before the program runs; `restore` puts back what it remembers. Neither raises."""

    def __init__(self) -> None:
        self._builtins = {
            name: value
            for name, value in vars(builtins).items()
            if not name.startswith("_") or name in _PRIVATE_BUILTINS
        }
        # Reached without a name to look up, as `vars` itself may have been replaced.
        self._builtins_now = vars(builtins)
        self._attributes = [
            (vars(module), name, value)
            for module in map(importlib.import_module, _MODULES)
            for name, value in list(vars(module).items())
            if not name.startswith("_")
        ]
        self._attributes.append((vars(os), "_exit", os._exit))
        self._of_sys = [(vars(sys), name, getattr(sys, name, None)) for name in _OF_SYS]
        self._loaded = dict(sys.modules)
        self._path, self._finders = list(sys.path), list(sys.meta_path)
        self._folder = os.getcwd()  # noqa: PTH109
        self._environment = {name: os.environ.get(name) for name in ("PATH", "HOME", "TMPDIR")}
        self._handlers = {number: _handler(number) for number in signal.valid_signals()}
        self._filters = list(warnings.filters)
        self._recursion = sys.getrecursionlimit()
        self._limits = {
            name: resource.getrlimit(getattr(resource, name))
            for name in _RESOURCES
            if hasattr(resource, name)
        }

    def restore(self) -> None:
        self._builtins_now.update(self._builtins)
        for namespace, name, value in (*self._attributes, *self._of_sys):
            if namespace.get(name) is not value:
                namespace[name] = value
        for step in (
            self._stop_tracing,
            self._restore_imports,
            self._restore_limits,
            self._restore_descriptors,
            self._restore_streams,
            self._restore_signals,
            self._restore_place,
        ):
            _attempt(step)

    def _stop_tracing(self) -> None:
        sys.settrace(None)
        sys.setprofile(None)
        threading.settrace(None)
        threading.setprofile(None)

    def _restore_imports(self) -> None:
        for name, module in self._loaded.items():
            if name != "__main__" and sys.modules.get(name) is not module:
                sys.modules[name] = module
        if not isinstance(getattr(sys, "path", None), list):
            sys.path = []
        # What the program put first stays first.
        sys.path += [entry for entry in self._path if entry not in sys.path]
        if not isinstance(getattr(sys, "meta_path", None), list):
            sys.meta_path = []
        sys.meta_path += [finder for finder in self._finders if finder not in sys.meta_path]

    def _restore_limits(self) -> None:
        sys.setrecursionlimit(max(self._recursion, min(sys.getrecursionlimit(), _DEEPEST)))
        gc.set_debug(0)
        gc.enable()
        # Threads that the program left spinning hold up this one for that long each time.
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH))
        warnings.filters[:] = self._filters  # type: ignore[index]
        _attempt(getattr(warnings, "_filters_mutated", int))
        for name, limit in self._limits.items():
            which = getattr(resource, name)
            if resource.getrlimit(which) != limit:
                _attempt(partial(resource.setrlimit, which, limit))

    def _restore_descriptors(self) -> None:
        """0, 1 and 2 are somebody's: what was opened next would receive what TensorFlow logs."""
        for descriptor in (0, 1, 2):
            try:
                os.fstat(descriptor)
            except OSError:
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != descriptor:
                    os.dup2(nowhere, descriptor)
                    os.close(nowhere)

    def _restore_streams(self) -> None:
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            stream = getattr(sys, name)
            if stream is None or stream.closed:
                stream = os.fdopen(descriptor, "w", errors="backslashreplace", closefd=False)
                setattr(sys, name, stream)
                setattr(sys, f"__{name}__", stream)

    def _restore_signals(self) -> None:
        faulthandler.disable()
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
        for number, handler in self._handlers.items():
            if handler is not None and _handler(number) != handler:
                _attempt(partial(signal.signal, number, handler))
        faulthandler.enable(file=2)

    def _restore_place(self) -> None:
        for name, value in self._environment.items():
            if value is not None and not os.environ.get(name):
                os.environ[name] = value
        try:
            os.getcwd()  # noqa: PTH109
        except OSError:
            os.chdir(self._folder)  # the program removed the folder that it stood in


def _handler(number: int) -> Any:
    try:
        return signal.getsignal(number)
    except (OSError, ValueError):
        return None


def _attempt(step: Callable[[], Any]) -> None:
    try:
        step()
    except Exception:  # a system that does not allow it; what follows does without
        return
