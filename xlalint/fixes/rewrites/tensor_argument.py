"""XLA303: a number that changes from step to step, passed as a tensor."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import call_at, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.fixes.uses import takes_tensor
from xlalint.semantics.values import FUNCTION, Value

MENDS = ("XLA303",)

_FLOAT, _INT = "float32", "int32"
# A whole number where a float would do as well: `tf.cast(epoch, ...)`, `epoch + 1`.
_EITHER = "either"
# `strategy.run(step, args=(batch, epoch))` is followed so far.
_DEEPEST = 4


def propose(site: Site) -> Fix | None:
    """`step(batch, epoch)` to `step(batch, tf.constant(epoch, tf.float32))`, where the step only computes with it."""
    draft = site.draft
    call = call_at(draft, site.node)
    if call is None or spreads(call) or not isinstance(site.node, cst.BaseExpression):
        return None
    given = next((a for a in call.args if a.value is site.node), None)
    if given is None:
        return None
    called = _function(draft, call.func)
    if called is None:
        return None
    is_bound = isinstance(call.func, cst.Attribute) and _names_receiver(called)
    position = sum(1 for a in call.args[: call.args.index(given)] if a.keyword is None)
    keyword = given.keyword.value if given.keyword is not None else None
    parameter = keyword or _parameter(called, position + is_bound)
    dtypes = _dtypes(draft, called, parameter, 0) if parameter is not None else None
    if dtypes is None or (not dtypes and not _is_float(draft, site.node)):
        return None
    dtype = _settled(dtypes | ({_FLOAT} if _is_float(draft, site.node) else set()))
    if dtype is None:
        return None
    tensorflow, imports = draft.import_tensorflow()
    code = draft.code(site.node)
    return fix(
        UNSAFE,
        f"Pass a tensor of {dtype}; the function computes in {dtype} with it from then on, where Python had its own numbers",
        replace(draft, site.node, f"{tensorflow}.constant({code}, {tensorflow}.{dtype})"),
        *imports,
    )


def _function(draft: Draft, called: cst.BaseExpression) -> cst.FunctionDef | None:
    """The function of this file that is called; None where it is another file's, or not known."""
    known = {_node(belief.value) for belief in draft.believed(called)} - {None}
    defined = [each for each in draft.within(draft.module) if isinstance(each, cst.FunctionDef)]
    if known:
        found = [each for each in defined if draft.as_ast(each) in known]
    elif isinstance(called, cst.Attribute):
        found = [each for each in defined if each.name.value == called.attr.value]
        found = [each for each in found if _class(draft, each) is not None] or found
        if isinstance(called.value, cst.Name) and called.value.value == "self":
            found = [each for each in found if _class(draft, each) is _class(draft, called)]
    else:
        return None
    return found[0] if len(found) == 1 else None


def _class(draft: Draft, node: cst.CSTNode) -> cst.ClassDef | None:
    return next((a for a in draft.ancestors(node) if isinstance(a, cst.ClassDef)), None)


def _node(value: Value) -> ast.AST | None:
    if value.kind is not FUNCTION:
        return None
    info: Any = value.ref[0] if isinstance(value.ref, tuple) else value.ref
    return getattr(info, "node", None)


def _names_receiver(function: cst.FunctionDef) -> bool:
    first = next(iter((*function.params.posonly_params, *function.params.params)), None)
    return first is not None and first.name.value == "self"


def _parameter(function: cst.FunctionDef, position: int) -> str | None:
    named = (*function.params.posonly_params, *function.params.params)
    return named[position].name.value if position < len(named) else None


def _settled(dtypes: set[str]) -> str | None:
    """One dtype for all uses. A whole number may be a float where it meets floats; two kinds of floats cannot be one."""
    floats = {dtype for dtype in dtypes if "float" in dtype}
    others = dtypes - floats
    if floats:
        return floats.pop() if len(floats) == 1 and others <= {_EITHER} else None
    needed = others - {_EITHER} or {_INT}
    return needed.pop() if len(needed) == 1 else None


def _dtypes(draft: Draft, function: cst.FunctionDef, parameter: str, depth: int) -> set[str] | None:
    """What the uses of a parameter want of it; None where one of them needs a Python number, or cannot be judged."""
    found: set[str] = set()
    for name in draft.within(function.body):
        if not isinstance(name, cst.Name) or name.value != parameter:
            continue
        parent = draft.parent(name)
        is_label = (isinstance(parent, cst.Attribute) and parent.attr is name) or (
            isinstance(parent, cst.Arg) and parent.keyword is name
        )
        if is_label:
            continue
        wanted = _wanted(draft, name, depth)
        if wanted is None:
            return None
        found |= wanted
    return found


def _wanted(draft: Draft, name: cst.Name, depth: int) -> set[str] | None:
    handed_on = _handed_on(draft, name)
    if handed_on is not None:
        function, position = handed_on
        parameter = _parameter(function, position)
        if parameter is None or depth == _DEEPEST:
            return None
        return _dtypes(draft, function, parameter, depth + 1)
    if not takes_tensor(draft, name):
        return None
    node: cst.CSTNode = name
    while True:
        parent = draft.parent(node)
        if isinstance(parent, cst.UnaryOperation):
            node = parent
        elif isinstance(parent, cst.BinaryOperation):
            other = parent.left if parent.right is node else parent.right
            if isinstance(parent.operator, cst.Divide) or _is_float(draft, other):
                return {_FLOAT}
            value = draft.value(other)
            if value.is_tensor:
                return {value.dtype} if value.dtype is not None else {_FLOAT}
            node = parent
        elif isinstance(parent, cst.Arg):
            return {_of_call(draft, parent)}
        elif isinstance(parent, cst.Index):
            return None  # `x[index]` compiles again for each value of a tensor, too
        else:
            return {_EITHER}


def _of_call(draft: Draft, given: cst.Arg) -> str:
    """What a function wants of an argument: a float beside other floats, else the whole number that it gets today."""
    call = draft.parent(given)
    others = [a.value for a in call.args if a is not given] if isinstance(call, cst.Call) else []
    if any(_is_float(draft, other) for other in others):
        return _FLOAT
    is_cast = isinstance(call, cst.Call) and draft.api(call.func) == "tf.cast"
    return _EITHER if is_cast else _INT


def _is_float(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether an expression is seen to be one of Python's floats."""
    value = draft.value(node).constant()
    if value is not None:
        return isinstance(value.value, float)
    if isinstance(node, cst.Float):
        return True
    if isinstance(node, cst.Name):
        return any(
            isinstance(draft.parent(each), cst.AssignTarget)
            and isinstance(made := draft.parent(draft.parent(each) or each), cst.Assign)
            and not isinstance(made.value, cst.Name)
            and _is_float(draft, made.value)
            for each in draft.within(draft.function(node) or draft.module)
            if isinstance(each, cst.Name) and each.value == node.value
        )
    if isinstance(node, cst.BinaryOperation):
        is_true_division = isinstance(node.operator, cst.Divide)
        parts = (node.left, node.right)
        return is_true_division or any(
            _is_float(draft, p) for p in parts if not isinstance(p, cst.Name)
        )
    return False


def _handed_on(draft: Draft, name: cst.Name) -> tuple[cst.FunctionDef, int] | None:
    """`strategy.run(step, args=(batch, epoch))`, `helper(batch, epoch)`: the function, and the place of the parameter."""
    parent = draft.parent(name)
    if isinstance(parent, cst.Element):
        values, given = draft.parent(parent), draft.parent(draft.parent(parent) or parent)
        call = draft.parent(given) if isinstance(given, cst.Arg) else None
        if isinstance(call, cst.Call) and isinstance(values, (cst.Tuple, cst.List)):
            is_run = isinstance(call.func, cst.Attribute) and call.func.attr.value == "run"
            function = _function(draft, call.args[0].value) if is_run and call.args else None
            if function is not None:
                index = next(i for i, each in enumerate(values.elements) if each is parent)
                is_bound = isinstance(call.args[0].value, cst.Attribute) and _names_receiver(
                    function
                )
                return function, index + is_bound
        return None
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and isinstance(parent, cst.Arg) and parent.keyword is None:
        function = _function(draft, call.func)
        if function is not None and not spreads(call):
            index = next(i for i, each in enumerate(call.args) if each is parent)
            is_bound = isinstance(call.func, cst.Attribute) and _names_receiver(function)
            return function, index + is_bound
    return None
