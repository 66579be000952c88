"""What Python asks objects of the project's classes by methods with names of its own: their truth, their length, their order.

They run like any other method, except that AutoGraph converts none of them.
"""

from __future__ import annotations

import ast

from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.values import INSTANCE, Value

_ORDER: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
}


def ask(owner: Value, name: str, arguments: list[Value], frame: Frame) -> Value | None:
    """What an object answers; None where it is of no class of the project, or its class does not say."""
    if owner.kind is not INSTANCE or not isinstance(owner.ref, ClassInfo) or owner.optional:
        return None
    method = frame.analysis.classes.method(owner.ref, name)
    if method is None:
        return None
    return frame.analysis.functions.invoke(method, arguments, {}, owner, frame)


def truth(owner: Value, frame: Frame) -> None:
    """`if state:` runs `__bool__`, or else `__len__`."""
    if number(owner, "__bool__", frame) is None:
        number(owner, "__len__", frame)


def number(owner: Value, name: str, frame: Frame) -> Value | None:
    """What an object gives for a Python number. That its tensors give one says that callers who are not seen run eagerly."""
    return None if frame.context.region == ASSUMED else ask(owner, name, [], frame)


def compared(op: ast.cmpop, left: Value, right: Value, frame: Frame) -> Value | None:
    """`one < other`: a method of the first, or else the mirrored one of the second."""
    names = _ORDER.get(type(op))
    if names is None:
        return None
    answer = ask(left, names[0], [right], frame)
    return ask(right, names[1], [left], frame) if answer is None else answer
