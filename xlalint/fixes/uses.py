"""Where the value of an expression goes: whether a tensor does there what a Python or NumPy value did."""

from __future__ import annotations

import libcst as cst

from xlalint.fixes.draft import Draft
from xlalint.semantics.values import FUNCTION

# TensorFlow functions that make a size of an argument, or of any but the first: what only the data say is no size for XLA.
_TAKES_SIZES = frozenset(
    "zeros ones fill range linspace sequence_mask eye normal uniform truncated_normal TensorArray Input".split()
)
_TAKES_SIZES_NEXT = frozenset(
    "reshape tile broadcast_to slice strided_slice pad one_hot repeat split resize top_k bincount".split()
)
_LIBRARIES = ("tf.", "keras.", "tf_keras.", "np.", "math.")
_ASSIGN = frozenset({"assign", "assign_add", "assign_sub"})
# Python functions that a later pass turns into TensorFlow's.
_CASTS = frozenset({"int", "float", "bool"})


def places(draft: Draft, node: cst.BaseExpression) -> list[cst.CSTNode]:
    """Where a value is used: the expression itself, or every place that reads the name it is assigned to."""
    parent = draft.parent(node)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        target = parent.targets[0].target
        function = draft.function(node)
        if isinstance(target, cst.Name) and function is not None:
            return [
                each
                for each in draft.within(function)
                if isinstance(each, cst.Name)
                and each.value == target.value
                and each is not target
                and not _is_label(draft, each)
            ]
    return [node]


def _is_label(draft: Draft, name: cst.Name) -> bool:
    """The name of an attribute or of a keyword argument, which is no variable."""
    parent = draft.parent(name)
    return (isinstance(parent, cst.Attribute) and parent.attr is name) or (
        isinstance(parent, cst.Arg) and parent.keyword is name
    )


def takes_tensor(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether a tensor serves wherever this value goes, as far as can be seen."""
    return _all_take(draft, node, set())


def _all_take(draft: Draft, node: cst.BaseExpression, seen: set[int]) -> bool:
    return all(_takes(draft, place, seen) for place in places(draft, node))


def _takes(draft: Draft, node: cst.CSTNode, seen: set[int]) -> bool:
    if id(node) in seen:
        return True
    seen.add(id(node))
    parent = draft.parent(node)
    if isinstance(parent, (cst.BinaryOperation, cst.Comparison)):
        return _takes(draft, parent, seen)
    if isinstance(parent, cst.ComparisonTarget):
        is_equality = isinstance(parent.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn))
        above = draft.parent(parent)
        return not is_equality and above is not None and _takes(draft, above, seen)
    if isinstance(parent, cst.UnaryOperation):
        return not isinstance(parent.operator, cst.Not) and _takes(draft, parent, seen)
    if isinstance(parent, cst.Arg):
        return _call_takes(draft, parent, seen)
    if isinstance(parent, cst.Return):
        return True
    if isinstance(parent, (cst.Element, cst.DictElement, cst.Tuple, cst.List, cst.Dict)):
        return _takes(draft, parent, seen)
    if isinstance(parent, cst.IfExp):
        return parent.test is not node and _takes(draft, parent, seen)
    if isinstance(parent, cst.Index):
        return _is_tensor_index(draft, parent)
    if isinstance(parent, cst.Subscript):
        return parent.value is node and _takes(draft, parent, seen)
    if isinstance(parent, cst.Assign):
        return all(isinstance(t.target, cst.Name) for t in parent.targets) and (
            len(parent.targets) == 1 and _all_take(draft, parent.value, seen)
        )
    if isinstance(parent, (cst.AssignTarget, cst.NameItem)):
        return True  # assigned anew: what is read then is judged by itself
    return isinstance(parent, cst.Expr)


def _call_takes(draft: Draft, given: cst.Arg, seen: set[int]) -> bool:
    call = draft.parent(given)
    if not isinstance(call, cst.Call) or given.star:
        return False
    if draft.value(call.func).kind is FUNCTION:
        return True
    if isinstance(call.func, cst.Name) and call.func.value in _CASTS:
        return _takes(draft, call, seen)
    if _assigns(call) or _collects_for_tensorflow(draft, call):
        return True
    name = draft.api(call.func)
    if name is None or not name.startswith(_LIBRARIES):
        return False
    function = name.rpartition(".")[2]
    is_first = call.args[0] is given
    return function not in _TAKES_SIZES and (is_first or function not in _TAKES_SIZES_NEXT)


def _assigns(call: cst.Call) -> bool:
    """`variable.assign_sub(x)`."""
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _ASSIGN


def _collects_for_tensorflow(draft: Draft, call: cst.Call) -> bool:
    """`rows.append(x)`, where `rows` only ever goes to functions of TensorFlow."""
    function = draft.function(call)
    method = call.func
    if function is None or not isinstance(method, cst.Attribute) or method.attr.value != "append":
        return False
    owner = method.value
    if not isinstance(owner, cst.Name):
        return False
    reads = [
        each
        for each in draft.within(function)
        if isinstance(each, cst.Name) and each.value == owner.value and not _is_label(draft, each)
    ]
    return all(_is_given_to_tensorflow(draft, each) for each in reads)


def _is_given_to_tensorflow(draft: Draft, name: cst.Name) -> bool:
    parent = draft.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value == "append"
    if isinstance(parent, cst.AssignTarget):
        return True
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and (draft.api(call.func) or "").startswith("tf.")


def _is_tensor_index(draft: Draft, index: cst.Index) -> bool:
    """`x[i]` of a tensor x takes a tensor; a Python list does not."""
    for above in draft.ancestors(index):
        if isinstance(above, cst.Subscript):
            return draft.value(above.value).is_tensor
    return False
