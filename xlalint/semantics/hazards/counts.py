"""Who counted the elements of a data-sized tensor: XLA up to TensorFlow 2.15 combines two only where one operation did.

A mask counts what it keeps, and so does each slice, product of matrices and reshape of what was kept: `x[keep] - y[keep]` and
`kept[:, 0] * kept[:, 1]` are refused there ("Fail to proof the equality of two dimensions"), and compile from TensorFlow 2.16 on.
Elementwise operations, casts, reductions of other axes, one-hot vectors and gathers by the same indices keep the count (all measured, TensorFlow
2.12, 2.15, 2.16, 2.17, 2.18 and 2.21: fixtures/XLA204/flagged_separate_counts.py).

`tf.math.in_top_k`, `tf.reverse_sequence` and `tf.linalg.set_diag` take tensors that were counted apart (TensorFlow 2.15: near_one_count.py).

Ones, tiles and broadcasts of `tf.shape(kept)[0]` rows have the count of what was kept. `tf.size(kept)`, and a shape in int64, count again, and so do
`tf.range` and `tf.repeat`, whatever they are given (TensorFlow 2.15: flagged_sizes_counted_again.py).

Of what masks have kept along two axes (the rows and the columns of a matrix), each axis has a count of its own, and the pair of them is
a negative number here. Such a matrix meets itself alone: neither its transpose nor `tf.eye` of its size (flagged_counts_of_two_axes.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import DATA_SIZED_USE
from xlalint.semantics.values import BOUNDED, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
    from xlalint.semantics.catalog.entries import Api
    from xlalint.semantics.frames import Frame

SEPARATE = "separate-counts"
# These count anew whatever they are given; what gathers has the count of its indices.
_COUNT_ANEW = frozenset(
    "boolean_mask matmul reshape transpose permute_dimensions dot repeat".split()
)
# The same, where they are given a size.
_COUNT_UP = frozenset({"range", "repeat"})
_GATHERS = {
    "gather": "indices",
    "gather_nd": "indices",
    "embedding_lookup": "ids",
    "take": "indices",
}
_TURN = frozenset({"transpose", "permute_dimensions", "matrix_transpose", "adjoint"})
_ELEMENTWISE = ("same", "broadcast")
_CALLED_ALIKE = ("same", "broadcast", "reduce", "drop:")
# These keep the count of what they are given, though not its shape.
_KEEP_COUNTS = frozenset(
    "cast one_hot expand_dims sequence_mask sort tile top_k split reverse".split()
)
# Of several tensors, but with no element of one beside an element of another.
_NOT_PAIRED = frozenset(
    "where concat stack concatenate matmul einsum tensordot dot gather gather_nd take tensor_scatter_nd_update "
    "tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min "
    "in_top_k top_k_categorical_accuracy sparse_top_k_categorical_accuracy reverse_sequence set_diag".split()
)
# Of labels and of what has an axis of classes behind theirs, these compare how many rows there are.
_BY_ROWS = "sparse_"
# These combine within what they make of one argument and another, each counted on its way.
_PAIR_WITHIN = frozenset({"meshgrid", "softmax_cross_entropy_with_logits"})
# The same, where both of what they take are data-sized, also by one count.
_COMPARE_WITHIN = frozenset({"non_max_suppression"})
_PAIRED = ("keras.losses.", "keras.metrics.", "tf.losses.", "tf.compat.v1.losses.")


# Since this version XLA takes counts that it cannot compare as equal.
_TAKEN_AS_EQUAL = (2, 16)


def are_told_apart(tensorflow: str) -> bool:
    """Whether XLA in a TensorFlow version (such as `2.15`) refuses tensors whose elements were counted apart."""
    numbers = tuple(int(part) for part in tensorflow.split(".")[:2] if part.isdigit())
    return len(numbers) == 2 and numbers < _TAKEN_AS_EQUAL


def here(node: ast.AST, frame: Frame) -> int | None:
    """The count of a data-sized tensor that this expression makes; None where no XLA in question tells counts apart."""
    if not frame.analysis.tells_counts_apart:
        return None
    return int(node.lineno * 4096 + node.col_offset)  # type: ignore[attr-defined]


def of_operands(operands: Iterable[Value]) -> int | None:
    """The count that the result of an elementwise operation has."""
    found = {operand.counted for operand in operands if operand.producer is not None}
    return found.pop() if len(found) == 1 else None


def of_call(api: Api, arguments: Arguments, value: Value, node: ast.AST, frame: Frame) -> Value:
    """The data-sized result of a call, with its count."""
    if value.producer is None or not value.is_tensor:
        return value
    sized = _sized(arguments.values)
    leaf = api.name.rsplit(".", 1)[-1]
    if leaf == "reshape" and any(size.dependence == BOUNDED for size in _sizes(arguments)):
        return value._replace(counted=None)  # `[tf.shape(kept)[0], 1]` names a count itself
    if not sized and (asked := _asked(arguments)):
        count = asked.pop() if len(asked) == 1 else None
        if leaf in _COUNT_UP:
            return value._replace(counted=here(node, frame))
        is_square = leaf == "eye" and len(arguments.positional) == 1 and not arguments.keywords
        if is_square and _of_two_axes(count):
            count = _pair_here(node, frame)
        return value._replace(counted=count)
    if _keeps_another_axis(leaf, arguments):
        return value._replace(sized_axis=None, counted=_pair_here(node, frame))
    if leaf in _TURN and _of_two_axes(of_operands(sized)):
        return value._replace(counted=_pair_here(node, frame))
    if not sized or leaf in _COUNT_ANEW:
        return value._replace(counted=here(node, frame))
    if leaf in _GATHERS:
        given = (
            *arguments.positional[1:2],
            *(v for k, v in arguments.keywords.items() if k == _GATHERS[leaf]),
        )
        return value._replace(counted=of_operands(given))
    is_kept = leaf in _KEEP_COUNTS or (api.shape or "").startswith(_CALLED_ALIKE)
    count = of_operands(sized) if is_kept else None
    if _of_two_axes(count) and not (api.shape or "").startswith(_ELEMENTWISE):
        count = None  # of which axis, nobody knows
    return value._replace(counted=count)


def of_size(name: str, size: Value, node: ast.AST, frame: Frame) -> Value:
    """How many elements a data-sized tensor has, or its shape, as a call of `name` tells: with the tensor's count, or one of its own."""
    if name == "tf.size" or size.dtype == "int64":
        return size._replace(counted=here(node, frame))
    return size


_PARTS = frozenset({"tf.unique", "tf.dynamic_partition", "keras.ops.unique"})


def of_parts(name: str, parts: Value, node: ast.AST, frame: Frame) -> Value:
    """What a call of `name` that returns several data-sized tensors makes: each with a count of its own."""
    first = here(node, frame) if name in _PARTS else None
    if first is None:
        return parts
    counted = (
        part._replace(counted=first + place) if part.producer is not None else part
        for place, part in enumerate(parts.ref)
    )
    return parts._replace(ref=tuple(counted))


def _keeps_another_axis(leaf: str, arguments: Arguments) -> bool:
    """Whether a mask is given what another has kept, and is as long as an axis that is whole: not the same one."""
    if leaf != "boolean_mask" or len(arguments.positional) < 2:
        return False
    kept, mask = arguments.positional[:2]
    return kept.is_tensor and kept.producer is not None and mask.is_tensor and mask.producer is None


def _pair_here(node: ast.AST, frame: Frame) -> int | None:
    """The counts of two axes that this expression makes."""
    count = here(node, frame)
    return None if count is None else -count


def _of_two_axes(count: int | None) -> bool:
    return count is not None and count < 0


def of_item(
    base: Value, producer: str | None, dependence: int, node: ast.AST, frame: Frame
) -> int | None:
    """The count of a part of a data-sized tensor, or of its shape: `tf.shape(kept)[0]` is the count of what was kept.

    One row of it (`kept[0]`, of which nothing is the `producer`) has the size of any row, and is not counted.
    """
    if base.producer is not None:
        return here(node, frame) if producer is not None else None
    return base.counted if dependence == BOUNDED else None


def _asked(arguments: Arguments) -> set[int | None]:
    """The counts that a call is given as sizes (`tf.ones([tf.shape(kept)[0], 1])`); None stands for one that nobody knows."""
    given = arguments.values
    return {
        leaf.counted
        for value in given
        for leaf in leaves(value)
        if leaf.is_tensor and leaf.dependence == BOUNDED
    }


def _sizes(arguments: Arguments) -> tuple[Value, ...]:
    """The sizes that a call of `tf.reshape` gives."""
    given = (*arguments.positional[1:2], arguments.keywords.get("shape"))
    return tuple(leaf for value in given if value is not None for leaf in leaves(value))


def note_pair(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """Note an elementwise operation on two tensors that were counted apart. XLA does not compare counts in the bodies of loops and
    conditionals (measured, TensorFlow 2.15).
    """
    if _are_apart(left, right):
        _note_apart(node, left, right, frame)


def _note_apart(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    if not (frame.constructs or frame.bodies):
        frame.analysis.note(frame, node, DATA_SIZED_USE, left if left.sure else right, SEPARATE)


def note_call(api: Api, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """The same of a call: a loss of kept labels and kept predictions, or `tf.minimum(x[keep], y[keep])`."""
    leaf = api.name.rsplit(".", 1)[-1]
    within = 1 if leaf in _PAIR_WITHIN else 2 if leaf in _COMPARE_WITHIN else 0
    if within and frame.analysis.tells_counts_apart:
        _note_within(within, arguments, node, frame)
        return
    is_paired = (api.shape or "").startswith(_CALLED_ALIKE) or api.name.startswith(_PAIRED)
    if frame.analysis.tells_counts_apart and is_paired and leaf not in _NOT_PAIRED:
        note_arguments(arguments, node, frame, by_rows=leaf.startswith(_BY_ROWS))


def _note_within(least: int, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    sized = _sized(arguments.values)
    if len(sized) >= least and not (frame.constructs or frame.bodies):
        frame.analysis.note(frame, node, DATA_SIZED_USE, sized[0], SEPARATE)


def note_arguments(
    arguments: Arguments, node: ast.AST, frame: Frame, *, by_rows: bool = False
) -> None:
    """Note a call that works on its data-sized arguments element by element, or row by row."""
    sized = _sized(arguments.values)
    for other in sized[1:]:
        if by_rows and sized[0].sized_axis == other.sized_axis == 0:
            if _have_other_counts(sized[0], other):
                _note_apart(node, sized[0], other, frame)
        else:
            note_pair(node, sized[0], other, frame)


def _sized(values: Iterable[Value]) -> list[Value]:
    return [
        leaf
        for value in values
        for leaf in leaves(value)
        if leaf.is_tensor and leaf.producer is not None
    ]


def _have_other_counts(left: Value, right: Value) -> bool:
    if left.counted is None or right.counted is None or left.counted == right.counted:
        return False
    return _of_two_axes(left.counted) == _of_two_axes(right.counted)


def _are_apart(left: Value, right: Value) -> bool:
    if left.shape == () or right.shape == () or not _have_other_counts(left, right):
        return False
    if _of_two_axes(left.counted):
        return True
    if _may_be_broadcast(left, right) or _may_be_broadcast(right, left):
        return False
    return _place(left, right) == _place(right, left) is not None


def _may_be_broadcast(value: Value, other: Value) -> bool:
    """Whether the axes may not meet: `tf.reshape(kept, (-1, 1))` beside a row of as many as another mask kept."""
    if value.shape is None or other.shape is not None:
        return False
    return len(value.shape) > max(other.rank or 1, 1)


def _place(value: Value, other: Value) -> int | None:
    """Where the data-sized axis is: from the end where both ranks are known, as broadcasting counts."""
    if value.sized_axis is None:
        return None
    if value.shape is None or other.shape is None:
        return value.sized_axis
    return value.sized_axis - len(value.shape)
