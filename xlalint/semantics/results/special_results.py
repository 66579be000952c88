"""What the APIs return that carry shapes, contents or structures of what they are given: each by a function of its own."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.semantics import inlining
from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import costs, text
from xlalint.semantics.results import (
    composites,
    padded_back,
    parts,
    rejoined,
    result_shapes,
    sorted_places,
    specs,
)
from xlalint.semantics.results.result_dtypes import dtype_name, dtype_of_literal
from xlalint.semantics.results.result_sizes import (
    ALL_ONES,
    PARTITIONED,
    dependence_of,
    producer_of_leaves,
)
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    ARRIVING,
    CAPTURED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    FALSE,
    FROM_SHAPE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    RAGGED,
    REGROUPED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SPARSE,
    TENSOR,
    TRUE,
    UNKNOWN,
    Content,
    Handed,
    Value,
    constant,
    may_be_handed,
    shaped,
    static_shape,
    usually,
)

_LIKE = frozenset({"tf.zeros_like", "keras.backend.zeros_like", "keras.ops.zeros_like"})
_ONES_LIKE = frozenset({"tf.ones_like", "keras.backend.ones_like", "keras.ops.ones_like"})


def with_shape(value: Value, shape: Shape | None) -> Value:
    """The value with its static shape, when that is known; what is known of its rank stays otherwise."""
    if shape is None:
        return value._replace(shape=()) if value.rank == 0 else value
    return shaped(value, shape)


def _cast(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    first = arguments.positional[0] if arguments.positional else bound.get("x", NOTHING_KNOWN)
    wanted = bound.get("dtype") or (
        arguments.positional[1] if len(arguments.positional) > 1 else NOTHING_KNOWN
    )
    if first.is_tensor:
        return first._replace(
            kind=TENSOR,
            dtype=dtype_name(wanted),
            ref=_content(first),
            structured=False,
            optional=False,
            guess=False,
        )
    shape = result_shapes.operand_shape(first)
    is_known, dtype = first.kind is not UNKNOWN, dtype_name(wanted)
    # What is a tensor on one way and a number on the other may be the number, a size that is only cast; no mask is.
    dependence = first.dependence if is_known or dtype == "bool" else CONSTANT
    return Value(TENSOR, dependence, dtype=dtype, sure=is_known, shape=shape)


def _to_floats(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`K.cast_to_floatx(x)`: of what is no tensor, a NumPy array, as penalties are kept."""
    first = arguments.positional[0] if arguments.positional else bound.get("x", NOTHING_KNOWN)
    if first.is_tensor:
        return first._replace(kind=TENSOR, dtype="float32", ref=None, guess=False)
    return NOTHING_KNOWN if first.kind is UNKNOWN else Value(NDARRAY, dtype="float32")


def _same(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    if first.is_tensor:
        same = first._replace(
            kind=TENSOR, ref=_content(first), structured=False, optional=False, guess=False
        )
        given = bound.get("dtype", NONE)
        return same if given == NONE else same._replace(dtype=dtype_name(given))
    if first.kind is SHAPE and first.shape is not None:
        return Value(
            TENSOR, FROM_SHAPE, None, "int32", 1, Content(first.shape), shape=(len(first.shape),)
        )
    inside = first.ref if first.kind is COLLECTION else None
    if first.kind is UNKNOWN or (isinstance(inside, Value) and inside.guess):
        # Made a tensor: whatever it was, it is one now. Whether it holds data is not known.
        return Value(TENSOR, sure=False)
    return Value(
        TENSOR, dependence_of(flat), producer_of_leaves(flat), dtype_of_literal(first, bound)
    )


def _content(value: Value) -> Content | Handed | None:
    """The known numbers of a tensor, which a cast or a copy keeps, or that it may be a number that a layer was handed."""
    if may_be_handed(value):
        return Handed()
    return value.ref._replace(is_eager=False) if type(value.ref) is Content else None


def _is_tensor(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.is_tensor(x)`: what is traced is one, and where nobody knows, callers of compiled code pass one."""
    asked = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    if asked.is_tensor or asked.is_composite:
        return usually(True) if asked.optional or asked.structured else TRUE
    if asked.kind is UNKNOWN:
        return usually(True)
    return FALSE if asked.kind in (SEQUENCE, MAPPING, SHAPE, NDARRAY) else SOME_PYTHON


def _like(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    first = arguments.positional[0] if arguments.positional else bound.get("input", NOTHING_KNOWN)
    given = bound.get("dtype")
    dtype = _dtype_of(first) if given is None or given == NONE else dtype_name(given)
    value = Value(TENSOR, CONSTANT, producer_of_leaves(flat), dtype)
    return shaped(value, first.shape) if first.is_tensor and first.shape is not None else value


def _dtype_of(value: Value) -> str | None:
    """Of a tensor, or of the one that is made of what is written or listed."""
    if value.holds_data:
        return value.dtype
    if value.kind is SEQUENCE and any(leaf.holds_data for leaf in leaves(value)):
        return next(leaf.dtype for leaf in leaves(value) if leaf.holds_data)
    return dtype_of_literal(value, {})


def _ones_like(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """Of the dtype that it is given, XLA makes ones for the whole buffer; of another, for the elements that count."""
    value = _like(arguments, bound, flat, frame)
    first = flat[0] if flat else NOTHING_KNOWN
    if value.producer is None or (bound.get("dtype", NONE) != NONE and value.dtype != first.dtype):
        return value
    return value._replace(producer=ALL_ONES)


def _where(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    chosen = [k for k in arguments.keywords if k in ("condition", "x", "y", "x1", "x2")]
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    # `tf.where(condition, *arms)`: whoever writes so hands arms on.
    if len(arguments.positional) + len(chosen) >= 2 or arguments.open_ended:
        values = [leaf.dtype for leaf in flat[1:] if leaf.is_tensor]
        dtype = values[0] if values and len(set(values)) == 1 else None
        return Value(TENSOR, dependence_of(flat), producer_of_leaves(flat), dtype, None, None, sure)
    rank = flat[0].shape if flat and flat[0].is_tensor else None
    columns = len(rank) if rank is not None else None
    shape = (None, columns)
    if _is_constant(flat):
        return Value(TENSOR, dependence_of(flat), dtype="int64", rank=2, shape=shape)
    return Value(TENSOR, COMPUTED, "tf.where", "int64", 2, None, _is_known(flat), shape=shape)


# What these find in constants, XLA does not look up: it knows how many elements there are, and not which.
FINDERS = frozenset({"tf.where", "tf.boolean_mask"})


def found_in_constants(value: Value, arguments: Arguments, bound: Bound, frame: Frame) -> Value:
    """The result of one of `FINDERS` in a program: no size, and no axis."""
    # `tf.where(condition, x, y)` chooses, which XLA follows.
    is_choice = "x" in bound or "y" in bound or arguments.open_ended
    if is_choice or value.kind is not TENSOR or value.dependence >= ARRIVING:
        return value
    if inlining.is_inside_another(frame):
        return value  # folded there
    return value._replace(dependence=COMPUTED)


def _where_of_arrays(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """The `where` of NumPy: of a condition alone, it gives a vector of indices for each dimension."""
    value = _where(arguments, bound, flat, frame)
    if value.dtype != "int64" or value.rank != 2:
        return value
    return Value(COLLECTION, value.dependence, ref=shaped(value, (None,)))


def _is_constant(flat: tuple[Value, ...]) -> bool:
    """Whether nothing here depends on data: every tensor is known to be constant in the program, and nothing is unknown.

    What eager code made is an argument of the program: XLA knows no more of it than of data.
    """
    return all(
        leaf.kind is not UNKNOWN and (leaf.dependence < CAPTURED and leaf.sure) for leaf in flat
    )


def _is_known(flat: tuple[Value, ...]) -> bool:
    return all(leaf.sure and leaf.kind is not UNKNOWN for leaf in flat)


def _gather(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """The result of a gather is as big as its indices: those decide."""
    indices = bound.get("indices", bound.get("ids")) or (
        arguments.positional[1] if len(arguments.positional) > 1 else NOTHING_KNOWN
    )
    params = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    dependence = text.chosen(params, dependence_of(flat))
    dtype = params.dtype if params.holds_data else dtype_of_literal(params, {})
    if not params.holds_data and dtype == "string":
        dtype = None  # the gather itself is reported: what is done with the words then says no more
    gathered = Value(TENSOR, dependence, indices.producer, dtype, sure=sure)
    if indices.producer is None:
        return gathered
    return gathered._replace(sized_axis=_gathered_axis(bound, indices))


def _gathered_axis(bound: Bound, indices: Value) -> int | None:
    """Where the data-sized axis of the indices is in `tf.gather(x, indices, axis=axis, batch_dims=batch_dims)`."""
    batch_dims = result_shapes.number(bound["batch_dims"]) if "batch_dims" in bound else 0
    if batch_dims is None or batch_dims < 0 or indices.sized_axis is None:
        return None
    axis = result_shapes.number(bound["axis"]) if "axis" in bound else batch_dims
    if axis is None or axis < 0:
        return None
    return axis - batch_dims + indices.sized_axis


def _constant_value(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    return Value(
        TENSOR, dependence_of(flat), dtype=dtype_of_literal(first, bound), ref=_numbers_in(first)
    )


def _static_value(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """`tf.get_static_value(n)`: None of what arrives with a call, or is computed of that, while a program is traced."""
    given = bound.get("tensor", NOTHING_KNOWN)
    is_of_the_run = given.is_tensor and given.dependence >= ARRIVING and frame.context.is_compiled
    if is_of_the_run and not (given.guess or given.optional or given.structured):
        return NONE
    return SOME_PYTHON


def _constant_of_keras(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """`K.constant([1, 2])`: of floating numbers, unless a dtype is given."""
    value = _constant_value(arguments, bound, flat, frame)
    is_given = bound.get("dtype", NONE) != NONE
    return value if is_given else value._replace(dtype="float32", ref=None)


def _numbers_in(value: Value) -> Content | None:
    """The elements of a constant vector of whole numbers, or of one number; those of an empty list, too."""
    if value.kind is SEQUENCE and len(value.ref) <= 8:
        found = result_shapes.numbers(value)
        return Content(found) if found is not None and None not in found else None
    known = result_shapes.number(value) if value.kind is PYTHON else None
    return Content((known,)) if known is not None else None


def _filled(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.zeros(shape)`: its values are constant even where its size is not."""
    given = bound.get("dtype")
    return Value(TENSOR, CONSTANT, dtype="float32" if given is None else dtype_name(given))


def _fill(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    value = bound.get("value", NOTHING_KNOWN)
    dtype = value.dtype if value.is_tensor else dtype_of_literal(value, {})
    return Value(TENSOR, dependence_of(leaves(value)), dtype=dtype, sure=value.sure)


def _range(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    given = bound.get("dtype")
    if given is not None and given != NONE:
        dtype = dtype_name(given)
    else:
        known = {leaf.dtype or dtype_of_literal(leaf, {}) for leaf in flat}
        dtype = known.pop() if len(known) == 1 else None
    unknown = any(leaf.kind is UNKNOWN for leaf in flat)
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor) and not unknown
    return Value(TENSOR, dependence_of(flat), producer_of_leaves(flat), dtype, None, None, sure)


def _joined(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.concat` and `tf.stack`; of small vectors of known numbers, such as shapes, the numbers stay known."""
    values = arguments.positional[0] if arguments.positional else bound.get("values", NOTHING_KNOWN)
    dependence = dependence_of(flat[:-1] if len(arguments.positional) > 1 else flat)
    known = {leaf.dtype for leaf in leaves(values) if leaf.is_tensor}
    dtype = known.pop() if len(known) == 1 else None
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    if dependence < ARRIVING and any(leaf.kind is UNKNOWN for leaf in flat):
        sure = False
    numbers = _numbers_joined(values) if dtype in ("int32", "int64") else None
    axes = {leaf.sized_axis for leaf in flat if leaf.producer is not None}
    axis = axes.pop() if len(axes) == 1 else None if axes else 0
    producer = producer_of_leaves(flat)
    return Value(TENSOR, dependence, producer, dtype, None, numbers, sure, sized_axis=axis)


def _concatenated(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """`tf.concat`: the sizes of what is joined add up."""
    values = arguments.positional[0] if arguments.positional else bound.get("values", NOTHING_KNOWN)
    along = arguments.positional[1] if len(arguments.positional) > 1 else bound.get("axis")
    joined = _of_handed(_joined(arguments, bound, flat, frame), flat)
    return padded_back.joined(values, along, rejoined.marked(joined, values, along))


def _stacked(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.stack`: what is joined has one axis more than its parts."""
    joined = _of_handed(_joined(arguments, bound, flat, frame), flat)
    along = bound.get("axis", constant(0))
    along = arguments.positional[1] if len(arguments.positional) > 1 else along
    new, old = result_shapes.number(along), joined.sized_axis
    if joined.producer is None:
        return joined
    if new is None or new < 0 or old is None:
        return joined._replace(sized_axis=None)
    return joined._replace(sized_axis=old + (new <= old))


def _of_handed(joined: Value, flat: tuple[Value, ...]) -> Value:
    """Sizes and what a layer may have been handed beside its batch are, put together, what it may have been handed."""
    arriving = [leaf for leaf in flat if leaf.is_tensor and leaf.dependence >= CAPTURED]
    if joined.ref is None and arriving and all(map(may_be_handed, arriving)):
        return joined._replace(ref=Handed())
    return joined


def _numbers_joined(values: Value) -> Content | None:
    if values.kind is not SEQUENCE or not 0 < len(values.ref) <= 8:
        return None
    parts = [result_shapes.numbers(item) for item in values.ref]
    if any(part is None for part in parts):
        return None
    return Content(tuple(number for part in parts if part is not None for number in part))


def _flattened(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    return Value(COLLECTION, ref=flat[0]) if flat else Value(COLLECTION)


def _static_shape(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    return static_shape(flat[0].shape if flat and flat[0].is_tensor else None)


def _unique(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """The elements of a vector, and where each of those that it had stands among them."""
    if _is_constant(flat):
        known = shaped(Value(TENSOR, dependence_of(flat)), (None,))
        return Value(SEQUENCE, known.dependence, ref=(known, known))
    dtype = flat[0].dtype if flat else None
    sized = shaped(Value(TENSOR, COMPUTED, "tf.unique", dtype, sure=_is_known(flat)), (None,))
    places = sized._replace(producer=None, dtype=None)
    return Value(SEQUENCE, COMPUTED, ref=(sized, places))


def _unique_with_counts(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    # It has no kernel in any version: nothing is said of the sizes of what never compiles.
    plain = Value(TENSOR, COMPUTED, sure=_is_known(flat))
    return Value(SEQUENCE, COMPUTED, ref=(plain, plain, plain))


def _partition(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    if _is_constant(flat[1:]):
        return Value(COLLECTION, ref=Value(TENSOR, dependence_of(flat)))
    sized = Value(TENSOR, COMPUTED, PARTITIONED, sure=_is_known(flat), sized_axis=0)
    return Value(COLLECTION, COMPUTED, ref=sized)


def _mask(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    mask = arguments.positional[1:2] or tuple(
        v for k, v in arguments.keywords.items() if k == "mask"
    )
    data = arguments.positional[0] if arguments.positional else bound.get("tensor", NOTHING_KNOWN)
    dtype = data.dtype if data.is_tensor else None
    if _is_constant(mask):
        return Value(TENSOR, dependence_of(flat), dtype=dtype)
    held = costs.kept(mask[0]) if mask else None
    axis = result_shapes.number(bound["axis"]) if "axis" in bound else 0
    kept = Value(TENSOR, REGROUPED, "a boolean mask", dtype, None, held, _is_known(mask))
    kept = kept._replace(sized_axis=axis if axis is not None and axis >= 0 else None)
    shape = result_shapes.masked(data, mask[0] if mask else NOTHING_KNOWN, axis)
    return with_shape(kept, shape)


def _spec(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    given = {**dict(zip(("shape", "dtype"), arguments.positional)), **arguments.keywords}
    dtype = dtype_name(given["dtype"]) if "dtype" in given else "float32"
    return specs.make(given.get("shape", NOTHING_KNOWN), dtype)


def _ragged_spec(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    return Value(RAGGED)


def _input(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    given = {**dict(zip(("shape", "batch_size"), arguments.positional)), **arguments.keywords}
    dtype = dtype_name(given["dtype"]) if "dtype" in given else "float32"
    return specs.symbolic_input(given, dtype)


def _clipped_together(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """The list of tensors that was given, and their common norm."""
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    clipped = first if first.kind in (SEQUENCE, COLLECTION) else Value(COLLECTION)
    return Value(SEQUENCE, ref=(clipped, Value(TENSOR, COMPUTED, rank=0, shape=())))


def _decoded(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """The best paths, a list of sparse tensors, and their scores."""
    paths = Value(COLLECTION, COMPUTED, ref=Value(SPARSE, COMPUTED))
    return Value(SEQUENCE, COMPUTED, ref=(paths, Value(TENSOR, COMPUTED)))


def _parsed(count: int) -> Value:
    """So many dictionaries of tensors, by the names of features."""
    features = Value(COLLECTION, COMPUTED, ref=Value(TENSOR, COMPUTED))
    return Value(SEQUENCE, COMPUTED, ref=(features,) * count)


def _packed(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    return NOTHING_KNOWN


def _unpacked(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`x, y, sample_weight` of what `fit` hands to a step; there may be no weights."""
    part = Value(TENSOR, ARRIVING, structured=True)
    return Value(SEQUENCE, ref=(part, part, part._replace(optional=True)))


def _handed_back(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    return next(iter(arguments.positional), NOTHING_KNOWN)


SPECIAL: dict[str, Callable[[Arguments, Bound, tuple[Value, ...], Frame], Value]] = {
    "tf.is_tensor": _is_tensor,
    "keras.ops.is_tensor": _is_tensor,
    "keras.backend.is_tensor": _is_tensor,
    "tf.TensorSpec": _spec,
    "tf.RaggedTensorSpec": _ragged_spec,
    "keras.Input": _input,
    "keras.layers.Input": _input,
    "keras.backend.is_sparse": composites.is_sparse,
    "tf.cast": _cast,
    "keras.backend.cast": _cast,
    "keras.ops.cast": _cast,
    "keras.backend.cast_to_floatx": _to_floats,
    "tf.convert_to_tensor": _same,
    "keras.ops.convert_to_tensor": _same,
    "tf.identity": _same,
    "tf.stop_gradient": _same,
    "keras.ops.stop_gradient": _same,
    "tf.where": _where,
    "keras.ops.where": _where_of_arrays,
    "tf.experimental.numpy.where": _where_of_arrays,
    "tf.gather": _gather,
    "tf.gather_nd": _gather,
    "tf.nn.embedding_lookup": _gather,
    "keras.ops.take": _gather,
    "tf.constant": _constant_value,
    "tf.get_static_value": _static_value,
    "keras.backend.constant": _constant_of_keras,
    "tf.zeros": _filled,
    "tf.ones": _filled,
    "tf.eye": _filled,
    "tf.fill": _fill,
    "tf.range": _range,
    "tf.concat": _concatenated,
    "tf.stack": _stacked,
    "keras.backend.zeros": _filled,
    "keras.backend.ones": _filled,
    "keras.ops.zeros": _filled,
    "keras.ops.ones": _filled,
    "tf.unstack": parts.unstacked,
    "keras.ops.unstack": parts.unstacked,
    "tf.split": parts.split,
    "keras.ops.split": parts.split,
    "tf.clip_by_global_norm": _clipped_together,
    "tf.nn.ctc_greedy_decoder": _decoded,
    "tf.nn.ctc_beam_search_decoder": _decoded,
    "tf.compat.v1.nn.ctc_beam_search_decoder": _decoded,
    "tf.io.parse_single_sequence_example": lambda *call: _parsed(2),
    "tf.io.parse_sequence_example": lambda *call: _parsed(3),
    "tf.nest.pack_sequence_as": _packed,
    "keras.tree.pack_sequence_as": _packed,
    **{
        f"{home}.unpack_x_y_sample_weight": _unpacked
        for home in ("keras.utils", "keras.data_adapter")
    },
    "keras.data_adapter.expand_1d": _handed_back,
    "tf.nest.flatten": _flattened,
    "keras.tree.flatten": _flattened,
    "keras.backend.int_shape": _static_shape,
    **dict.fromkeys(("tf.argsort", "keras.ops.argsort"), sorted_places.argsort),
    **dict.fromkeys(("tf.math.top_k", "keras.ops.top_k"), sorted_places.top_k),
    "tf.unique": _unique,
    "tf.unique_with_counts": _unique_with_counts,
    "tf.dynamic_partition": _partition,
    "tf.boolean_mask": _mask,
    **dict.fromkeys(_LIKE, _like),
    **dict.fromkeys(_ONES_LIKE, _ones_like),
}
