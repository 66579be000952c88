"""What an API call returns: kind, dependence and size, from the catalogue and from the APIs that carry shapes."""

from __future__ import annotations

from functools import cache

from xlalint.semantics import attributes
from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import flattened, leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import (
    contractions,
    followed,
    padded_back,
    product_shapes,
    result_shapes,
    shapes_of_several,
    sorted_places,
)
from xlalint.semantics.results.result_dtypes import BOOLEAN, dtype_name, dtype_of_result
from xlalint.semantics.results.result_sizes import (
    data_sized_result,
    dependence_of,
    is_left_open,
    of_bounded_size,
    producer_of_leaves,
    sized_axis,
    sizing,
)
from xlalint.semantics.results.several import returns_several
from xlalint.semantics.results.special_results import SPECIAL, with_shape
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    CAPTURED,
    COLLECTION,
    COMPUTED,
    FROM_SHAPE,
    NONE,
    NOTHING_KNOWN,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    UNKNOWN,
    Content,
    Kept,
    Lengths,
    Places,
    Sizes,
    Value,
    constant,
    counted_size,
    shaped,
)

_COUNTS = frozenset({"tf.size", "keras.ops.size", "tf.experimental.numpy.size"})
_SHAPES = _COUNTS | {"tf.shape", "tf.rank", "tf.shape_n", "keras.backend.shape", "keras.ops.shape"}
_PYTHON_RESULTS = frozenset(
    {
        "keras.backend.ndim",
        "keras.backend.count_params", "keras.backend.epsilon", "keras.backend.floatx", "keras.backend.image_data_format",
        "keras.backend.is_keras_tensor", "keras.backend.is_tensor", "keras.backend.dtype",
        "keras.backend.learning_phase", "keras.backend.get_uid", "keras.backend.standardize_dtype",
        "keras.ops.is_tensor", "keras.ops.ndim", "keras.ops.dtype", "tf.is_tensor", "tf.inside_function",
        "tf.as_dtype", "tf.nest.is_nested", "tf.nest.assert_same_structure", "tf.debugging.is_numeric_tensor",
        "tf.distribute.has_strategy", "tf.distribute.in_cross_replica_context", "tf.get_logger", "tf.is_symbolic_tensor",
        "tf.broadcast_static_shape", "keras.tree.is_nested", "tf.get_default_graph", "tf.data.experimental.cardinality",
        "keras.backend.backend", "keras.backend.in_stateless_scope", "keras.backend.any_symbolic_tensors",
    }
)  # fmt: skip
# Reductions of something unknown are data in practice: nobody reduces a setting. Products are left out: of shapes.
_REDUCTIONS = frozenset(
    f"tf.math.{name}" for name in
    ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_any", "reduce_all", "reduce_logsumexp", "argmax", "argmin", "count_nonzero")
) | frozenset(f"tf.{name}" for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_any", "reduce_all", "argmax", "argmin", "norm")) | frozenset(
    f"keras.backend.{name}" for name in ("sum", "mean", "max", "min", "any", "all", "argmax", "argmin")
) | frozenset(f"keras.ops.{name}" for name in ("sum", "mean", "max", "min", "any", "all", "argmax", "argmin"))  # fmt: skip
_TENSOR_NAMESPACES = (
    "tf.math.", "tf.nn.", "tf.linalg.", "tf.signal.", "tf.image.", "tf.random.", "tf.bitwise.", "tf.raw_ops.", "keras.ops.",
    "keras.backend.", "keras.activations.", "keras.losses.", "keras.metrics.", "tf.losses.",
)  # fmt: skip
# Not every function of these namespaces returns a tensor; CamelCase names are classes.
# Of Keras's own code below `keras.src.backend`, what all backends share: scopes, dtypes and settings, asked in Python.
_PYTHON_NAMESPACES = ("keras.backend.common.", "keras.backend.config.")


# XLA on CPU and GPU follows a size or an index back to the arguments, and compiles for their values, through most operations;
# through these it does not, and calls what follows from them no constant (measured on TensorFlow 2.21: fixtures/XLA203).
_UNRESOLVED_OPS = (
    "MatMul", "BatchMatMul", "Einsum", "Conv", "DepthwiseConv", "MaxPool", "AvgPool", "Cumsum", "Cumprod", "CumulativeLogsumexp",
    "UnsortedSegment", "ScatterNd", "TensorScatter", "While", "StatelessWhile", "Svd", "MatrixInverse", "DenseBincount", "Resize",
)  # fmt: skip
# Scatters and segment reductions bring data-sized operands back to a size of their own.
_SCATTERED = frozenset(
    {"tf.scatter_nd", "tf.tensor_scatter_nd_update", "tf.tensor_scatter_nd_add"}
    | {"tf.tensor_scatter_nd_max", "tf.tensor_scatter_nd_min"}
    | {
        f"tf.math.unsorted_segment_{name}"
        for name in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    }
)

# Count labels into as many rows and columns as there are classes, however many labels a mask left.
_OF_CLASSES = frozenset({"tf.math.confusion_matrix"})


def of_call(
    api: Api, data_sized: tuple[int, ...], arguments: Arguments, bound: Bound, frame: Frame
) -> Value:
    """The value of a call of a catalogued API that takes no functions."""
    value = _of_call(api, data_sized, arguments, bound, frame)
    return _left_open(value, api, bound) if arguments.open_ended else value


def _left_open(value: Value, api: Api, bound: Bound) -> Value:
    """What is known of a result where `*args` or `**kwargs` may hold a dtype or an axis: not what the defaults make of it."""
    if value.kind is not TENSOR:
        return value
    named = api.dtype_arg or "dtype"
    may_be_given = named in api.params and named not in bound
    dtype = None if may_be_given else value.dtype
    return value._replace(dtype=dtype, shape=None, rank=None, ref=None)


def _of_call(
    api: Api, data_sized: tuple[int, ...], arguments: Arguments, bound: Bound, frame: Frame
) -> Value:
    name = _modern(api.name)
    flat = tuple(flattened(arguments.values))
    value = _as_catalogued(api, name, data_sized, arguments, bound, flat, frame)
    if any(type(leaf.ref) is Places for leaf in flat):
        value = sorted_places.of_call(name, flat, value)
    if name in padded_back.TAKEN:
        value = padded_back.of_call(name, arguments, flat, value)
    if name == "tf.random.shuffle" and flat and value.kind is TENSOR:
        value = sorted_places.shuffled(flat[0], value)
    return value


def _as_catalogued(
    api: Api,
    name: str,
    data_sized: tuple[int, ...],
    arguments: Arguments,
    bound: Bound,
    flat: tuple[Value, ...],
    frame: Frame,
) -> Value:
    special = SPECIAL.get(name)
    if special is not None:
        value = special(arguments, bound, flat, frame)
        if value.kind is TENSOR and value.shape is None:
            value = with_shape(value, result_shapes.of_call(name, api, bound))
        return of_bounded_size(value, api, bound)
    if name in _SHAPES:
        return _shape_of(name, flat, bound)
    if name == "keras.backend.ndim" and flat and flat[0].is_tensor:
        return attributes.rank_of(flat[0])
    if name in _PYTHON_RESULTS or api.returns == "python":
        return SOME_PYTHON
    if api.returns == "none":
        return NONE
    if api.returns not in ("tensor", "structure") and not _makes_tensors(name, api.status):
        return NOTHING_KNOWN
    return _tensor_result(api, name, data_sized, arguments, bound, flat)


@cache
def _modern(name: str) -> str:
    """`tf.compat.v1.shape` carries shapes as `tf.shape` does."""
    return "tf." + name.removeprefix("tf.compat.v1.") if name.startswith("tf.compat.v1.") else name


def of_unknown_api(name: str, arguments: Arguments, frame: Frame) -> Value:
    """The value of a call of an API that the catalogue does not list."""
    name = _modern(name)
    flat = tuple(leaf for value in arguments.positional for leaf in leaves(value))
    if name in SPECIAL:
        return SPECIAL[name](arguments, dict(arguments.keywords), flat, frame)
    if name in _PYTHON_RESULTS:
        return SOME_PYTHON
    if name in _SHAPES:
        return _shape_of(name, flat, {})
    if not _makes_tensors(name, "compiles") or not any(leaf.is_tensor for leaf in flat):
        return NOTHING_KNOWN
    dependence = dependence_of(flat)
    # One tensor or a structure of them: only what it is called says that it is one.
    structured = name not in _REDUCTIONS and name.rsplit(".", 1)[-1] not in BOOLEAN
    dtype = dtype_of_result(name, None, {}, flat)
    return Value(TENSOR, dependence, producer_of_leaves(flat), dtype, structured=structured)


@cache
def _makes_tensors(name: str, status: str) -> bool:
    if status == "not-compute":
        return False
    leaf = name.rsplit(".", 1)[-1]
    return (
        name.startswith(_TENSOR_NAMESPACES)
        and not name.startswith(_PYTHON_NAMESPACES)
        and leaf[:1].islower()
        and not leaf.startswith(("is_", "get_", "set_"))
        and not name.split(".")[-2][:1].isupper()  # a class method: `tf.losses.Reduction.all()`
    )


def _tensor_result(
    api: Api,
    name: str,
    data_sized: tuple[int, ...],
    arguments: Arguments,
    bound: Bound,
    flat: tuple[Value, ...],
) -> Value:
    dependence = dependence_of(flat)
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    if name in _SCATTERED:
        kept = flat[:1] if "tensor_scatter" in name else ()
        dependence = COMPUTED if dependence == ARRIVING else followed.without(dependence)
        dtype = dtype_of_result(name, api, bound, flat)
        value = Value(TENSOR, dependence, producer_of_leaves(kept), dtype, 1, None, sure)
        return with_shape(value, result_shapes.of_call(name, api, bound))
    if name.startswith(("tf.random.", "keras.random.")) or "random" in name.rsplit(".", 1)[-1]:
        dependence = COMPUTED
    if dependence == ARRIVING and any(op.startswith(_UNRESOLVED_OPS) for op in api.ops):
        dependence = COMPUTED
    if dependence < ARRIVING and any(leaf.kind is UNKNOWN for leaf in flat):
        sure = False  # what it depends on is not known
    is_static = (
        _reduces(api, name, bound, arguments)
        or _is_reshaped_to_static(name, bound)
        or (name in _OF_CLASSES and bound.get("num_classes", NONE) != NONE)
    )
    producer = None if is_static else producer_of_leaves(sizing(name, bound, flat))
    dependence = followed.of_call(api, dependence, producer)
    if data_sized and dependence >= CAPTURED:
        return data_sized_result(api, data_sized, dependence, bound, sure)
    dtype = dtype_of_result(name, api, bound, flat)
    rank = 0 if result_shapes.is_scalar(name, api) else None
    if rank is None and api.shape == "broadcast":
        # At least that of each operand.
        rank = max((leaf.rank for leaf in flat if leaf.is_tensor and leaf.rank), default=None)
    elif rank is None and api.shape == "same" and not result_shapes.is_worked_out(name):
        rank = result_shapes.same(api, bound).rank
    if _has_axis(bound, arguments, name):
        rank = _least_rank(api, bound)
    elif rank == 0 and _keeps_axes(bound):
        rank = None
    if returns_several(api, bound):
        each = Value(TENSOR, dependence, producer, sure=sure)
        every = None if producer is not None else shapes_of_several.of_call(name, bound)
        if every is None:
            return Value(COLLECTION, dependence, ref=each)
        return Value(SEQUENCE, dependence, ref=tuple(shaped(each, shape) for shape in every))
    axis = None if producer is None else sized_axis(name, api, bound, arguments, flat)
    if producer is not None:
        left = contractions.of_call(name.rsplit(".", 1)[-1], bound, flat)
        producer, axis = left if left is not None else (producer, axis)
    value = Value(TENSOR, dependence, producer, dtype, rank, None, sure, sized_axis=axis)
    if name.endswith(".transpose") and axis is not None and type(flat[0].ref) is Kept:
        value = value._replace(ref=flat[0].ref)  # of other axes, and as many
    shape = product_shapes.of_call(name, bound, flat)
    if shape is None:
        shape = shapes_of_several.of_one(name, bound)
    if shape is None:
        shape = result_shapes.of_call(name, api, bound)
    value = with_shape(value, shape)
    return of_bounded_size(value, api, bound)


def _least_rank(api: Api, bound: Bound) -> int | None:
    """`tf.argmax(x, axis=1)` of what nobody knows the rank of is a vector or more; None where nothing follows."""
    axis = result_shapes.number(bound.get("axis", NONE))
    takes_away = (api.shape or "").startswith("reduce") or api.name.endswith(("argmax", "argmin"))
    if axis is None or not takes_away:
        return None
    return max(axis if axis >= 0 else -axis - 1, 0) or None


def _has_axis(bound: Bound, arguments: Arguments, name: str) -> bool:
    axis = bound.get("axis", arguments.keywords.get("axis"))
    if axis is None and not bound and name in _REDUCTIONS and len(arguments.positional) > 1:
        axis = arguments.positional[1]
    known = axis.constant() if axis is not None else None
    return axis is not None and not (known is not None and known.value is None)


def _keeps_axes(bound: Bound) -> bool:
    """Whether what is reduced stays as many dimensions of one element: `keepdims=True`, or what may be True."""
    given = bound.get("keepdims", bound.get("keep_dims", NONE))
    known = given.constant()
    return given != NONE and not (known is not None and known.value is False)


def _reduces(api: Api, name: str, bound: Bound, arguments: Arguments) -> bool:
    """Whether the data-sized dimension is gone from the result: every axis reduced, or the first."""
    is_scalar = api.result_rank == 0 and not result_shapes.keeps_batch(api)
    if name not in _REDUCTIONS and name not in _MOMENTS and not is_scalar:
        return False
    axis = bound.get("axes" if "axes" in api.params else "axis", arguments.keywords.get("axis"))
    if axis is None:
        return True
    tensor = next((v for v in arguments.positional[:1] if v.producer is not None), None)
    sized = 0 if tensor is None else tensor.sized_axis
    if axis.kind is SEQUENCE:
        several = result_shapes.numbers(axis)
        if several is None or sized is None or None in several:
            return True
        # `[-1]` is the first axis of a vector, and of nothing else; `[-2, -1]` are the sides of matrices.
        return sized in several or (len(several) == 1 and several[0] == -1)
    known = axis.constant()
    if known is None or sized is None or known.value in (None, sized):
        return True
    return isinstance(known.value, int) and known.value < 0 and _may_be(known.value, sized, tensor)


def _may_be(axis: int, sized: int, tensor: Value | None) -> bool:
    """Whether an axis counted from the end is, as far as is known, the data-sized one: of a vector, -1 is the first."""
    if tensor is None:
        return False
    if tensor.shape is not None:
        return axis + len(tensor.shape) == sized
    return axis + (tensor.rank or 1) <= sized


_MOMENTS = frozenset({"tf.nn.moments", "keras.ops.moments"})


def _is_reshaped_to_static(name: str, bound: Bound) -> bool:
    """`tf.reshape(kept, [batch, 3])`: whatever it was made of, the result is as big as it says."""
    if name not in ("tf.reshape", "keras.ops.reshape") or "shape" not in bound:
        return False
    sizes = bound["shape"].ref if bound["shape"].kind is SEQUENCE else ()
    return bool(sizes) and not any(map(is_left_open, sizes))


def _shape_as_tuple(first: Value, dependence: int) -> Value:
    """keras.ops.shape(x): numbers of Python where the static shape knows them, and a tensor where the data decide."""
    place = first.sized_axis if first.producer is not None else None
    size = Value(UNKNOWN, dependence)
    if place is None or first.structured:
        return Value(COLLECTION, ref=size)
    if first.shape is None:
        return Value(COLLECTION, ref=size._replace(ref=Sizes(place), counted=first.counted))
    sizes = [size if number is None else constant(number) for number in first.shape]
    if place < len(sizes):
        sizes[place] = counted_size(first.counted)
    return Value(SEQUENCE, dtype="tuple", ref=tuple(sizes))


def _shape_of(name: str, flat: tuple[Value, ...], bound: Bound) -> Value:
    """A shape is a compile-time constant for XLA as long as the tensor's own size is."""
    is_data_sized = any(leaf.producer is not None for leaf in flat)
    dependence = BOUNDED if is_data_sized and name != "tf.rank" else FROM_SHAPE
    rank = 0 if name == "tf.rank" or name in _COUNTS else 1
    first = flat[0] if flat and flat[0].is_tensor else NOTHING_KNOWN
    whole = bound.get("input", bound.get("x", NOTHING_KNOWN))
    if whole.kind is SEQUENCE:  # becomes one tensor, of a dimension more
        first = NOTHING_KNOWN._replace(shape=result_shapes.operand_shape(whole))
    if name == "keras.ops.shape":
        return _shape_as_tuple(first, dependence)
    shape, place = first.shape, first.sized_axis if first.producer is not None else None
    wanted = bound.get("out_type")
    dtype = "int32" if wanted is None else dtype_name(wanted)
    if name == "tf.shape_n":  # a list of shapes
        lengths = Lengths() if dependence == FROM_SHAPE else None
        each = Value(TENSOR, dependence, None, dtype, rank, lengths, shape=(None,))
        return Value(COLLECTION, ref=each)
    counted = first.counted if dependence == BOUNDED else None
    if rank == 0:
        known = len(shape) if shape is not None and name == "tf.rank" else None
        content = Content((known,), True) if name == "tf.rank" else None
        return Value(
            TENSOR, dependence, dtype=dtype, rank=0, ref=content, shape=(), counted=counted
        )
    if shape is None or name not in ("tf.shape", "keras.backend.shape"):
        sizes: Sizes | Lengths | None = Sizes(place) if place is not None else None
        if sizes is None and dependence == FROM_SHAPE and flat:
            sizes = Lengths()
        return Value(TENSOR, dependence, None, dtype, rank, sizes, shape=(None,), counted=counted)
    content = Content(shape, open_place=place)
    return Value(
        TENSOR, dependence, None, dtype, rank, content, shape=(len(shape),), counted=counted
    )
