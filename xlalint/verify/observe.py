"""Notice calls of plain functions without touching them.

Three observers, because none sees all: AutoGraph's `converted_call` sees what is called from
converted code (there generated code runs in the function's stead, which no tracer would know);
`sys.monitoring` (Python 3.12) or `sys.setprofile` (before) sees the rest. The profiler makes every
call slower, so it starts after TensorFlow's import.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from xlalint.verify.origins import Origins
from xlalint.verify.patching import Patches
from xlalint.verify.sites import real_path
from xlalint.verify.targets import code_of

_TOOL_IDS = (4, 3, 2)  # of sys.monitoring; 0, 1 and 5 belong to debuggers, coverage, optimizers


@dataclass(frozen=True, slots=True)
class PlainCall:
    """One call: `function` takes `args` and `kwargs` (a method is bound already)."""

    code: CodeType
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class PlainCalls:
    """Tells `saw` of each call of a flagged function, from `start` to `stop`."""

    def __init__(
        self,
        flagged: Iterable[tuple[str, int]],
        saw: Callable[[PlainCall], None],
        origins: Origins,
    ) -> None:
        self._first_lines = _first_lines(flagged)
        self._saw = saw
        self._origins = origins
        self._is_flagged: dict[CodeType, bool] = {}
        self._functions: dict[CodeType, Any] = {}
        self._local = threading.local()
        self._tool: int | None = None

    def start(self, patches: Patches) -> None:
        if not self._first_lines:
            return
        self._functions.clear()  # made of closures that an earlier start saw
        api = importlib.import_module("tensorflow.python.autograph.impl.api")
        patches.wrap(api, "converted_call", self._watch_converted)
        if sys.version_info >= (3, 12):
            self._start_monitoring()
        else:
            sys.setprofile(self._profile)
            threading.setprofile(self._profile)

    def stop(self) -> None:
        if sys.version_info >= (3, 12):
            self._stop_monitoring()
        elif sys.getprofile() == self._profile:
            sys.setprofile(None)
            threading.setprofile(None)

    # The observers

    def _watch_converted(self, converted_call: Any) -> Any:
        @functools.wraps(converted_call)
        def watched(
            f: Any,
            args: Any,
            kwargs: Any,
            caller_fn_scope: Any = None,
            options: Any = None,
        ) -> Any:
            code = getattr(getattr(f, "__func__", f), "__code__", None)
            if not isinstance(code, CodeType) or not self._wants(code):
                return converted_call(f, args, kwargs, caller_fn_scope, options)
            self._saw(PlainCall(code, f, tuple(args), dict(kwargs or {})))
            # Where AutoGraph leaves the function as it is, the tracer is about to see it too.
            self._local.expected = code
            try:
                return converted_call(f, args, kwargs, caller_fn_scope, options)
            finally:
                self._local.expected = None

        return watched

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and self._wants(frame.f_code):
            self._saw_frame(frame)

    if sys.version_info >= (3, 12):

        def _start_monitoring(self) -> None:
            monitoring = sys.monitoring
            self._tool = next((one for one in _TOOL_IDS if not monitoring.get_tool(one)), None)
            if self._tool is None:
                return  # other tools hold every place; AutoGraph's calls are still seen
            monitoring.use_tool_id(self._tool, "xlalint")
            monitoring.register_callback(self._tool, monitoring.events.PY_START, self._on_start)
            monitoring.set_events(self._tool, monitoring.events.PY_START)
            monitoring.restart_events()  # what an earlier start found not to be of interest

        def _stop_monitoring(self) -> None:
            if self._tool is not None:
                sys.monitoring.set_events(self._tool, 0)
                sys.monitoring.free_tool_id(self._tool)
                self._tool = None

        def _on_start(self, code: CodeType, offset: int) -> Any:
            if not self._wants(code):
                return sys.monitoring.DISABLE
            self._saw_frame(sys._getframe(1))
            return None

    # What they saw

    def _wants(self, code: CodeType) -> bool:
        wanted = self._is_flagged.get(code)
        if wanted is None and code.co_name.startswith("tf__"):
            return False  # AutoGraph's version of a function that `converted_call` was given
        if wanted is None:
            path, line = self._origins.of(code)
            wanted = self._is_flagged[code] = line in self._first_lines.get(path, ())
        return wanted

    def _saw_frame(self, frame: FrameType) -> None:
        code = frame.f_code
        if getattr(self._local, "expected", None) is code:
            self._local.expected = None
            return
        try:
            self._saw(_call_of(frame, self._functions))
        except Exception:  # a tracer that raises is switched off, and the script told about it
            return


def _first_lines(flagged: Iterable[tuple[str, int]]) -> dict[str, frozenset[int]]:
    """By real path, the lines at which Python says that the flagged functions start.

    For a decorated function that is its first decorator's line; either may be given.
    """
    wanted: dict[str, set[int]] = {}
    for path, line in flagged:
        wanted.setdefault(real_path(path), set()).add(line)
    return {path: frozenset(_starts(path, lines)) for path, lines in wanted.items()}


def _starts(path: str, lines: set[int]) -> Iterable[int]:
    starts = {line: line for line in lines}
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return starts.values()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list:
            first = min(decorator.lineno for decorator in node.decorator_list)
            starts |= {line: first for line in lines if line in (node.lineno, first)}
    return starts.values()


def _call_of(frame: FrameType, functions: dict[CodeType, Any]) -> PlainCall:
    """The call that a frame has just begun."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    positional = [values[name] for name in names[: code.co_argcount]]
    end = code.co_argcount + code.co_kwonlyargcount
    keywords = {name: values[name] for name in names[code.co_argcount : end]}
    if code.co_flags & inspect.CO_VARARGS:
        positional += values[names[end]]
        end += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords |= values[names[end]]
    function = functions.get(code)
    if function is None:
        function = functions[code] = _function_of(frame)
    if positional and _is_method_of(positional[0], code):
        bound = types.MethodType(function, positional[0])
        return PlainCall(code, bound, tuple(positional[1:]), keywords)
    return PlainCall(code, function, tuple(positional), keywords)


def _function_of(frame: FrameType) -> Any:
    """A function that runs this frame's code: the module's own, else one made of code and closure."""
    code = frame.f_code
    found = frame.f_globals.get(code.co_name)
    if found is not None and getattr(inspect.unwrap(found), "__code__", None) is code:
        return inspect.unwrap(found)
    cells = tuple(
        types.CellType(frame.f_locals[name]) if name in frame.f_locals else types.CellType()
        for name in code.co_freevars
    )
    made = types.FunctionType(code, frame.f_globals, code.co_name, None, cells)
    made.__module__ = frame.f_globals.get("__name__", "")
    made.__qualname__ = getattr(code, "co_qualname", code.co_name)
    return made


def _is_method_of(value: Any, code: CodeType) -> bool:
    return any(
        code_of(getattr(vars(cls).get(code.co_name), "__func__", vars(cls).get(code.co_name)))
        is code
        for cls in type(value).__mro__
        if code.co_name in vars(cls)
    )
