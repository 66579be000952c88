"""The calls that running code makes of a package's functions with tensors, kept so that they can be made again."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import numpy as np
import tensorflow as tf
from held import held, is_composite
from places import Sources

_KEPT_PER_FUNCTION = 2
_TRIES = 12
_MOST_ELEMENTS = 300_000
_NEVER = frozenset(
    "__init__ __new__ __repr__ __str__ __eq__ __hash__ __len__ __getattr__ __setattr__"
    " build create_variables get_config from_config".split()
)
_SYMBOLIC = ("KerasTensor", "SymbolicTensor")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A call of the function `name`, written at line `first` of `path`: what was called, and with what."""

    path: str
    name: str
    first: int
    function: Callable[..., Any]
    arguments: list[Any]
    keywords: dict[str, Any]


class Recorder:
    """Keeps the first calls of each function of the package that are given tensors.

    `is_left_out` says of a path inside the package whether it is code that only tests use.
    """

    def __init__(self, sources: Sources, is_left_out: Callable[[str], bool]) -> None:
        self.calls: list[Recorded] = []
        self._sources = sources
        self._is_left_out = is_left_out
        self._passed: set[CodeType] = set()
        self._kept: Counter[CodeType] = Counter()
        self._tried: Counter[CodeType] = Counter()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls that are made while the block runs."""
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self._passed:
            return
        path = self._sources.path(code.co_filename)
        if path is None or not self._is_wanted(path, code):
            self._passed.add(code)
            return
        if not tf.executing_eagerly():
            return
        self._tried[code] += 1
        try:
            call = self._taken(frame, path)
        except Exception:
            # Objects of a package under test may refuse whatever they are asked.
            call = None
        if call is not None:
            self._kept[code] += 1
            self.calls.append(call)
        if self._kept[code] == _KEPT_PER_FUNCTION or self._tried[code] == _TRIES:
            self._passed.add(code)

    def _is_wanted(self, path: str, code: CodeType) -> bool:
        is_plain = not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE)
        is_named = not code.co_name.startswith("<") and "<locals>" not in code.co_qualname
        return is_plain and is_named and code.co_name not in _NEVER and not self._is_left_out(path)

    def _taken(self, frame: FrameType, path: str) -> Recorded | None:
        arguments, keywords = _arguments(frame)
        found = _function(frame, self._sources.name)
        if found is None:
            return None
        function, is_owner_given = found
        if _has_owner(frame.f_code) and not is_owner_given:
            arguments = arguments[1:]
        if not self._is_judgeable(_flat(arguments, keywords)):
            return None
        arguments, keywords = tf.nest.map_structure(_copied, (arguments, keywords))
        code = frame.f_code
        return Recorded(path, code.co_qualname, code.co_firstlineno, function, arguments, keywords)

    def _is_judgeable(self, values: list[Any]) -> bool:
        """Whether there is a tensor, all of them have values, and these are few enough."""
        tensors = [v for v in values if isinstance(v, (tf.Tensor, np.ndarray))]
        if any(isinstance(v, tf.Tensor) and not hasattr(v, "_numpy") for v in tensors):
            return False
        if any(type(v).__name__ in _SYMBOLIC for v in values):
            return False
        if sum(int(np.prod(v.shape)) for v in tensors) > _MOST_ELEMENTS:
            return False
        return bool(tensors) or any(is_composite(v) or held(v, self._sources.name) for v in values)


def _has_owner(code: CodeType) -> bool:
    return code.co_argcount > 0 and code.co_varnames[0] in ("self", "cls")


def _arguments(frame: FrameType) -> tuple[list[Any], dict[str, Any]]:
    """The positional arguments and the keywords that a call's frame was entered with."""
    code, given = frame.f_code, frame.f_locals
    named = code.co_argcount + code.co_kwonlyargcount
    arguments = [given[name] for name in code.co_varnames[: code.co_argcount]]
    keywords = {name: given[name] for name in code.co_varnames[code.co_argcount : named]}
    if code.co_flags & inspect.CO_VARARGS:
        arguments += given[code.co_varnames[named]]
        named += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords |= given[code.co_varnames[named]]
    return arguments, keywords


def _function(frame: FrameType, package: str) -> tuple[Callable[..., Any], bool] | None:
    """What was called, as the package's users call it, and whether its owner is given to it as an argument.

    None where the name no longer leads to the code that runs: what wraps it may do anything.
    """
    code = frame.f_code
    name = code.co_name
    if _has_owner(code):
        return _method(frame.f_locals[code.co_varnames[0]], code, package)
    holder = frame.f_globals
    if "." in code.co_qualname:
        owner = frame.f_globals.get(code.co_qualname.split(".")[0])
        if owner is None or _code(vars(owner).get(name)) is not code:
            return None
        return getattr(owner, name), False
    function = holder.get(name)
    return (function, False) if function is not None and _code(function) is code else None


def _method(owner: Any, code: CodeType, package: str) -> tuple[Callable[..., Any], bool] | None:
    name = code.co_name
    classes = inspect.getmro(owner if isinstance(owner, type) else type(owner))
    if not any(_code(vars(made).get(name)) is code for made in classes):
        return None
    if not isinstance(owner, type) and held(owner, package):
        return getattr(type(owner), name), True
    if name == "call" and callable(owner):
        return owner, False
    if name == "update_state" and hasattr(owner, "result"):
        return _updated(owner), False
    return getattr(owner, name), False


def _updated(metric: Any) -> Callable[..., Any]:
    def function(*arguments: Any, **keywords: Any) -> Any:
        metric.update_state(*arguments, **keywords)
        return metric.result()

    return function


def _code(item: Any) -> CodeType | None:
    """The code of a function, a method or what decorators of Python and TensorFlow make of one."""
    function = getattr(item, "__func__", item)
    function = inspect.unwrap(function) if callable(function) else function
    function = getattr(function, "python_function", function)
    function = inspect.unwrap(function) if callable(function) else function
    return getattr(function, "__code__", None)


def _flat(arguments: list[Any], keywords: dict[str, Any]) -> list[Any]:
    return list(tf.nest.flatten((arguments, keywords)))


def _copied(value: Any) -> Any:
    # A test may write into its arrays later.
    return value.copy() if isinstance(value, np.ndarray) else value
