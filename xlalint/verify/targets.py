"""What is behind a callable: the code the user wrote, its name, the object it is bound to."""

from __future__ import annotations

import functools
import inspect
from types import CodeType
from typing import Any


def plain(target: Any) -> Any:
    """The plain function or method behind a tf.function, a partial, a decorator or a callable object."""
    seen = 0
    while seen < 32:
        seen += 1
        if isinstance(target, functools.partial):
            target = target.func
        elif hasattr(target, "python_function"):
            target = target.python_function
        elif inspect.ismethod(target) and hasattr(target.__self__, "weakrefself_target__"):
            target = target.__func__  # a tf.function that is a method, bound to a weak reference
        elif inspect.ismethod(target) or inspect.isfunction(target):
            inner = getattr(target, "__wrapped__", None)
            if inner is None:
                return target
            target = inner
        elif callable(target) and not inspect.isclass(target) and hasattr(target, "__call__"):  # noqa: B004
            return target.__call__
        else:
            return target
    return target


def code_of(target: Any) -> CodeType | None:
    """The code object behind a callable, None for one that is not written in Python."""
    function = plain(target)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


def name_of(target: Any) -> str:
    """The qualified name as the user would write it, without `<locals>`."""
    function = plain(target)
    name = getattr(function, "__qualname__", None) or type(target).__name__
    return str(name).rpartition("<locals>.")[2]


def bound_to(target: Any) -> Any:
    """The object that a method, or a tf.function that is a method, is bound to; else None."""
    seen = 0
    while target is not None and seen < 32:
        seen += 1
        if inspect.ismethod(target):
            owner = target.__self__
            weak = getattr(owner, "weakrefself_target__", None)
            return weak() if weak is not None else owner
        if isinstance(target, functools.partial):
            target = target.func
        elif hasattr(target, "python_function"):
            target = target.python_function
        else:
            target = getattr(target, "__wrapped__", None)
    return None
