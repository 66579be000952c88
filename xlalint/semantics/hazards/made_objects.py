"""Objects of the project's own classes that compiled code makes, and whose constructor or `build` makes variables.

Measured with Keras 3.15 and tf_keras 2.21 on TensorFlow 2.21 (fixtures/XLA107/flagged_state_of_own_classes.py): variables of the
constructor are refused in every trace but a tf.function's first, and those of `build` where the object is called. Layers with weights
that the constructor makes get them when they are called: Keras 2 makes those in the trace, too. Keras 3 finds out the
shapes beforehand, in a trace of its own, and leaves nothing for this one, unless the class has a `build`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from xlalint.semantics.classes import LAYER, MODEL
from xlalint.semantics.facts import COMPILED, TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import trace_effects
from xlalint.semantics.hazards.trace_effects import STATE, TraceEffect
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import CLASS, EXTERNAL, PYTHON, Value

_NESTED = 3


class _Made(NamedTuple):
    """When an object makes variables: as it is made, or as it is called."""

    at_once: bool = False
    when_called: bool = False


class MadeObjects:
    """Objects that hold variables, told by their classes."""

    def __init__(self) -> None:
        self._known: dict[ClassInfo, _Made] = {}
        self._of_programs: set[ClassInfo] = set()

    def is_of_programs(self, cls: ClassInfo) -> bool:
        """Whether compiled code makes objects of a class: what their constructor computes is traced with it. Keras objects live longer."""
        return cls in self._of_programs

    def saw_object(self, cls: ClassInfo, node: ast.AST, frame: Frame) -> None:
        """An object is made: note it where that is in compiled code, and makes variables."""
        if frame.context.is_compiled and frame.analysis.classes.role(cls) is None:
            self._of_programs.add(cls)
        if frame.silent or frame.context.region != COMPILED or frame.function is None:
            return
        if cls not in self._known:
            self._known[cls] = _made_by(cls, frame, _NESTED)
        made = self._known[cls]
        if not made.at_once and not (made.when_called and _is_called(node, frame.function)):
            return
        if not trace_effects.is_first_time(node, frame):
            effect = TraceEffect(STATE, cls.name)
            frame.analysis.note(frame, node, TRACE_EFFECT, Value(PYTHON), effect)


def _is_called(made: ast.AST, function: FunctionInfo) -> bool:
    """`Scale()(x)`, and `scale = Scale()` with `scale(x)` in the same function."""
    body = function.node.body
    names: set[str] = set()
    called: set[str] = set()
    for node in nodes_of(body if isinstance(body, list) else [body]):
        if isinstance(node, ast.Call) and node.func is made:
            return True
        if isinstance(node, ast.Assign) and node.value is made:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
    return not names.isdisjoint(called)


def _made_by(cls: ClassInfo, frame: Frame, depth: int) -> _Made:
    """What the class's constructor and `build` do in any case, whatever the settings."""
    analysis = frame.analysis
    role = analysis.classes.role(cls)
    is_of_keras = role is not None and role.kind in (LAYER, MODEL)
    is_keras_3 = role is not None and role.is_of_keras_3(analysis.keras)
    constructor = analysis.classes.method(cls, "__init__")
    build = analysis.classes.method(cls, "build") if is_of_keras else None
    at_once = when_called = False
    for name in _makes(constructor, cls, frame, depth):
        at_once = at_once or name.at_once
        when_called = when_called or (name.when_called and is_of_keras and not is_keras_3)
    for name in _makes(build, cls, frame, depth):
        when_called = when_called or name.at_once or name.when_called
    return _Made(at_once, when_called)


def _makes(
    method: FunctionInfo | None, cls: ClassInfo, frame: Frame, depth: int
) -> Iterator[_Made]:
    """What each thing that a method makes comes to, of those that it makes in any case."""
    if method is None or not isinstance(method.node.body, list) or depth == 0:
        return
    inner = Frame(frame.analysis, method.module, method, frame.context)
    inner.silent = True
    for node in nodes_of(_in_any_case(method.node.body), into_functions=False):
        if isinstance(node, ast.Call):
            yield _made_in(node, cls, inner, depth)


def _made_in(node: ast.Call, cls: ClassInfo, frame: Frame, depth: int) -> _Made:
    func = node.func
    if (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "self"
    ):
        is_of_keras = frame.analysis.classes.role(cls) is not None
        return _Made(at_once=is_of_keras and func.attr in ("add_weight", "add_variable"))
    if not isinstance(func, (ast.Name, ast.Attribute)):
        return _Made()
    value = frame.analysis.evaluate(func, frame)
    if value.kind is CLASS and isinstance(value.ref, ClassInfo):
        return _made_by(value.ref, frame, depth - 1)
    if value.kind is EXTERNAL:
        return _Made(
            trace_effects.makes_variables(str(value.ref), frame),
            trace_effects.is_weighted(str(value.ref)),
        )
    return _Made()


def _in_any_case(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that no condition stands before."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Raise)):
            return
        if not isinstance(statement, (ast.If, ast.Try, ast.For, ast.While, ast.With)):
            yield statement
