"""What a call of a project function returns, of all that its body does."""

from __future__ import annotations

import ast

from xlalint.semantics import parameters
from xlalint.semantics.elements import flattened
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    ARRIVING,
    CALLED,
    FALSE,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    TRUE,
    Value,
)


def joined(frame: Frame) -> Value:
    """What a function returns; of several tensors, tuples of them or functions, those for callers that pass no more than defaults."""
    returned, unusual = frame.returned, frame.unusual_returns
    if frame.unequal_return is not None and len(returned) == 2:
        return frame.unequal_return
    usual = tuple(v for i, v in enumerate(returned) if i not in unusual)
    if usual and unusual and (all(v.kind in CALLED for v in usual) or _are_alike(returned)):
        return join_all(usual)
    return join_all(tuple(returned)) if returned else NOTHING_KNOWN


def _are_alike(returned: list[Value]) -> bool:
    """Whether all are tensors, or all tuples of as many."""
    if returned[0].kind is SEQUENCE:
        if any(v.kind is not SEQUENCE or len(v.ref) != len(returned[0].ref) for v in returned):
            return False
        returned = [item for value in returned for item in value.ref]
    return all(value.is_tensor for value in returned)


def for_tensors(value: Value, info: FunctionInfo, frame: Frame) -> Value:
    """What a function says that asks whether execution is eager: `return tf.executing_eagerly()` for tensors, True for anything else;
    `if not tf.executing_eagerly(): return True`, after questions that are put to other libraries' tensors.

    What stands under such a guard is not traced where it is given a tensor.
    """
    says = [returned.constant() for returned in frame.returned]
    if len(says) < 2 or not all(s and type(s.value) is bool for s in says):
        return value
    for node in nodes_of([info.node]):
        if isinstance(node, ast.Return) and node.value is not None:
            if _asks_for_eager(node.value):
                return FALSE
            if _asks_for_graph(node.value):
                return TRUE
        elif isinstance(node, ast.If) and _asks_for_graph(node.test):
            answer = node.body[0]
            if isinstance(answer, ast.Return) and isinstance(answer.value, ast.Constant):
                return TRUE if answer.value.value else FALSE
    return value


def annotated(info: FunctionInfo, given: list[Value], frame: Frame) -> Value:
    """What a function makes of tensors when nothing is known but its annotation: an abstract method, a call of another package."""
    returns = getattr(info.node, "returns", None)
    if returns is None or parameters.is_size(info.name):
        return NOTHING_KNOWN
    if not any(leaf.is_tensor and leaf.dependence >= ARRIVING for leaf in flattened(given)):
        return NOTHING_KNOWN
    promised = parameters.from_annotation(returns, frame)
    if promised is None or promised.kind is not TENSOR:
        return NOTHING_KNOWN
    return promised._replace(sure=False)


def _asks_for_graph(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        and _asks_for_eager(node.operand)
    )


def _asks_for_eager(node: ast.expr) -> bool:
    """Whether an expression is a call of `tf.executing_eagerly` or of its like."""
    return isinstance(node, ast.Call) and "executing_eagerly" in ast.unparse(node.func)
