"""Through which parts of an expression a gradient may pass, and what the assignments of a function carry."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name, nodes_of

# What is assigned: the names that are set together, and what they are set to.
Assigned = tuple[frozenset[str], ast.expr]

# Calls whose results carry no gradient.
_CUTTING = frozenset(
    {
        "stop_gradient",
        "argmax",
        "argmin",
        "argsort",
        "equal",
        "not_equal",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "shape",
        "size",
        "rank",
        "get_shape",
        "as_list",
        "int_shape",
        "shape_list",
        "len",
        "zeros_like",
        "ones_like",
        # What a variable or a metric is set to.
        "assign",
        "assign_add",
        "assign_sub",
        "update_state",
    }
)


# What a tensor says of itself: `tf.cast(mask, x.dtype)` carries nothing of `x`.
_ABOUT_IT = frozenset({"dtype", "shape", "ndim", "device", "name"})


def carrying(expression: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression through which a gradient may pass: not what is cut off, counted, or compared."""
    pending: list[ast.AST] = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Compare) or (isinstance(part, ast.Call) and _cuts(part)):
            continue
        if isinstance(part, ast.Attribute) and part.attr in _ABOUT_IT:
            continue
        yield part
        if isinstance(part, ast.Subscript):
            pending.append(part.value)
        elif isinstance(part, ast.Call):
            pending += [part.func, *_differentiated(part)]
        else:
            pending.extend(ast.iter_child_nodes(part))


# Arguments that say where, and carry no gradient: position and name.
_PLACES: dict[str | None, tuple[int, str]] = {
    "gather": (1, "indices"),
    "gather_nd": (1, "indices"),
    "scatter_nd": (0, "indices"),
    "tensor_scatter_nd_add": (1, "indices"),
    "tensor_scatter_nd_sub": (1, "indices"),
    "tensor_scatter_nd_update": (1, "indices"),
    "tensor_scatter_nd_max": (1, "indices"),
    "tensor_scatter_nd_min": (1, "indices"),
    "boolean_mask": (1, "mask"),
    "where": (0, "condition"),
}


def _differentiated(call: ast.Call) -> Iterator[ast.AST]:
    """The arguments of a call through which a gradient may pass."""
    position, name = _PLACES.get(called_name(call), (-1, ""))
    yield from (argument for index, argument in enumerate(call.args) if index != position)
    yield from (keyword.value for keyword in call.keywords if keyword.arg != name)


def _cuts(call: ast.Call) -> bool:
    name = called_name(call)
    if name == "cast" and len(call.args) > 1:
        return getattr(call.args[1], "attr", "").startswith(("int", "uint", "bool"))
    return name in _CUTTING


# Every result of a function asks the same of its assignments.
@lru_cache(maxsize=4096)
def names_in(expression: ast.expr) -> frozenset[str]:
    """Names through which a gradient may pass."""
    return frozenset(part.id for part in carrying(expression) if isinstance(part, ast.Name))


def assignments(part: ast.AST) -> Iterator[Assigned]:
    if isinstance(part, ast.Assign):
        targets = part.targets
        if isinstance(part.value, ast.Call) and called_name(part.value) == "top_k":
            targets = [first_of(target) for target in targets]  # the indices carry no gradient
        names = [n.id for t in targets for n in nodes_of([t]) if isinstance(n, ast.Name)]
        yield frozenset(names) - {"_"}, part.value
    elif isinstance(part, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        if isinstance(part.target, ast.Name) and part.value is not None:
            yield frozenset((part.target.id,)), part.value
    elif isinstance(part, ast.For):
        names = [n.id for n in nodes_of([part.target]) if isinstance(n, ast.Name)]
        yield frozenset(names) - {"_"}, part.iter
    elif isinstance(part, ast.Call) and part.args and (listed := _list_added_to(part.func)):
        yield frozenset((listed,)), part.args[0]


def _list_added_to(func: ast.expr) -> str | None:
    """`losses` of `losses.append`."""
    if isinstance(func, ast.Attribute) and func.attr in ("append", "extend"):
        return func.value.id if isinstance(func.value, ast.Name) else None
    return None


def first_of(target: ast.expr) -> ast.expr:
    return target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target


def bound(info: FunctionInfo | None, assignments: list[Assigned]) -> frozenset[str]:
    """Names that are a function's own, whatever the functions around it call so."""
    if info is None:
        return frozenset()
    given = info.node.args
    arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return frozenset(a.arg for a in arguments).union(*(targets for targets, _ in assignments))


def backwards(expressions: Iterable[ast.expr], assigned: list[Assigned]) -> set[str]:
    """The names that flow into expressions."""
    seen: set[str] = set()
    pending = list(expressions)
    while pending:
        for name in names_in(pending.pop()) - seen:
            seen.add(name)
            pending.extend(value for targets, value in assigned if name in targets)
    return seen
