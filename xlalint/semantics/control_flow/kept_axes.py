"""Which arguments a result is at least as long as, and along which axes: `tf.gather(beams, best, batch_dims=1)` and `beams` have as many words.

What is combined element by element is as long as the longest of its parts. What is gathered, multiplied as matrices or repeated may
be longer or shorter along some axes only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from xlalint.semantics.control_flow import named_tests
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import result_shapes

Axes = frozenset[int]


class Source(NamedTuple):
    """An argument, and the axes along which the result may be shorter than it."""

    node: ast.expr
    changed: Axes = frozenset()


def are_apart(one: int | None, other: int | None, least_rank: int) -> bool:
    """Whether two numbers call two axes of a tensor of at least that many: 1 and -1 are the same one of a matrix."""
    if one is None or other is None:
        return False
    if (one < 0) == (other < 0):
        return one != other
    return least_rank > abs(one - other)


def of_operation(node: ast.BinOp) -> list[Source]:
    """The operands of an operator."""
    if isinstance(node.op, ast.MatMult):
        return _of_product(node.left, node.right)
    return [Source(node.left), Source(node.right)]


def of_call(name: str, node: ast.Call, frame: Frame) -> list[Source]:
    """The arguments of a call of that API."""
    special = _SPECIAL.get(name.replace("tf.compat.v1.", "tf."))
    if special is not None:
        return _of_special(special, node, frame)
    api = frame.analysis.catalog.api(name) if name.startswith(("tf.", "keras.")) else None
    if api is None or any(keyword.arg in api.shape_unless for keyword in node.keywords):
        return []
    if api.shape == "same":
        return [Source(node.args[0])] if node.args else []
    return _sources(node.args) if api.shape == "broadcast" else []


def number(node: ast.expr | None, frame: Frame) -> int | None:
    """The whole number that an argument is known to be."""
    return None if node is None else result_shapes.number(frame.analysis.evaluate(node, frame))


def written_rank(node: ast.expr, frame: Frame) -> int:
    """How many axes a part of a concatenation has at least, as it is written: two in `row[:, None]` and `tf.expand_dims(row, 1)`."""
    if isinstance(node, ast.Subscript):
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_none = [isinstance(each, ast.Constant) and each.value is None for each in given]
        return sum(isinstance(each, ast.Slice) or new for each, new in zip(given, is_none))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "expand_dims":
            return (number(_argument(node, 1, "axis"), frame) or 0) + 1
    return 0


def _sources(nodes: Iterable[ast.expr]) -> list[Source]:
    return [Source(node) for node in nodes if not isinstance(node, ast.Starred)]


def _of_special(kind: str, node: ast.Call, frame: Frame) -> list[Source]:
    first = _argument(node, 0, "params", "x", "input", "tensor", "arr", "a", "x1", "condition")
    if first is None or any(isinstance(each, ast.Starred) for each in node.args):
        return []
    if kind == "where":
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return _sources(given) if len(given) == 3 else []
    if kind == "matmul":
        second = _argument(node, 1, "b", "x2")
        is_plain = len(node.args) <= 2 and {k.arg for k in node.keywords} <= {"a", "b", "x1", "x2"}
        return _of_product(first, second) if second is not None and is_plain else []
    changed = _changed(kind, node, frame)
    return [] if changed is None else [Source(first, changed)]


def _of_product(left: ast.expr, right: ast.expr) -> list[Source]:
    return [Source(left, frozenset({-1})), Source(right, frozenset({-2}))]


def _changed(kind: str, node: ast.Call, frame: Frame) -> Axes | None:
    """The axes along which the result may be shorter than the first argument; None where they are not known."""
    if kind == "pad":
        return frozenset()
    if kind == "gather":
        batched = _argument(node, 4, "batch_dims")
        axis = _argument(node, 3, "axis") or batched
        along = 0 if axis is None else number(axis, frame)
        return None if along is None else frozenset({along})
    if kind == "gather_nd":
        return _gone_through(node, frame)
    if kind == "tile":
        times = _argument(node, 1, "multiples", "repeats")
        if not isinstance(times, (ast.List, ast.Tuple)):
            return None
        known = [number(each, frame) for each in times.elts]
        return frozenset(place for place, each in enumerate(known) if each is None or each < 1)
    along = number(_argument(node, 2, "axis"), frame)
    return None if along is None else frozenset({along})


def _gone_through(node: ast.Call, frame: Frame) -> Axes | None:
    """The axes that the indices of `tf.gather_nd` go through: as many as they have columns."""
    indices, batched = _argument(node, 1, "indices"), _argument(node, 2, "batch_dims")
    if indices is None:
        return None
    made = _as_written(indices, frame)
    if (
        isinstance(made, ast.Call) and made.args
    ):  # tf.stack([rows, columns], -1), or behind the axes that both have
        items, axis = made.args[0], number(_argument(made, 1, "axis"), frame)
        is_stack = isinstance(made.func, ast.Attribute) and made.func.attr == "stack"
        if is_stack and isinstance(items, (ast.List, ast.Tuple)) and axis not in (None, 0):
            return _first_axes(len(items.elts), batched, frame)
    shape = frame.analysis.evaluate(indices, frame).shape
    return _first_axes(shape[-1], batched, frame) if shape and shape[-1] is not None else None


def _as_written(node: ast.expr, frame: Frame) -> ast.expr:
    """What a name was assigned in the function that it stands in, or in one around that."""
    around = frame.module.innermost(node.lineno) if isinstance(node, ast.Name) else None
    while around is not None:
        made = named_tests.written(node, around)
        if made is not node:
            return made
        around = around.parent
    return node


def _first_axes(depth: int, batched: ast.expr | None, frame: Frame) -> Axes | None:
    first = 0 if batched is None else number(batched, frame)
    return None if first is None else frozenset(range(first, first + depth))


def _argument(node: ast.Call, position: int, *names: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    return node.args[position] if len(node.args) > position else None


_SPECIAL = {
    "tf.gather": "gather",
    "tf.gather_nd": "gather_nd",
    "tf.where": "where",
    "tf.matmul": "matmul",
    "tf.linalg.matmul": "matmul",
    "tf.tile": "tile",
    "tf.repeat": "repeat",
    "tf.pad": "pad",
    "tf.experimental.numpy.take_along_axis": "along",
    "tf.experimental.numpy.take": "along",
    "keras.ops.take": "along",
    "keras.ops.take_along_axis": "along",
    "keras.ops.where": "where",
    "keras.ops.matmul": "matmul",
    "keras.ops.tile": "tile",
    "keras.ops.repeat": "repeat",
    "keras.ops.pad": "pad",
}
