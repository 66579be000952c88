"""Loops whose test is of Python before the first step: `done = False`, `error = np.inf` against a tolerance. A step may make it a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics.expressions import evaluate
from xlalint.semantics.facts import CONDITION, STARTED_IN_PYTHON
from xlalint.semantics.frames import Frame
from xlalint.semantics.parameters import is_setting, is_size
from xlalint.semantics.syntax import last_name, nodes_of
from xlalint.semantics.values import PYTHON, UNKNOWN, Value


def is_of_python(node: ast.While, test: Value, frame: Frame) -> bool:
    """Whether Python knows the answer to the test of a loop, whose value this is before a step."""
    return test.kind is PYTHON or (test.kind is UNKNOWN and _asks_settings(node, frame))


def note_change(node: ast.While, frame: Frame) -> None:
    """`while not done:` where `done` is False at first and a tensor after a step: Python runs the loop, and cannot go on."""
    after = evaluate(node.test, frame)
    is_vague = after.structured or after.optional or after.guess
    if after.is_tensor and not is_vague:
        frame.analysis.note(frame, node.test, CONDITION, after, STARTED_IN_PYTHON)


def _asks_settings(node: ast.While, frame: Frame) -> bool:
    """`while err > tol and n < self.steps:` where `err` and `n` are numbers of Python before the loop, and the others parameters
    or attributes that are called as settings are.
    """
    parts = list(nodes_of([node.test]))
    if any(isinstance(part, (ast.Call, ast.Subscript)) for part in parts):
        return False
    bound = frame.analysis.carried.names(node).bound
    owners = {id(part.value) for part in parts if isinstance(part, ast.Attribute)}
    asked = [part for part in parts if isinstance(part, (ast.Name, ast.Attribute))]
    asked = [part for part in asked if id(part) not in owners]
    names = {part.id for part in asked if isinstance(part, ast.Name)}
    if not names & bound:
        return False
    return all(
        _starts_as_number(part.id, node, frame)
        if isinstance(part, ast.Name) and part.id in bound
        else _is_a_setting(part, frame)
        for part in asked
    )


def _starts_as_number(name: str, loop: ast.While, frame: Frame) -> bool:
    value = frame.look_up(name)
    if value is None or value.kind is not UNKNOWN or frame.function is None:
        return value is not None and value.kind is PYTHON
    before = (part for part in frame.function.carrying if isinstance(part, ast.Assign))
    given = [
        value
        for part in before
        if part.lineno < loop.lineno
        for target in part.targets
        for value in _given_to(name, target, part.value)
    ]
    return bool(given) and all(last_name(value) == "inf" for value in given)


def _given_to(name: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    """What a name is assigned, without its sign: `-np.inf`, and the first of `error, step = np.inf, 0`."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, each in zip(target.elts, value.elts):
            yield from _given_to(name, part, each)
    elif isinstance(target, ast.Name) and target.id == name:
        yield value.operand if isinstance(value, ast.UnaryOp) else value


def _is_a_setting(part: ast.Name | ast.Attribute, frame: Frame) -> bool:
    if isinstance(part, ast.Name):
        value, name = frame.look_up(part.id), part.id
        is_given = frame.function is not None and name in frame.function.parameter_names
    else:
        value, name = evaluate(part, frame), part.attr
        is_given = isinstance(part.value, ast.Name) and part.value.id == frame.self_name
    if value is None or value.kind is PYTHON:
        return True
    return is_given and value.kind is UNKNOWN and (is_setting(name) or is_size(name))
