"""What a function does without a part that it has only where it is given one: `if self.miner is not None: pairs = self.miner(pairs)`.

Nobody knows what such a part makes of a tensor. An object that is made without it, as its constructor's default says, goes on with
the tensor that it had, and that is the part of the function that can be judged.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.values import INSTANCE, UNKNOWN, Value


def settle(
    test: ast.expr,
    before: Mapping[str, Value | None],
    body: Mapping[str, Value | None],
    frame: Frame,
) -> None:
    """After `if part is not None: x = part(x)`, of an unknown part: names that the arm made unknown hold what they held."""
    for name, made in body.items():
        had = before.get(name)
        if made is None or made.kind is not UNKNOWN or had is None:
            continue
        if not (had.is_tensor or had.is_composite):
            continue
        joined = frame.names.get(name)
        if joined is not None and joined.kind is UNKNOWN and _asks_for_part(test, frame):
            frame.names[name] = had._replace(sure=False) if had.is_tensor else had


def _asks_for_part(test: ast.expr, frame: Frame) -> bool:
    """Whether a test holds only where an object has a part that its constructor does not ask for."""
    if isinstance(test, ast.Compare):
        is_given = len(test.ops) == 1 and isinstance(test.ops[0], (ast.IsNot, ast.NotEq))
        other = test.comparators[0]
        if not is_given or not isinstance(other, ast.Constant) or other.value is not None:
            return False
        test = test.left
    owner = frame.self_value
    if not isinstance(test, ast.Attribute) or owner is None or owner.kind is not INSTANCE:
        return False
    if not isinstance(test.value, ast.Name) or test.value.id != frame.self_name:
        return False
    if not isinstance(owner.ref, ClassInfo):
        return False
    constructor = frame.analysis.classes.method(owner.ref, "__init__")
    if constructor is None:
        return False
    default = constructor.default_of(test.attr.lstrip("_"))
    return isinstance(default, ast.Constant) and default.value is None
