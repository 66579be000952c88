"""Tensors that every step of a loop makes longer: `out = tf.concat([out, y], 0)`, in the step itself or in a function that it calls."""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import in_order
from xlalint.semantics.values import EXTERNAL

CONCATENATIONS = frozenset(
    {
        "tf.concat",
        "tf.compat.v1.concat",
        "keras.ops.concatenate",
        "keras.backend.concatenate",
        "tf.experimental.numpy.concatenate",
    }
)


class Made(NamedTuple):
    """An expression that a name is assigned: all of it, or the item at `position` of what it unpacks to."""

    source: ast.expr
    position: int | None = None


def assigned(part: ast.stmt | None, name: str) -> Made | None:
    """What an assignment gives a name; None for other statements."""
    if not isinstance(part, ast.Assign):
        return None
    target = part.targets[0]
    if isinstance(target, ast.Name):
        return Made(part.value) if target.id == name else None
    for position, item in enumerate(getattr(target, "elts", ())):
        if isinstance(item, ast.Name) and item.id == name:
            return Made(part.value, position)
    return None


def grows(made: Made, name: str, frame: Frame) -> bool:
    """Whether what is made is the tensor of that name with more behind it or before."""
    if made.position is None and _concatenates(made.source, name, frame):
        return True
    return isinstance(made.source, ast.Call) and _grows_in_function(made, made.source, name, frame)


def _grows_in_function(made: Made, call: ast.Call, name: str, frame: Frame) -> bool:
    """`out = appended(out, y)`: where a function of the project does nothing else with its parameter than to return it longer."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not any(isinstance(each, ast.Name) and each.id == name for each in given):
        return False
    target = frame.analysis.evaluate(call.func, frame)
    callee = only_callee(target, frame.analysis)
    if callee is None:
        return False
    info = callee.function
    is_bound = callee.bound is not None and not frame.analysis.traits(info).is_static
    parameter = _taking(name, call, info, is_bound=is_bound)
    if parameter is None:
        return False
    made_inside = returned(info, made.position)
    home = frame.analysis.modules.closures.home(info)
    return made_inside is not None and _concatenates(made_inside, parameter, home)


def _taking(name: str, call: ast.Call, info: FunctionInfo, *, is_bound: bool) -> str | None:
    """The parameter that takes what the name holds."""
    arguments = info.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if is_bound and info.cls is not None:
        names = names[1:]
    for parameter, given in zip(names, call.args):
        if isinstance(given, ast.Starred):
            return None
        if isinstance(given, ast.Name) and given.id == name:
            return parameter
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.value.id == name:
            return keyword.arg
    return None


def returned(info: FunctionInfo, position: int | None) -> ast.expr | None:
    """What a function returns in its last statement, and in no other, or an item of it, where it is written out or assigned once."""
    if isinstance(info.node, ast.Lambda):
        return _item(info.node.body, position)
    body = list(in_order(info.node.body))
    returns = [part for part in ast.walk(info.node) if isinstance(part, ast.Return)]
    if len(returns) != 1 or returns[0] is not body[-1]:
        return None
    found = _item(assigned_once(returns[0].value, body, info), position)
    return assigned_once(found, body, info)


def _item(made: ast.expr | None, position: int | None) -> ast.expr | None:
    if position is None:
        return made
    items = made.elts if isinstance(made, (ast.Tuple, ast.List)) else []
    return items[position] if position < len(items) else None


def assigned_once(
    found: ast.expr | None, body: list[ast.stmt], info: FunctionInfo
) -> ast.expr | None:
    """What a name was assigned, in the one place that assigns it; anything else as it is."""
    if not isinstance(found, ast.Name):
        return found
    stores = [
        part
        for part in ast.walk(info.node)
        if isinstance(part, ast.Name) and part.id == found.id and isinstance(part.ctx, ast.Store)
    ]
    made = [assigned(part, found.id) for part in body if isinstance(part, ast.Assign)]
    sources = [each.source for each in made if each is not None and each.position is None]
    return sources[0] if len(stores) == len(sources) == 1 else None


def _concatenates(node: ast.expr, name: str, frame: Frame) -> bool:
    if not isinstance(node, ast.Call):
        return False
    given = [
        *node.args[:1],
        *(k.value for k in node.keywords if k.arg in ("values", "xs", "tensors")),
    ]
    joined = given[0] if given else None
    if not isinstance(joined, (ast.List, ast.Tuple)) or len(joined.elts) < 2:
        return False
    if not any(isinstance(item, ast.Name) and item.id == name for item in joined.elts):
        return False
    target = frame.analysis.evaluate(node.func, frame)
    return target.kind is EXTERNAL and str(target.ref) in CONCATENATIONS
