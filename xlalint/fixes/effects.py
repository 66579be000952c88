"""What evaluating an expression, or running statements, does beside giving a value.

A rewrite that evaluates what was skipped, or traces both arms of a conditional, keeps the meaning only where nobody can see
the difference.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import IntEnum

from xlalint.fixes.asts import Source
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import FUNCTION, PYTHON, SHAPE, VARIABLE

# Calls of functions of the project, one in another, that are looked into.
_DEEPEST = 3


class Effect(IntEnum):
    """From least to most: none at all; writes to variables, which a graph orders and skips as eager code does; not known."""

    NONE = 0
    WRITES_VARIABLES = 1
    UNKNOWN = 2


# Functions of TensorFlow and Keras whose call is felt by others, or whose result differs from call to call.
_FELT = frozenset(
    {
        "tf.print",
        "tf.function",
        "tf.py_function",
        "tf.numpy_function",
        "tf.Variable",
        "tf.init_scope",
        "tf.group",
    }
    | {"tf.custom_gradient", "tf.py_func", "tf.timestamp"}
)
_FELT_MODULES = (
    "tf.random.", "tf.summary.", "tf.io.", "tf.debugging.", "tf.lookup.", "tf.data.", "tf.distribute.", "tf.config.",
    "tf.train.",
    "tf.saved_model.", "tf.autograph.", "tf.compat.v1.", "tf.queue.", "tf.raw_ops.", "tf.nn.dropout", "tf.image.random_",
    "tf.image.sample_", "tf.image.stateless_sample_", "tf.nn.experimental.stateless_dropout", "tf.experimental.",
)  # fmt: skip
_STILL_PURE = ("tf.random.stateless_", "tf.experimental.numpy.")
_PURE_MODULES = ("tf.", "keras.ops.", "keras.backend.", "keras.activations.", "np.", "math.")
_PURE_BUILTINS = frozenset(
    "abs bool dict enumerate float getattr hasattr int isinstance len list max min range reversed round set sorted sum tuple zip".split()
)
_PURE_METHODS = frozenset(
    {
        "get_shape",
        "as_list",
        "items",
        "keys",
        "values",
        "get",
        "is_fully_defined",
        "read_value",
        "stack",
        "gather",
        "concat",
        "read",
    }
)
_ASSIGNMENTS = frozenset(
    {"assign", "assign_add", "assign_sub", "scatter_nd_update", "scatter_update", "scatter_nd_add"}
)


def effect_of(source: Source, nodes: Sequence[ast.AST], depth: int = 0) -> Effect:
    """What evaluating expressions, or running statements, does to anything but the names of the function.

    `depth`: of how many calls of functions of the project this is the inside.
    """
    return max((_effect(source, node, depth) for node in nodes_of(nodes)), default=Effect.NONE)


def unknown_call(source: Source, nodes: Sequence[ast.AST]) -> str | None:
    """What is called, as the source has it, that may have effects of its own; the first in the source."""
    calls = [
        n
        for n in nodes_of(nodes)
        if isinstance(n, ast.Call) and _effect(source, n) is Effect.UNKNOWN
    ]
    first = min(calls, key=lambda call: (call.lineno, call.col_offset), default=None)
    return source.code(first.func) if first is not None else None


def _effect(source: Source, node: ast.AST, depth: int = 0) -> Effect:
    if isinstance(node, ast.Call):
        return _effect_of_call(source, node, depth)
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return Effect.UNKNOWN
    felt = (
        ast.Await,
        ast.Yield,
        ast.YieldFrom,
        ast.NamedExpr,
        ast.Raise,
        ast.Global,
        ast.Nonlocal,
        ast.Import,
        ast.ImportFrom,
    )
    return Effect.UNKNOWN if isinstance(node, felt) else Effect.NONE


def _effect_of_call(source: Source, call: ast.Call, depth: int = 0) -> Effect:
    name = source.api(call)
    if name is not None:
        if name.startswith(_STILL_PURE):
            return Effect.NONE
        if name in _FELT or name.startswith(_FELT_MODULES) or "random" in name:
            return Effect.UNKNOWN
        return Effect.NONE if name.startswith(_PURE_MODULES) else Effect.UNKNOWN
    func = call.func
    body = _body_of(source, call)
    if body is not None and depth < _DEEPEST:
        return effect_of(source, body, depth + 1)
    if isinstance(func, ast.Name):
        return Effect.NONE if func.id in _PURE_BUILTINS else Effect.UNKNOWN
    if isinstance(func, ast.Attribute):
        if func.attr in _ASSIGNMENTS and source.value(func.value).kind is VARIABLE:
            return Effect.WRITES_VARIABLES
        if func.attr in _PURE_METHODS:
            return Effect.NONE
    return Effect.UNKNOWN


def _body_of(source: Source, call: ast.Call) -> Sequence[ast.stmt] | None:
    """What a call runs where that is a plain function of the same file, without loops or functions of its own."""
    node = _own_method(source, call.func) or _own_function(source, call.func)
    if node is None or node.decorator_list:
        return None
    inside = (ast.For, ast.While, ast.With, ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.Try)
    return None if any(isinstance(n, inside) for n in nodes_of(node.body)) else node.body


def _own_function(source: Source, called: ast.expr) -> ast.FunctionDef | None:
    value = source.value(called)
    if value.kind is not FUNCTION or not isinstance(value.ref, FunctionInfo):
        return None
    is_here = value.ref.module.tree is source.draft.tree
    node = value.ref.node
    return node if is_here and isinstance(node, ast.FunctionDef) else None


def _own_method(source: Source, called: ast.expr) -> ast.FunctionDef | None:
    """The method of the same class that `self._name` is: one that by its name nobody overrides."""
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return None
    if not called.attr.startswith("_") or called.attr.endswith("__"):
        return None
    for held in (node for node in ast.walk(source.draft.tree) if isinstance(node, ast.ClassDef)):
        methods = {one.name: one for one in held.body if isinstance(one, ast.FunctionDef)}
        user = next((one for one in methods.values() if _holds(one, called)), None)
        if user is not None and user.args.args and user.args.args[0].arg == called.value.id:
            return methods.get(called.attr)
    return None


def _holds(function: ast.FunctionDef, node: ast.expr) -> bool:
    return function.lineno <= node.lineno <= (function.end_lineno or function.lineno)


# What raises for values of its operands, in eager code: evaluated where it was skipped before, it could stop the program.
_MAY_RAISE = frozenset(
    {
        "tf.gather",
        "tf.gather_nd",
        "tf.reshape",
        "tf.slice",
        "tf.linalg.inv",
        "tf.linalg.cholesky",
        "tf.linalg.solve",
    }
)


def never_raises(source: Source, node: ast.AST) -> bool:
    """Whether evaluating gives a value whatever the elements of its tensors are: nothing has to be asked before.

    What shapes and dtypes alone decide is not counted: a compiler meets that in any case.
    """
    for part in nodes_of([node]):
        if isinstance(part, ast.Subscript) and source.value(part.value).kind is not SHAPE:
            return False
        if isinstance(part, ast.Call) and (source.api(part) or "") in _MAY_RAISE:
            return False
        if isinstance(part, ast.Call) and _body_of(source, part) is not None:
            return False
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.FloorDiv, ast.Mod)):
            return False
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            if source.value(part.right).kind is PYTHON:
                if not source.value(part.right).choices():
                    return False
    return effect_of(source, [node]) is Effect.NONE
