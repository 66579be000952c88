"""Whether Python code does the same each time that it runs: then it does not matter whether it is traced once or often."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

import libcst as cst

from xlalint.fixes.draft import Draft

_LIBRARIES = ("tf.", "keras.", "tf_keras.", "math.")
# Functions of TensorFlow that write, or call Python. Classes may make variables.
_NOT_STEADY = ("tf.print", "tf.py_function", "tf.numpy_function", "tf.summary.")
_STEADY_CLASSES = frozenset({"GradientTape", "TensorArray", "TensorSpec", "TensorShape"})
_PYTHON = frozenset(
    "range len zip enumerate reversed isinstance min max sum abs int float bool".split()
)
# Methods of variables and tapes, which act when the program runs.
_METHODS = frozenset(
    "assign assign_add assign_sub gradient watch apply_gradients items keys values".split()
)


def free_names(draft: Draft, node: cst.CSTNode) -> frozenset[str]:
    """The names that code reads from around it: it binds them nowhere itself."""
    read = {n.value for n in draft.within(node) if isinstance(n, cst.Name) and _reads(draft, n)}
    bound = set(bound_names(draft, node))
    return frozenset(name for name in read - bound if not hasattr(builtins, name))


def bound_names(draft: Draft, node: cst.CSTNode) -> Iterator[str]:
    """The names that code binds: targets, parameters, functions, classes, imports, handlers."""
    for each in draft.within(node):
        if isinstance(each, cst.Name):
            parent = draft.parent(each)
            if (
                (
                    isinstance(parent, (cst.Param, cst.FunctionDef, cst.ClassDef))
                    and (parent.name is each)
                )
                or isinstance(parent, cst.AsName)
                or _is_target(draft, each)
            ):
                yield each.value
        elif isinstance(each, cst.ImportAlias) and each.asname is None:
            yield draft.code(each.name).partition(".")[0]


def _is_target(draft: Draft, name: cst.Name) -> bool:
    node: cst.CSTNode = name
    for above in draft.ancestors(name):
        if isinstance(above, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
            node = above
            continue
        if isinstance(above, (cst.For, cst.CompFor, cst.AugAssign, cst.AnnAssign, cst.NamedExpr)):
            return above.target is node
        return isinstance(above, (cst.AssignTarget, cst.Del))
    return False


def _reads(draft: Draft, name: cst.Name) -> bool:
    parent = draft.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    if isinstance(parent, cst.Arg):
        return parent.keyword is not name
    if isinstance(parent, (cst.Param, cst.FunctionDef, cst.ClassDef)):
        return parent.name is not name
    return not isinstance(parent, (cst.AsName, cst.ImportAlias)) and not _is_target(draft, name)


def is_steady(draft: Draft, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether tracing this function has no effect of its own, and gives the same program each time."""
    own = frozenset(bound_names(draft, function))
    for node in draft.within(function):
        if isinstance(node, (cst.Global, cst.Nonlocal, cst.Yield, cst.Raise, cst.Await, cst.Del)):
            return False
        if isinstance(node, cst.AssignTarget) and not isinstance(
            node.target, (cst.Name, cst.Tuple, cst.List)
        ):
            return False
        if isinstance(node, cst.AugAssign) and not isinstance(node.target, cst.Name):
            return False
        if isinstance(node, cst.Call) and not _is_steady_call(draft, node):
            return False
        is_decorator = isinstance(node, cst.Name) and _in_decorator(draft, node)
        if isinstance(node, cst.Name) and _reads(draft, node) and not is_decorator:
            if node.value not in own and not _never_changes(draft, node.value):
                return False
    return True


def _in_decorator(draft: Draft, name: cst.Name) -> bool:
    return any(isinstance(above, cst.Decorator) for above in draft.ancestors(name))


def _is_steady_call(draft: Draft, call: cst.Call) -> bool:
    name = draft.api(call.func)
    if name is not None:
        leaf = name.rpartition(".")[2]
        makes_object = leaf[:1].isupper() and leaf not in _STEADY_CLASSES
        is_known = name.startswith(_LIBRARIES) and not name.startswith(_NOT_STEADY)
        return is_known and not makes_object and ".Generator." not in name
    if isinstance(call.func, cst.Name):
        return call.func.value in _PYTHON
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _METHODS


def _never_changes(draft: Draft, name: str) -> bool:
    """Whether a name of the module is an import, or bound once to a number, a text, a variable or a tensor."""
    if hasattr(builtins, name) and not _bindings(draft.tree, name):
        return True
    found = _bindings(draft.tree, name)
    if len(found) != 1:
        return False
    [node] = found
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    if not isinstance(node, ast.Assign):
        return False
    value = node.value
    if isinstance(value, ast.Constant):
        return True
    root = value.func if isinstance(value, ast.Call) else None
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id == draft.tensorflow


def _bindings(tree: ast.Module, name: str) -> list[ast.stmt]:
    """The statements, anywhere in the module, that bind a name."""
    found: list[ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = {node.name}
        elif isinstance(node, ast.Global):
            names = set(node.names)
        elif isinstance(node, ast.stmt):
            names = {
                part.id
                for part in _own_parts(node)
                if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
            }
        else:
            continue
        if name in names:
            found.append(node)
    return found


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement holds beside other statements."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        pending += [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt)]
