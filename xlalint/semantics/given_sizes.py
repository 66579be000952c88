"""Parameters that all calls in sight give a size, as far as syntax tells: `circle(tf.shape(images)[1], size)`.

Of a tf.function that makes something of the size that a parameter says (`tf.range(width)`), such calls tell that it is no batch of data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from xlalint.semantics import parameters
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name

_STATIC = frozenset({"get_shape", "int_shape", "as_list"})
_CASTS = frozenset({"cast", "constant", "convert_to_tensor"})


class _Caller(NamedTuple):
    """A function that calls the one in question. `is_traced`: for XLA, both are one program, which knows what `tf.shape` says."""

    info: FunctionInfo
    is_traced: bool


def are_all(info: FunctionInfo, name: str) -> bool:
    """Whether calls of a module's own function are seen in that module, and each gives the parameter `name` a size."""
    if info.cls is not None or info.parent is not None:
        return False
    arguments = info.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    place = names.index(name) if name in names else None
    is_own_program = _is_decorated(info, "jit_compile")
    seen = False
    for function in info.module.functions:
        if function.parent is not None or function is info:
            continue  # what stands in a function inside stands in the one around it
        caller = _Caller(function, not is_own_program and _is_decorated(function, "function"))
        for call in function.calls:
            if not isinstance(call.func, ast.Name) or call.func.id != info.name:
                continue
            given = _given(call, name, place)
            if given is None or not _is_size(given, caller, frozenset()):
                return False
            seen = True
    return seen


def _is_decorated(info: FunctionInfo, word: str) -> bool:
    return any(word in ast.unparse(decorator) for decorator in info.decorators)


def _given(call: ast.Call, name: str, place: int | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return None if place is None or starred or place >= len(call.args) else call.args[place]


def _is_size(node: ast.expr, caller: _Caller, asked: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Subscript):
        return _is_shape(node.value, caller, asked)
    if isinstance(node, ast.Attribute):
        return parameters.is_size(node.attr)  # `self.num_units`: a setting
    if isinstance(node, ast.Call):
        return _is_made_of_a_size(node, caller, asked)
    if isinstance(node, ast.BinOp):
        return _is_size(node.left, caller, asked) and _is_size(node.right, caller, asked)
    if not isinstance(node, ast.Name) or node.id in asked:
        return False
    found = [
        _is_shape(each.value, caller, asked | {node.id})
        if isinstance(target, (ast.Tuple, ast.List)) and not isinstance(each.value, ast.Tuple)
        else _is_size(_part(target, each.value, node.id), caller, asked | {node.id})
        for each in caller.info.telling
        if isinstance(each, ast.Assign)
        for target in each.targets
        if node.id in _names(target)
    ]
    return bool(found) and all(found)


def _is_made_of_a_size(node: ast.Call, caller: _Caller, asked: frozenset[str]) -> bool:
    """`len(labels)`, `int(count)`; inside of the same program also `tf.cast(self.num_states, tf.int32)`."""
    name = called_name(node)
    if name == "len":
        return True
    is_kept = name == "int" or (name in _CASTS and caller.is_traced)
    return is_kept and bool(node.args) and _is_size(node.args[0], caller, asked)


def _is_shape(node: ast.expr, caller: _Caller, asked: frozenset[str]) -> bool:
    """`x.shape`, `tf.shape(x)`, `x.get_shape().as_list()`, `tf.unstack(tf.shape(x))`, or a name for one of them."""
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    if isinstance(node, ast.Call):
        if called_name(node) == "unstack" and node.args:
            return _is_shape(node.args[0], caller, asked)
        is_dynamic = called_name(node) == "shape" and caller.is_traced
        return is_dynamic or called_name(node) in _STATIC
    if not isinstance(node, ast.Name) or node.id in asked:
        return False
    values = [
        each.value
        for each in caller.info.telling
        if isinstance(each, ast.Assign) and any(_is_named(t, node.id) for t in each.targets)
    ]
    return bool(values) and all(_is_shape(each, caller, asked | {node.id}) for each in values)


def _names(target: ast.expr) -> Iterable[str]:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def _is_named(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """What `name` gets of `height, width = image.shape[0], image.shape[1]`."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, ast.Tuple):
        for part, each in zip(target.elts, value.elts):
            if _is_named(part, name):
                return each
    return value
