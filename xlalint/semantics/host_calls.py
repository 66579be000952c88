"""Whether a function calls back into Python: `tf.py_function`, `tf.numpy_function`, also through helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, PARTIAL, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_CALLBACKS = frozenset({"tf.py_function", "tf.numpy_function", "tf.compat.v1.py_func"})
_CALLBACK_NAMES = ("py_function", "numpy_function", "py_func")
# How far functions are followed from the one that is mapped.
_DEPTH = 4


def calls_python(function: Value, frame: Frame) -> bool:
    """Whether a function that is mapped over a dataset calls `tf.py_function` or `tf.numpy_function`, also through helpers."""
    while function.kind is PARTIAL:
        function = function.ref[0]
    if function.kind is EXTERNAL:
        return function.ref in _CALLBACKS
    if function.kind is not FUNCTION:
        return False
    project = frame.analysis.modules.project
    if not any(project.mentions(name) for name in _CALLBACK_NAMES):
        return False
    seen: set[FunctionInfo] = set()
    pending = [_info(function)]
    for _ in range(_DEPTH):
        called = [value for info in pending for value in _called(info, frame.analysis)]
        seen.update(pending)
        if any(value.ref in _CALLBACKS for value in called if value.kind is EXTERNAL):
            return True
        found = (_info(value) for value in called if value.kind is FUNCTION)
        pending = [info for info in dict.fromkeys(found) if info not in seen]
    return False


def _info(function: Value) -> FunctionInfo:
    found = function.ref[0] if isinstance(function.ref, tuple) else function.ref
    assert isinstance(found, FunctionInfo)
    return found


def _called(info: FunctionInfo, analysis: Analysis) -> Iterator[Value]:
    """What a function calls, by the names of its module: what it binds itself is not looked for."""
    frame = analysis.modules.closures.get(info) or analysis.modules.module_frame(info.module)
    traits = analysis.traits(info)
    if traits.callback in _CALLBACKS:
        yield Value(EXTERNAL, ref=traits.callback)
    for node in nodes_of(info.body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield analysis.evaluate(node.func, frame)
