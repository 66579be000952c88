"""Ranks of tensors against one another where none is known: `tf.expand_dims(x, 0)` has one dimension more than `x`.

The arms of a conditional that leave `x` and `tf.expand_dims(x, 0)` differ, whatever `x` is. The domain is small and lives only
while the arms of one conditional are compared: it reads their statements once more, when they leave tensors whose ranks the
analysis does not know.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL


class Rank(NamedTuple):
    """`more` dimensions above the rank that the name `base` had before the conditional; of no base, the rank itself.

    `reduced` is the name of which every axis was reduced: hardly a scalar, for nobody reduces those.
    """

    base: str | None
    more: int
    reduced: str | None = None


Ranks = dict[str, "Rank | None"]

# APIs by what they do to the rank of their first argument.
_SAME = frozenset(
    "tf.identity tf.cast tf.transpose tf.reverse tf.roll tf.stop_gradient tf.convert_to_tensor tf.sort tf.clip_by_value tf.abs "
    "tf.sqrt tf.square tf.exp tf.sin tf.cos tf.tanh tf.sigmoid tf.negative tf.zeros_like tf.ones_like tf.cumsum tf.tile tf.pad "
    "tf.nn.relu tf.nn.softmax tf.nn.l2_normalize tf.math.log tf.math.exp tf.math.sqrt tf.math.square tf.math.abs tf.math.cumsum "
    "keras.backend.cast".split()
) | frozenset(
    f"keras.ops.{name}"
    for name in "identity cast transpose flip roll stop_gradient convert_to_tensor sort clip abs sqrt square exp log sin cos tanh "
    "sigmoid negative zeros_like ones_like cumsum tile pad relu softmax".split()
)
_REDUCE = frozenset(
    f"{prefix}{name}"
    for prefix in ("tf.", "tf.math.")
    for name in "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_logsumexp".split()
) | frozenset(
    f"{prefix}{name}"
    for prefix in ("keras.backend.", "keras.ops.")
    for name in "sum mean max min prod any all logsumexp".split()
)
_ARG = frozenset(
    {
        "tf.argmax",
        "tf.argmin",
        "tf.math.argmax",
        "tf.math.argmin",
        "keras.backend.argmax",
        "keras.backend.argmin",
    }
)  # keras.ops.argmax flattens what it is given no axis for
_EXPAND = frozenset(
    {
        "tf.expand_dims",
        "keras.backend.expand_dims",
        "keras.ops.expand_dims",
        "tf.compat.v1.expand_dims",
    }
)
_SQUEEZE = frozenset(
    {"tf.squeeze", "keras.backend.squeeze", "keras.ops.squeeze", "tf.compat.v1.squeeze"}
)
_RESHAPE = frozenset({"tf.reshape", "keras.backend.reshape", "keras.ops.reshape"})
_STACK = frozenset({"tf.stack", "keras.backend.stack", "keras.ops.stack"})


def after(block: Sequence[ast.stmt], frame: Frame) -> Ranks:
    """Ranks of the names that a block binds, against the ranks of names before it. None: not known."""
    known: Ranks = {}
    _follow(block, frame, known)
    return known


def words(rank: Rank) -> str:
    """What a rank is against that of its base."""
    count = "one dimension" if abs(rank.more) == 1 else f"{abs(rank.more)} dimensions"
    return f"{count} {'more' if rank.more > 0 else 'less'}"


def _follow(block: Sequence[ast.stmt], frame: Frame, known: Ranks) -> None:
    for statement in block:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            rank = rank_of(statement.value, frame, known)
            known[statement.targets[0].id] = rank if len(statement.targets) == 1 else None
        elif isinstance(statement, ast.With):  # `with tf.name_scope("batch"):`
            for item in statement.items:
                if item.optional_vars is not None:
                    known.update(dict.fromkeys(_bound_names(item.optional_vars)))
            _follow(statement.body, frame, known)
        elif not isinstance(statement, (ast.Expr, ast.Pass)):
            known.update(dict.fromkeys(_bound_names(statement)))


def _bound_names(statement: ast.AST) -> set[str]:
    return {
        node.id
        for node in nodes_of([statement], into_functions=False)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def rank_of(node: ast.expr, frame: Frame, known: Ranks | None = None) -> Rank | None:
    """The rank of an expression against the names it is made of; None when it is not known."""
    ranks = known if known is not None else {}
    if isinstance(node, ast.Name):
        return ranks[node.id] if node.id in ranks else Rank(node.id, 0)
    if isinstance(node, ast.Constant):
        return Rank(None, 0) if type(node.value) in (int, float, bool) else None
    if isinstance(node, ast.UnaryOp):
        return rank_of(node.operand, frame, ranks)
    if isinstance(node, ast.BinOp):
        return _of_operation(node, frame, ranks)
    if isinstance(node, ast.Subscript):
        return _of_subscript(node, frame, ranks)
    if isinstance(node, ast.Call) and node.args:
        return _of_call(node, frame, ranks)
    return None


def _of_operation(node: ast.BinOp, frame: Frame, ranks: Ranks) -> Rank | None:
    """An operation with a Python number keeps the rank; of two tensors, the larger rank wins, and that is not known."""
    if isinstance(node.op, ast.MatMult):
        return None
    left, right = rank_of(node.left, frame, ranks), rank_of(node.right, frame, ranks)
    if isinstance(node.right, ast.Constant) and right == Rank(None, 0):
        return left
    if isinstance(node.left, ast.Constant) and left == Rank(None, 0):
        return right
    return left if left == right else None


def _of_subscript(node: ast.Subscript, frame: Frame, ranks: Ranks) -> Rank | None:
    base = rank_of(node.value, frame, ranks)
    if base is None:
        return None
    more = base.more
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        if isinstance(part, ast.Slice):
            continue
        if isinstance(part, ast.Constant):
            if part.value is Ellipsis:
                continue
            if part.value is None:
                more += 1
            elif type(part.value) is int:
                more -= 1
            else:
                return None
        elif _is_new_axis(part, frame):
            more += 1
        else:
            return None
    return Rank(base.base, more)


def _is_new_axis(node: ast.expr, frame: Frame) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "newaxis":
        return False
    return frame.analysis.evaluate(node, frame).kind is EXTERNAL


def _of_call(node: ast.Call, frame: Frame, ranks: Ranks) -> Rank | None:
    name = _called(node.func, frame)
    first = rank_of(node.args[0], frame, ranks) if name is not None else None
    if name in _EXPAND:
        return Rank(first.base, first.more + 1) if first is not None else None
    if name in _RESHAPE:
        shape = _argument(node, 1, "newshape" if name == "keras.ops.reshape" else "shape")
        if isinstance(shape, (ast.List, ast.Tuple)):
            if not any(isinstance(item, ast.Starred) for item in shape.elts):
                return Rank(None, len(shape.elts))
        return None
    if name in _STACK:
        items = node.args[0]
        if isinstance(items, (ast.List, ast.Tuple)) and items.elts:
            inner = rank_of(items.elts[0], frame, ranks)
            return Rank(inner.base, inner.more + 1) if inner is not None else None
        return None
    if name == "tf.fill":
        return _filled(node, frame, ranks)
    if first is None or name is None:
        return None
    if name in _REDUCE or name in _ARG or name in _SQUEEZE:
        return _reduced(node, first, name)
    return first if name in _SAME else None


def _filled(node: ast.Call, frame: Frame, ranks: Ranks) -> Rank | None:
    """What is filled with a value has its own dimensions, and the value none: tf.fill takes no other."""
    dims, value = node.args[0], _argument(node, 1, "value")
    if not isinstance(dims, (ast.List, ast.Tuple)) or value is None:
        return None
    inner = rank_of(value, frame, ranks)
    if inner is None or any(isinstance(item, ast.Starred) for item in dims.elts):
        return None
    return Rank(inner.base, inner.more + len(dims.elts))


def _reduced(node: ast.Call, first: Rank, name: str) -> Rank | None:
    """A reduction takes away one dimension per axis, the argmax of nothing named the first one."""
    if (
        any(keyword.arg in ("keepdims", "keep_dims") for keyword in node.keywords)
        or len(node.args) > 2
    ):
        return None
    axis = _argument(node, 1, "axis")
    if axis is None:
        if name in _ARG:
            return Rank(first.base, first.more - 1)
        return Rank(None, 0, first.base) if name in _REDUCE else None
    if isinstance(axis, (ast.List, ast.Tuple)):
        return Rank(first.base, first.more - len(axis.elts))
    inner = axis.operand if isinstance(axis, ast.UnaryOp) else axis
    if isinstance(inner, ast.Constant) and type(inner.value) is int:
        return Rank(first.base, first.more - 1)
    return None


def _argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    return node.args[position] if len(node.args) > position else None


def _called(func: ast.expr, frame: Frame) -> str | None:
    value = (
        frame.analysis.evaluate(func, frame)
        if isinstance(func, (ast.Name, ast.Attribute))
        else None
    )
    return api_name(str(value.ref)) if value is not None and value.kind is EXTERNAL else None
