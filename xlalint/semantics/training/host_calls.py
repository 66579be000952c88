"""What a function that is mapped over a dataset calls, also through helpers: Python itself, or random numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import EXTERNAL, FUNCTION, PARTIAL, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_CALLBACKS = frozenset({"tf.py_function", "tf.numpy_function", "tf.compat.v1.py_func"})
_CALLBACK_NAMES = ("py_function", "numpy_function", "py_func")
# How far functions are followed from the one that is mapped.
_DEPTH = 4


def calls_python(function: Value, frame: Frame) -> bool:
    """Whether a function that is mapped over a dataset calls `tf.py_function` or `tf.numpy_function`, also through helpers."""
    return _calls(function, _CALLBACK_NAMES, lambda name: name in _CALLBACKS, frame)


def draws_numbers(function: Value, frame: Frame) -> bool:
    """Whether such a function draws random numbers of TensorFlow's own state (`tf.image.random_flip_left_right`, `tf.random.uniform`)."""
    return _calls(function, ("random",), _draws, frame)


def _draws(name: str) -> bool:
    return name.startswith(("tf.random.", "tf.image.random_")) and "stateless" not in name


def _calls(
    function: Value, texts: Sequence[str], is_one: Callable[[str], bool], frame: Frame
) -> bool:
    """Whether a function calls one of these APIs, also through helpers. Without one of the texts in a module, none does."""
    while function.kind is PARTIAL:
        function = function.ref[0]
    if function.kind is EXTERNAL:
        return is_one(str(function.ref))
    if function.kind is not FUNCTION:
        return False
    project = frame.analysis.modules.project
    if not any(project.mentions(text) for text in texts):
        return False
    seen: set[FunctionInfo] = set()
    pending = [_info(function)]
    for _ in range(_DEPTH):
        called = [value for info in pending for value in _called(info, frame.analysis)]
        seen.update(pending)
        if any(is_one(str(value.ref)) for value in called if value.kind is EXTERNAL):
            return True
        found = (_info(value) for value in called if value.kind is FUNCTION)
        pending = [info for info in dict.fromkeys(found) if info not in seen]
    return False


def _info(function: Value) -> FunctionInfo:
    found = function.ref[0] if isinstance(function.ref, tuple) else function.ref
    assert isinstance(found, FunctionInfo)
    return found


def _called(info: FunctionInfo, analysis: Analysis) -> Iterator[Value]:
    """What a function calls, by the names of its module: what it binds itself is not looked for, nor methods of what a call returns,
    which may be the dataset that the function itself is mapped over.
    """
    frame = analysis.modules.closures.home(info)
    traits = analysis.traits(info)
    if traits.callback in _CALLBACKS:
        yield Value(EXTERNAL, ref=traits.callback)
    for node in info.calls:
        if _is_named(node.func):
            yield analysis.evaluate(node.func, frame)


def _is_named(callee: ast.expr) -> bool:
    while isinstance(callee, ast.Attribute):
        callee = callee.value
    return isinstance(callee, ast.Name)
