"""Whether a program chooses Keras 2 for what tf.keras is: TF_USE_LEGACY_KERAS, set to something true before tf.keras is first used.

From TensorFlow 2.16 on, `tf.keras` is Keras 3 unless that is so; the first use decides for good (rules/XLA506.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xlalint.project.source import split_lines
from xlalint.semantics.facts import Remark
from xlalint.semantics.imports.imported import Names, imports_in
from xlalint.semantics.syntax import found_in

if TYPE_CHECKING:
    from xlalint.semantics.index import ModuleInfo

LEGACY = "TF_USE_LEGACY_KERAS"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What may set a variable of the environment.
_SETTING = frozenset({ast.Assign, ast.Call, ast.Dict})
_FUNCTIONS: frozenset[type[ast.AST]] = frozenset({ast.FunctionDef})


def is_chosen(module: ModuleInfo) -> bool:
    """Whether a module sets the variable in time, to what is or may be true; to mention it, or to set it to "0", is no choice."""
    # Few modules mention it: the others need no syntax tree for this.
    if LEGACY not in module.text:
        return False
    places = [_sets_it(node, may_be=True) for node in _settings(module)]
    if not any(places):
        return False
    late = {place for place, _ in chosen_late(module)}
    return any(place is not None and place not in late for place in places)


def chosen_late(module: ModuleInfo) -> Iterator[tuple[ast.AST, Remark]]:
    """`os.environ["TF_USE_LEGACY_KERAS"] = "1"` after tf.keras has been used: in a module, or in one function."""
    lines = [node.lineno for node in _settings(module) if _sets_it(node) is not None]  # type: ignore[attr-defined]
    if not lines:
        return
    tree = module.tree
    names = Names(dict(imports_in(tree)), {})
    bodies = [
        f.body
        for f in found_in(tree.body, _FUNCTIONS)
        if isinstance(f, ast.FunctionDef)
        and any(f.lineno <= n <= (f.end_lineno or n) for n in lines)
    ]
    for body in (tree.body, *bodies):
        is_used = False
        for node in _executed(body):
            is_used = is_used or _uses_keras(node, names)
            place = _sets_it(node)
            if place is not None and is_used:
                yield place, Remark("late")


def _settings(module: ModuleInfo) -> list[ast.AST]:
    """What may set the variable, in the statements of the module that mention it."""
    lines = [n for n, line in enumerate(split_lines(module.text), 1) if LEGACY in line]
    mentioning = [
        statement
        for statement in module.tree.body
        if any(statement.lineno <= n <= (statement.end_lineno or n) for n in lines)
    ]
    return found_in(mentioning, _SETTING)


def _executed(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that run when these statements do, in their order: not what is in functions."""
    for part in body:
        if not isinstance(part, _DEFINITIONS):
            yield part
            yield from _executed(list(ast.iter_child_nodes(part)))


def _uses_keras(node: ast.AST, names: Names) -> bool:
    """Whether this makes TensorFlow decide which Keras it is: `from tensorflow import keras` does not yet."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("tensorflow.keras")
    return isinstance(node, ast.Attribute) and names.dotted(node).startswith("tensorflow.keras.")


def _sets_it(node: ast.AST, may_be: bool = False) -> ast.AST | None:
    """The part of an assignment, or of a call, that sets the variable to something true (or that `may_be`)."""
    if isinstance(node, ast.Assign) and _is_true(node.value, may_be):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and _is_name(target.slice):
            return target
    if isinstance(node, ast.Call):
        if len(node.args) == 2 and _is_name(node.args[0]) and _is_setter(node.func):
            return node if _is_true(node.args[1], may_be) else None
        given = [k for k in node.keywords if k.arg == LEGACY and _is_true(k.value, may_be)]
        return node if given else None
    if may_be and isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values)
        return node if any(k and _is_name(k) and _is_true(v, may_be) for k, v in pairs) else None
    return None


def _is_setter(function: ast.expr) -> bool:
    """`os.environ.setdefault` and `os.putenv`; `os.environ.get` asks."""
    return getattr(function, "attr", getattr(function, "id", "")) in (
        "setdefault",
        "putenv",
        "setenv",
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == LEGACY


def _is_true(node: ast.expr, may_be: bool) -> bool:
    if isinstance(node, ast.Constant):
        return str(node.value).lower() in ("1", "true")
    return may_be
