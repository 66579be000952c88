"""Sparse and ragged tensors: what makes them, what their attributes, operators and subscripts are.

Which of their uses compile was measured with TensorFlow 2.21: what only reads or maps the values inside does, what looks
at the structure mostly has no kernel.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.elements import flattened
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import ragged_operands
from xlalint.semantics.hazards.noted_calls import note_operation
from xlalint.semantics.results.result_shapes import number
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    CONSTANT,
    FALSE,
    FROM_SHAPE,
    NONE,
    NOTHING_KNOWN,
    RAGGED,
    SOME_PYTHON,
    SPARSE,
    STATIC_SHAPE,
    TENSOR,
    TRUE,
    Value,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_SPARSE_MAKERS = frozenset(
    {f"tf.sparse.{name}" for name in
     "from_dense reorder concat transpose expand_dims softmax slice reshape retain map_values maximum minimum eye bincount "
     "cross cross_hashed reset_shape SparseTensor".split()}
    | {"tf.SparseTensor", "tf.RaggedTensor.to_sparse", "tf.compat.v1.sparse_placeholder"}
    | {f"tf.sets.{name}" for name in ("difference", "intersection", "union")}
)  # fmt: skip
_RAGGED_MAKERS = frozenset(
    {f"tf.ragged.{name}" for name in
     "constant stack range stack_dynamic_partitions map_flat_values cross cross_hashed".split()}
    | {f"tf.RaggedTensor.{name}" for name in
       "from_row_lengths from_row_limits from_row_splits from_row_starts from_value_rowids from_uniform_row_length "
       "from_nested_row_splits from_nested_row_lengths from_nested_value_rowids from_tensor from_sparse with_values "
       "with_flat_values with_row_splits_dtype".split()}
    | {"tf.strings.split", "tf.strings.bytes_split", "tf.strings.unicode_split", "tf.strings.unicode_decode"}
)  # fmt: skip
# Functions of single elements or of whole rows: given a composite tensor they give one of the same kind.
_KEEP_KIND = frozenset(
    "abs add add_n cast ceil clip_by_value cos divide dropout equal exp expm1 floor greater greater_equal identity invert "
    "less less_equal log log1p log_sigmoid logical_and logical_not logical_or maximum minimum mod multiply negative "
    "not_equal one_hot ones_like pow reciprocal relu round rsqrt sigmoid sign sin sqrt square stop_gradient subtract tanh "
    "truediv zeros_like is_nan is_finite leaky_relu gelu elu softplus erf "
    "concat gather stack reverse tile expand_dims squeeze softmax embedding_lookup".split()
)
_MOVE_ROWS = frozenset("concat stack reverse tile expand_dims squeeze".split())
_TENSORS_INSIDE = frozenset(
    {"values", "flat_values", "indices", "dense_shape", "row_splits", "uniform_row_length"}
)
_SEVERAL_INSIDE = frozenset({"nested_row_splits"})
# Methods that ragged tensors alone have: what a layer is given is one where it is asked for these.
TELL_OF_ROWS = frozenset({"row_lengths", "row_limits", "row_starts", "value_rowids"})
_OPERATIONS = {ast.Mult: "SparseDenseCwiseMul", ast.Div: "SparseDenseCwiseDiv"}
# The `ref` of a sparse tensor that comes in from outside: its dense shape is data like any other.
ARRIVES = "arrives"
# The `ref` of a ragged tensor whose rows this program cuts by lengths that are data.
CUT_HERE = "cut here"
_MASKED_ROWS = "tf.ragged.boolean_mask"
# What says where the rows end; the other makers keep the row ids as they are, or have rows of one length.
_CUTS = {
    "tf.RaggedTensor.from_row_lengths": "row_lengths",
    "tf.RaggedTensor.from_row_splits": "row_splits",
    "tf.RaggedTensor.from_tensor": "lengths",
    _MASKED_ROWS: "mask",
}
_ALONG_ROWS = frozenset(
    {f"reduce_{name}" for name in ("sum", "mean", "max", "min", "prod", "any", "all")}
)
# A subscript that goes into the rows, or that skips rows, builds the ranges of the elements that stay.
_SLICED_ROWS = "RaggedRange"


def of_call(
    name: str, returns: str | None, produces: bool, arguments: Arguments, frame: Frame
) -> Value | None:
    """The value of a call that makes a composite tensor or is given one; None where neither is so.

    `name` is the canonical name of the API, `returns` what the catalogue says of it, `produces` whether the size of what
    comes out depends on data.
    """
    flat = flattened(_values(arguments))
    given = None
    for leaf in flat:
        if leaf.is_composite:
            given = leaf
            break
    makes_rows = name in _RAGGED_MAKERS or _is_mask_of_rows(name, arguments)
    kind = SPARSE if name in _SPARSE_MAKERS else RAGGED if makes_rows else None
    if kind is None and given is None:
        return None
    dependence = max((leaf.dependence for leaf in flat if leaf.holds_data), default=CONSTANT)
    sure = all(leaf.sure for leaf in flat if leaf.holds_data)
    if kind is not None:
        producer = name if produces and dependence >= ARRIVING else None
        guess = given is not None and given.guess
        ref = CUT_HERE if _is_cut_by_data(name, arguments) else None
        sure = sure and not _has_mask_of_unknown_rank(name, arguments)
        return Value(kind, dependence, producer, ref=ref, sure=sure, guess=guess)
    assert given is not None
    if name.rsplit(".", 1)[-1] in _KEEP_KIND:
        # A new sparse tensor may know its dense shape by the static one: nothing is held against it.
        is_kept = given.ref == CUT_HERE and _keeps_rows(name, arguments)
        return given._replace(dependence=dependence, dtype=None, ref=given.ref if is_kept else None)
    if given.kind is RAGGED and _is_reduced_along_rows(name, arguments):
        rank = 2 if arguments.keywords.get("keepdims") == TRUE else None
        return Value(TENSOR, dependence, rank=rank, sure=given.sure, guess=given.guess)
    if returns == "tensor" and name.startswith(("tf.sparse.", "tf.RaggedTensor.", "tf.nn.")):
        return Value(TENSOR, dependence, sure=sure)
    return NOTHING_KNOWN


def _is_reduced_along_rows(name: str, arguments: Arguments) -> bool:
    """`tf.reduce_max(rows, axis=1)`: one element of each row, or a tensor in its place, which is dense; with `keepdims=True` a matrix of one column."""
    if name.rsplit(".", 1)[-1] not in _ALONG_ROWS or len(arguments.positional) > 2:
        return False
    axis = (*arguments.positional, NOTHING_KNOWN)[1]
    axis = arguments.keywords.get("axis", axis)
    return number(axis) == 1 and arguments.keywords.get("keepdims", FALSE) in (TRUE, FALSE)


def _keeps_rows(name: str, arguments: Arguments) -> bool:
    """Whether the rows of the result end where those of a ragged argument do: rows looked up for ragged indices do."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf in ("gather", "embedding_lookup"):
        return bool(arguments.positional) and not arguments.positional[0].is_composite
    return leaf not in _MOVE_ROWS


def _values(arguments: Arguments) -> tuple[Value, ...]:
    return arguments.values


def is_sparse(
    arguments: Arguments, bound: dict[str, Value], flat: tuple[Value, ...], frame: Frame
) -> Value:
    """`K.is_sparse(x)`: known where the kind of `x` is."""
    asked = flat[0] if len(flat) == 1 else NOTHING_KNOWN
    if asked.is_composite and not (asked.optional or asked.guess):
        return TRUE if asked.kind is SPARSE else FALSE
    is_known = asked.is_tensor and asked.sure
    if is_known and not (asked.optional or asked.structured or asked.guess):
        return FALSE
    return usually(False)  # callers pass a sparse tensor on purpose


def guarded(known: Value, kind: str, *, promised: bool = False) -> Value:
    """What a name holds where a test has said that it is composite: nobody was seen to pass one, so it is a guess.

    `promised`: everything else is refused (`if not isinstance(x, tf.SparseTensor): raise`), as an annotation says it.
    """
    if known.kind is kind and not (promised and known.guess):
        return known
    return Value(
        kind, max(ARRIVING, known.dependence), ref=ARRIVES, sure=promised, guess=not promised
    )


def densified_from_outside(constant_args: tuple[str, ...], bound: dict[str, Value]) -> Value | None:
    """A sparse argument of which XLA must know the dense shape, and cannot: it arrives with the batch."""
    for parameter in constant_args:
        value = bound.get(parameter) if parameter.startswith("sp_") else None
        if value is not None and value.kind is SPARSE and value.ref == ARRIVES and not value.guess:
            return value
    return None


def _second(parameter: str, arguments: Arguments) -> Value | None:
    """The second argument, by position or by name."""
    positional = arguments.positional
    return positional[1] if len(positional) > 1 else arguments.keywords.get(parameter)


def _is_mask_of_rows(name: str, arguments: Arguments) -> bool:
    """`tf.ragged.boolean_mask(x, mask)` of several dimensions keeps rows, of other lengths; of one, it gives a tensor.

    Who calls it means rows: a mask of unknown rank counts as one of several dimensions.
    """
    mask = _second("mask", arguments) if name == _MASKED_ROWS else None
    if mask is None:
        return False
    return mask.rank != 1 and (mask.shape is None or len(mask.shape) > 1)


def _has_mask_of_unknown_rank(name: str, arguments: Arguments) -> bool:
    mask = _second("mask", arguments) if name == _MASKED_ROWS else None
    return mask is not None and mask.shape is None and (mask.rank or 0) < 2


def _masks_rows_cut_here(name: str, arguments: Arguments) -> bool:
    """`tf.ragged.boolean_mask(rows, rows_that_stay)`, where this program cut the rows: it counts what stays of each."""
    kept = arguments.values[0] if arguments.values else NOTHING_KNOWN
    return name == _MASKED_ROWS and kept.kind is RAGGED and kept.ref == CUT_HERE


def _is_cut_by_data(name: str, arguments: Arguments) -> bool:
    cuts = _CUTS.get(name)
    if cuts is None:
        return False
    if _masks_rows_cut_here(name, arguments):
        return True
    positional = arguments.positional
    value = arguments.keywords.get(cuts) or (positional[1] if len(positional) > 1 else None)
    if cuts == "lengths" and "padding" in arguments.keywords and positional:
        value = positional[0]  # rows end where the padding begins
    return (
        value is not None and value.is_tensor and value.dependence >= ARRIVING and value.ref is None
    )


def numbers_rows(name: str, arguments: Arguments) -> Value | None:
    """A ragged tensor whose elements get the numbers of their rows, as a reduction along the rows needs them, where XLA
    cannot lay these out: it would have to know the longest row. Measured with TensorFlow 2.15 and 2.21.
    """
    flat = arguments.values
    if not flat or flat[0].kind is not RAGGED or flat[0].ref != CUT_HERE or flat[0].guess:
        return None
    leaf = name.rsplit(".", 1)[-1]
    if leaf == "value_rowids" or name == _MASKED_ROWS:
        return flat[0]
    axis = _second("axis", arguments)
    constant = axis.constant() if axis is not None else None
    is_along = constant is not None and constant.value in (1, -1)
    return flat[0] if leaf in _ALONG_ROWS and is_along else None


def attribute(value: Value, name: str, frame: Frame) -> Value:
    """`sparse.values`, `ragged.row_splits` and the like."""
    if name == "shape":
        return STATIC_SHAPE
    inside = Value(TENSOR, max(value.dependence, CONSTANT), value.producer, sure=value.sure)
    if name in _TENSORS_INSIDE:
        is_count = name in ("dense_shape", "row_splits")
        return inside._replace(producer=None) if is_count else inside
    if name in _SEVERAL_INSIDE:
        return Value(COLLECTION, ref=inside._replace(producer=None))
    return SOME_PYTHON if name in ("dtype", "ragged_rank", "op", "graph", "name") else NOTHING_KNOWN


def method(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`ragged.to_tensor()`: under the name by which the catalogue knows it."""
    if attr in ("get_shape", "shape"):
        return STATIC_SHAPE
    owner = "tf.SparseTensor" if base.kind is SPARSE else "tf.RaggedTensor"
    if attr == "with_values":
        return base
    if attr == "nrows" and base.kind is RAGGED and base.producer is None and base.ref != CUT_HERE:
        return Value(TENSOR, FROM_SHAPE, rank=0, shape=(), sure=base.sure)  # as many as its splits
    whole = arguments._replace(positional=(base, *arguments.positional))
    made = frame.analysis.call_api(f"{owner}.{attr}", whole, node, frame)
    if attr == "bounding_shape" and base.guess:
        return NOTHING_KNOWN  # of what was only asked for: what takes it is given `tf.shape(x)` of dense tensors
    if attr == "merge_dims" and base.kind is RAGGED:
        outer = number((*arguments.positional, arguments.keywords.get("outer_axis", NONE))[0])
        # Of rows merged behind the first axis, each keeps an end of its own; those of the first may be one tensor then.
        return base if outer is not None and outer > 0 else NOTHING_KNOWN
    return made


def combine(node: ast.AST, left: Value, right: Value, frame: Frame) -> Value:
    """The value of `left <operator> right` of which one is composite."""
    owner = left if left.is_composite else right
    operation = _OPERATIONS.get(type(getattr(node, "op", None)))  # type: ignore[arg-type]
    if owner.kind is SPARSE and operation is not None:
        note_operation(operation, (left, right), node, frame)
    elif owner.kind is RAGGED and (
        ragged_operands.meet((left, right)) or ragged_operands.meets_slices(node, left, right)
    ):
        note_operation(ragged_operands.OPERATION, (left, right), node, frame)
    if owner.kind is SPARSE and operation is None:
        return NOTHING_KNOWN  # sparse tensors know no other operators
    dependence = max(v.dependence for v in (left, right) if v.holds_data)
    guess = all(v.guess for v in (left, right) if v.is_composite)
    return owner._replace(dependence=dependence, dtype=None, guess=guess)


def subscript(node: ast.Subscript, base: Value, frame: Frame) -> Value:
    """Rows of a ragged tensor; a slice into the rows has no kernel, whole rows have."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        frame.analysis.evaluate(part, frame)
    if base.kind is not RAGGED:
        return NOTHING_KNOWN
    if _takes_parts_of_rows(parts):
        note_operation(_SLICED_ROWS, (base,), node, frame)
    return base if isinstance(parts[0], ast.Slice) else NOTHING_KNOWN


def _takes_parts_of_rows(parts: list[ast.expr]) -> bool:
    first, rest = parts[0], parts[1:]
    if not isinstance(first, ast.Slice):
        return False
    if first.step is not None:
        return True
    return any(isinstance(part, ast.Slice) and _is_partial(part) for part in rest)


def _is_partial(part: ast.Slice) -> bool:
    return part.lower is not None or part.upper is not None or part.step is not None
