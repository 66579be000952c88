"""What an API call returns: kind, dependence and size, from the catalogue and from the APIs that carry shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from xlalint.semantics import attributes, composites, costs, result_shapes, specs
from xlalint.semantics.catalog import Api
from xlalint.semantics.frames import Frame
from xlalint.semantics.shapes import Shape
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    FALSE,
    FROM_SHAPE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SPARSE,
    TENSOR,
    TRUE,
    UNKNOWN,
    Const,
    Content,
    Value,
    constant,
    flattened,
    leaves,
    shaped,
    static_shape,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

Bound = dict[str, Value]

# What `tf.ones_like` of a data-sized tensor is: full, with ones behind the count (its other operand's count holds in arithmetic).
ALL_ONES = "tf.ones_like"
# What made a tensor data-sized when the size of another that is one was asked for.
A_SIZE_FROM_DATA = "a size that depends on data"

_SHAPES = frozenset(
    {"tf.shape", "tf.size", "tf.rank", "tf.shape_n", "keras.backend.shape", "keras.ops.shape"}
)
_LIKE = frozenset({"tf.zeros_like", "keras.backend.zeros_like", "keras.ops.zeros_like"})
_ONES_LIKE = frozenset({"tf.ones_like", "keras.backend.ones_like", "keras.ops.ones_like"})
_PYTHON_RESULTS = frozenset(
    {
        "keras.backend.ndim",
        "keras.backend.count_params", "keras.backend.epsilon", "keras.backend.floatx", "keras.backend.image_data_format",
        "keras.backend.is_keras_tensor", "keras.backend.is_tensor", "keras.backend.dtype",
        "keras.backend.learning_phase", "keras.backend.get_uid", "keras.backend.standardize_dtype",
        "keras.ops.is_tensor", "keras.ops.ndim", "keras.ops.dtype", "tf.is_tensor", "tf.get_static_value", "tf.inside_function",
        "tf.as_dtype", "tf.nest.is_nested", "tf.nest.assert_same_structure", "tf.debugging.is_numeric_tensor",
        "tf.distribute.has_strategy", "tf.distribute.in_cross_replica_context", "tf.get_logger", "tf.is_symbolic_tensor",
        "tf.broadcast_static_shape", "keras.tree.is_nested", "tf.get_default_graph", "tf.data.experimental.cardinality",
    }
)  # fmt: skip
# Reductions of something unknown are data in practice: nobody reduces a setting. Products are left out: of shapes.
_REDUCTIONS = frozenset(
    f"tf.math.{name}" for name in
    ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_any", "reduce_all", "reduce_logsumexp", "argmax", "argmin", "count_nonzero")
) | frozenset(f"tf.{name}" for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_any", "reduce_all", "argmax", "argmin", "norm")) | frozenset(
    f"keras.backend.{name}" for name in ("sum", "mean", "max", "min", "any", "all", "argmax", "argmin")
) | frozenset(f"keras.ops.{name}" for name in ("sum", "mean", "max", "min", "any", "all", "argmax", "argmin"))  # fmt: skip
_BOOLEAN = frozenset(
    "greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not logical_xor is_nan is_inf is_finite "
    "isnan isinf isfinite reduce_any reduce_all any all in_top_k sequence_mask".split()
)
_TENSOR_NAMESPACES = (
    "tf.math.", "tf.nn.", "tf.linalg.", "tf.signal.", "tf.image.", "tf.random.", "tf.bitwise.", "tf.raw_ops.", "keras.ops.",
    "keras.backend.", "keras.activations.", "keras.losses.", "keras.metrics.", "tf.losses.",
)  # fmt: skip
# Not every function of these namespaces returns a tensor; CamelCase names are classes.


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


def of_call(
    api: Api, data_sized: tuple[int, ...], arguments: Arguments, bound: Bound, frame: Frame
) -> Value:
    """The value of a call of a catalogued API that takes no functions."""
    name = _modern(api.name)
    flat = tuple(flattened((*arguments.positional, *arguments.keywords.values())))
    special = _SPECIAL.get(name)
    if special is not None:
        value = special(arguments, bound, flat, frame)
        if value.kind is TENSOR and value.shape is None:
            value = _with_shape(value, result_shapes.of_call(name, api, bound))
        return _of_bounded_size(value, api, bound)
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
    if name in _SPECIAL:
        return _SPECIAL[name](arguments, dict(arguments.keywords), flat, frame)
    if name in _PYTHON_RESULTS:
        return SOME_PYTHON
    if name in _SHAPES:
        return _shape_of(name, flat, {})
    if not _makes_tensors(name, "compiles"):
        return NOTHING_KNOWN
    dependence = _dependence_of(flat)
    # One tensor or a structure of them: only what it is called says that it is one.
    structured = name not in _REDUCTIONS and name.rsplit(".", 1)[-1] not in _BOOLEAN
    dtype = _dtype(name, None, {}, flat)
    return Value(TENSOR, dependence, _producer_of(flat), dtype, structured=structured)


@cache
def _makes_tensors(name: str, status: str) -> bool:
    if status == "not-compute":
        return False
    leaf = name.rsplit(".", 1)[-1]
    return (
        name.startswith(_TENSOR_NAMESPACES)
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
    dependence = _dependence_of(flat)
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    if name in _SCATTERED:
        producer_of = flat[:1] if "tensor_scatter" in name else ()
        dependence = COMPUTED if dependence == ARRIVING else dependence
        return Value(TENSOR, dependence, _producer_of(producer_of), None, 1, None, sure)
    if name.startswith(("tf.random.", "keras.random.")) or "random" in name.rsplit(".", 1)[-1]:
        dependence = COMPUTED
    if dependence == ARRIVING and any(op.startswith(_UNRESOLVED_OPS) for op in api.ops):
        dependence = COMPUTED
    if dependence < ARRIVING and any(leaf.kind is UNKNOWN for leaf in flat):
        sure = False  # what it depends on is not known
    is_static = _reduces(api, name, bound, arguments) or _is_reshaped_to_static(name, bound)
    producer = None if is_static else _producer_of(flat)
    if data_sized and dependence >= ARRIVING:
        return _data_sized_result(api, data_sized, dependence, flat, sure)
    dtype = _dtype(name, api, bound, flat)
    rank = api.result_rank
    if _has_axis(bound, arguments, name):
        rank = _least_rank(api, bound)
    if api.returns == "structure":
        return Value(COLLECTION, dependence, ref=Value(TENSOR, dependence, producer, sure=sure))
    axis = None if producer is None else _sized_axis(name, api, bound, arguments, flat)
    value = Value(TENSOR, dependence, producer, dtype, rank, None, sure, sized_axis=axis)
    value = _with_shape(value, result_shapes.of_call(name, api, bound))
    return _of_bounded_size(value, api, bound)


def _least_rank(api: Api, bound: Bound) -> int | None:
    """`tf.argmax(x, axis=1)` of what nobody knows the rank of is a vector or more; None where nothing follows."""
    axis = result_shapes.number(bound.get("axis", NONE))
    takes_away = (api.shape or "").startswith("reduce") or api.name.endswith(("argmax", "argmin"))
    if axis is None or not takes_away:
        return None
    return max(axis if axis >= 0 else -axis - 1, 0) or None


# What the data-sized axis becomes; elementwise operations and reductions of later axes leave it where it is.
_MOVES_AXES = frozenset(
    "transpose stack einsum matmul tensordot reshape batch_to_space space_to_batch meshgrid gather_nd tile repeat pad outer "
    "permute_dimensions swapaxes moveaxis squeeze matrix_transpose adjoint rot90".split()
)


def _sized_axis(
    name: str, api: Api, bound: Bound, arguments: Arguments, flat: tuple[Value, ...]
) -> int | None:
    """Which axis of a result is data-sized, given that an argument was."""
    sized = next(leaf for leaf in flat if leaf.producer is not None)
    leaf = name.rsplit(".", 1)[-1]
    if leaf == "expand_dims":
        axis = bound.get("axis", arguments.positional[1] if len(arguments.positional) > 1 else NONE)
        known = result_shapes.number(axis)
        if known is None or known < 0 or sized.sized_axis is None:
            return None
        return sized.sized_axis + (known <= sized.sized_axis)
    if leaf == "matmul" and sized is flat[0] and sized.sized_axis == 0:
        return None if {"transpose_a", "adjoint_a"} & set(bound) else 0
    if leaf == "one_hot" and "axis" in bound:
        return None
    return None if leaf in _MOVES_AXES else sized.sized_axis


def is_sized_by(api: Api, bound: Bound) -> bool:
    """Whether a size that may be a tensor is one that only the running program knows: `tf.slice(x, [0], [i])`."""
    sizes = [leaf for name in api.sizing_args if name in bound for leaf in leaves(bound[name])]
    return any(
        leaf.is_tensor and leaf.sure and leaf.dependence in (BOUNDED, COMPUTED) for leaf in sizes
    )


def _of_bounded_size(value: Value, api: Api, bound: Bound) -> Value:
    """`tf.range(tf.size(kept))` is as long as what was kept: data-sized, too."""
    if value.kind is not TENSOR or value.producer is not None:
        return value
    if api.sizing_args and is_sized_by(api, bound):
        axis = 1 if api.name == "tf.image.crop_to_bounding_box" else None  # of an image or a batch
        return value._replace(producer=A_SIZE_FROM_DATA, sized_axis=axis)
    for name in api.constant_args:
        for leaf in leaves(bound[name]) if name in bound else ():
            if leaf.is_tensor and leaf.dependence == BOUNDED:
                axis = _axis_of_bound(bound)
                return value._replace(producer=A_SIZE_FROM_DATA, sized_axis=axis)
    return value


def _axis_of_bound(bound: Bound) -> int | None:
    """Which dimension of `tf.zeros([2, tf.size(kept)])` is data-sized; the only one of what takes no shape."""
    shape = bound.get("shape", bound.get("dims"))
    if shape is None:
        return 0
    sizes = shape.ref if shape.kind is SEQUENCE else ()
    return next((i for i, size in enumerate(sizes) if size.dependence == BOUNDED), None)


def _with_shape(value: Value, shape: Shape | None) -> Value:
    """The value with its static shape, when that is known; what is known of its rank stays otherwise."""
    if shape is None:
        return value._replace(shape=()) if value.rank == 0 else value
    return shaped(value, shape)


def _data_sized_result(
    api: Api, data_sized: tuple[int, ...], dependence: int, flat: tuple[Value, ...], sure: bool
) -> Value:
    """Outputs named by the catalogue are data-sized; the others keep their size."""
    sized = Value(TENSOR, COMPUTED, api.name, sure=sure)
    plain = Value(TENSOR, dependence, sure=sure)
    if api.returns == "tensor":
        return sized
    if len(data_sized) > 2:
        return Value(COLLECTION, COMPUTED, ref=sized)
    count = max(data_sized) + 2
    return Value(
        SEQUENCE, COMPUTED, ref=tuple(sized if i in data_sized else plain for i in range(count))
    )


def _dependence_of(flat: tuple[Value, ...]) -> int:
    return max((leaf.dependence for leaf in flat if leaf.holds_data), default=CONSTANT)


def _producer_of(flat: tuple[Value, ...]) -> str | None:
    return producer_of(*(leaf.producer for leaf in flat))


def producer_of(*producers: str | None) -> str | None:
    """What makes the result of several operands data-sized: in arithmetic, `tf.ones_like` takes the count of the others."""
    known = [producer for producer in producers if producer is not None]
    return next((p for p in known if p != ALL_ONES), known[0] if known else None)


def _has_axis(bound: Bound, arguments: Arguments, name: str) -> bool:
    axis = bound.get("axis", arguments.keywords.get("axis"))
    if axis is None and not bound and name in _REDUCTIONS and len(arguments.positional) > 1:
        axis = arguments.positional[1]
    known = axis.constant() if axis is not None else None
    return axis is not None and not (known is not None and known.value is None)


def _reduces(api: Api, name: str, bound: Bound, arguments: Arguments) -> bool:
    """Whether the data-sized dimension is gone from the result: every axis reduced, or the first."""
    if name not in _REDUCTIONS and api.result_rank != 0:
        return False
    axis = bound.get("axis", arguments.keywords.get("axis"))
    if axis is None:
        return True
    known = axis.constant()
    sized = next((v.sized_axis for v in arguments.positional[:1] if v.producer is not None), 0)
    return known is None or sized is None or known.value in (None, sized)


def _is_reshaped_to_static(name: str, bound: Bound) -> bool:
    """`tf.reshape(kept, [batch, 3])`: whatever it was made of, the result is as big as it says."""
    if name not in ("tf.reshape", "keras.ops.reshape") or "shape" not in bound:
        return False
    sizes = bound["shape"].ref if bound["shape"].kind is SEQUENCE else ()
    left_open = any(
        result_shapes.number(size) == -1 or size.dependence == BOUNDED for size in sizes
    )
    return bool(sizes) and not left_open


def _dtype(name: str, api: Api | None, bound: Bound, flat: tuple[Value, ...]) -> str | None:
    leaf = name.rsplit(".", 1)[-1]
    if leaf in _BOOLEAN:
        return "bool"
    named = (api.dtype_arg if api else None) or "dtype"
    # Catalogues of older versions do not say which parameter it is.
    given = next(
        (bound[p] for p in (named, "dtype", "output_type", "out_type") if p in bound), None
    )
    if given is not None and given != NONE:
        return dtype_name(given)
    if api is not None and (api.result_dtype or "").startswith("like:"):
        return _dtype_of_parameter(api, bound)
    if api is not None and api.result_dtype not in (None, "same", "real"):
        return api.result_dtype
    if api is not None and api.result_dtype is not None:
        first = next((v.dtype for v in flat if v.is_tensor), None)
        if first == "bfloat16" and any(v.dtype == "float32" for v in flat if v.is_tensor):
            return None  # products of both are float32, keras.ops makes float32 of both, the rest fails
        return _REAL.get(first, first) if api.result_dtype == "real" and first else first
    if name in _COMPLEX:
        wide = any(v.dtype == "float64" for v in flat if v.is_tensor)
        return "complex128" if wide else "complex64"
    return None


# Complex numbers as wide as the real ones that they are made of: float32 where nothing says otherwise.
_COMPLEX = frozenset({"tf.dtypes.complex", "tf.signal.rfft", "tf.signal.rfft2d", "tf.signal.stft"})


_REAL = {"complex64": "float32", "complex128": "float64"}


def _dtype_of_parameter(api: Api, bound: Bound) -> str | None:
    """`like:y_pred`: the dtype of that argument."""
    like = bound.get((api.result_dtype or "").removeprefix("like:"))
    return like.dtype if like is not None and like.is_tensor else None


def dtype_name(value: Value) -> str | None:
    """`tf.bool`, `np.bool_`, `"bool"` and `bool` are all `bool`."""
    known = value.constant()
    if known is not None and isinstance(known.value, str):
        return known.value
    if value.kind is EXTERNAL:
        name = str(value.ref).rsplit(".", 1)[-1].rstrip("_")
        return _PYTHON_TYPES.get(name, name)
    return None


_PYTHON_TYPES = {"int": "int32", "float": "float32", "str": "string"}


def _shape_of(name: str, flat: tuple[Value, ...], bound: Bound) -> Value:
    """A shape is a compile-time constant for XLA as long as the tensor's own size is."""
    is_data_sized = any(leaf.producer is not None for leaf in flat)
    dependence = BOUNDED if is_data_sized and name != "tf.rank" else FROM_SHAPE
    rank = 0 if name in ("tf.size", "tf.rank") else 1
    if name == "keras.ops.shape":
        return Value(COLLECTION, ref=Value(UNKNOWN, dependence))
    shape = flat[0].shape if flat and flat[0].is_tensor else None
    wanted = bound.get("out_type")
    dtype = "int32" if wanted is None else dtype_name(wanted)
    if name == "tf.shape_n":  # a list of shapes
        return Value(COLLECTION, ref=Value(TENSOR, dependence, None, dtype, rank, shape=(None,)))
    if rank == 0:
        known = len(shape) if shape is not None and name == "tf.rank" else None
        content = Content((known,), True) if name == "tf.rank" else None
        return Value(TENSOR, dependence, dtype=dtype, rank=0, ref=content, shape=())
    if shape is None or name not in ("tf.shape", "keras.backend.shape"):
        return Value(TENSOR, dependence, dtype=dtype, rank=rank, shape=(None,))
    return Value(TENSOR, dependence, None, dtype, rank, Content(shape), shape=(len(shape),))


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
    is_known = first.kind is not UNKNOWN
    return Value(TENSOR, first.dependence, dtype=dtype_name(wanted), sure=is_known, shape=shape)


def _same(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    if first.is_tensor:
        return first._replace(
            kind=TENSOR, ref=_content(first), structured=False, optional=False, guess=False
        )
    if first.kind is SHAPE and first.shape is not None:
        return Value(
            TENSOR, FROM_SHAPE, None, "int32", 1, Content(first.shape), shape=(len(first.shape),)
        )
    if first.kind is UNKNOWN:
        # Made a tensor: whatever it was, it is one now. Whether it holds data is not known.
        return Value(TENSOR, first.dependence, sure=False)
    return Value(TENSOR, _dependence_of(flat), _producer_of(flat), _dtype_of_literal(first, bound))


def _content(value: Value) -> Content | None:
    """The known numbers of a tensor, which a cast or a copy keeps."""
    return value.ref if type(value.ref) is Content else None


def _dtype_of_literal(value: Value, bound: Bound) -> str | None:
    """What TensorFlow makes of Python numbers: int32, float32, bool, string."""
    given = bound.get("dtype")
    if given is not None and given != NONE:
        return dtype_name(given)
    if value.kind is NDARRAY:
        return value.dtype
    found = {
        _PYTHON_DTYPES.get(type(leaf.ref.value))
        for leaf in leaves(value)
        if type(leaf.ref) is Const
    }
    known = all(type(leaf.ref) is Const for leaf in leaves(value))
    if known and found <= {"int32", "float32"} and found:
        return "float32" if "float32" in found else "int32"
    return found.pop() if known and len(found) == 1 else None


_PYTHON_DTYPES: dict[type, str] = {
    int: "int32",
    float: "float32",
    bool: "bool",
    str: "string",
    bytes: "string",
}


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
    dtype = first.dtype if given is None or given == NONE else dtype_name(given)
    value = Value(TENSOR, CONSTANT, _producer_of(flat), dtype)
    return shaped(value, first.shape) if first.is_tensor and first.shape is not None else value


def _ones_like(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    value = _like(arguments, bound, flat, frame)
    return value if value.producer is None else value._replace(producer=ALL_ONES)


def _where(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    chosen = [k for k in arguments.keywords if k in ("condition", "x", "y", "x1", "x2")]
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    if len(arguments.positional) + len(chosen) >= 2:
        values = [leaf.dtype for leaf in flat[1:] if leaf.is_tensor]
        dtype = values[0] if values and len(set(values)) == 1 else None
        return Value(TENSOR, _dependence_of(flat), _producer_of(flat), dtype, None, None, sure)
    rank = flat[0].shape if flat and flat[0].is_tensor else None
    columns = len(rank) if rank is not None else None
    shape = (None, columns)
    if _is_constant(flat):
        return Value(TENSOR, _dependence_of(flat), dtype="int64", rank=2, shape=shape)
    return Value(TENSOR, COMPUTED, "tf.where", "int64", 2, None, _is_known(flat), shape=shape)


def _where_of_arrays(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    """The `where` of NumPy: of a condition alone, it gives a vector of indices for each dimension."""
    value = _where(arguments, bound, flat, frame)
    if value.dtype != "int64" or value.rank != 2:
        return value
    return Value(COLLECTION, value.dependence, ref=shaped(value, (None,)))


def _is_constant(flat: tuple[Value, ...]) -> bool:
    """Whether nothing here depends on data: every tensor is known to be constant, and nothing is unknown."""
    return all(
        leaf.kind is not UNKNOWN and (leaf.dependence < ARRIVING and leaf.sure) for leaf in flat
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
    gathered = Value(TENSOR, _dependence_of(flat), indices.producer, params.dtype, sure=sure)
    is_plain = not {"axis", "batch_dims"} & bound.keys() or indices.producer is None
    return gathered if is_plain else gathered._replace(sized_axis=_gathered_axis(bound, indices))


def _gathered_axis(bound: Bound, indices: Value) -> int | None:
    """Where the data-sized axis of the indices is in `tf.gather(x, indices, axis=axis)`."""
    axis = result_shapes.number(bound.get("axis", NOTHING_KNOWN))
    if axis is None or axis < 0 or "batch_dims" in bound or indices.sized_axis is None:
        return None
    return axis + indices.sized_axis


def _constant_value(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    return Value(
        TENSOR, _dependence_of(flat), dtype=_dtype_of_literal(first, bound), ref=_numbers_in(first)
    )


def _numbers_in(value: Value) -> Content | None:
    """The elements of a constant vector of whole numbers, or of one number."""
    if value.kind is SEQUENCE and 0 < len(value.ref) <= 8:
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
    dtype = value.dtype if value.is_tensor else _dtype_of_literal(value, {})
    return Value(TENSOR, _dependence_of(leaves(value)), dtype=dtype, sure=value.sure)


def _range(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    given = bound.get("dtype")
    if given is not None and given != NONE:
        dtype = dtype_name(given)
    else:
        known = {leaf.dtype or _dtype_of_literal(leaf, {}) for leaf in flat}
        dtype = known.pop() if len(known) == 1 else None
    unknown = any(leaf.kind is UNKNOWN for leaf in flat)
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor) and not unknown
    return Value(TENSOR, _dependence_of(flat), _producer_of(flat), dtype, None, None, sure)


def _joined(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.concat` and `tf.stack`; of small vectors of known numbers, such as shapes, the numbers stay known."""
    values = arguments.positional[0] if arguments.positional else bound.get("values", NOTHING_KNOWN)
    dependence = _dependence_of(flat[:-1] if len(arguments.positional) > 1 else flat)
    known = {leaf.dtype for leaf in leaves(values) if leaf.is_tensor}
    dtype = known.pop() if len(known) == 1 else None
    sure = all(leaf.sure for leaf in flat if leaf.is_tensor)
    if dependence < ARRIVING and any(leaf.kind is UNKNOWN for leaf in flat):
        sure = False
    numbers = _numbers_joined(values) if dtype in ("int32", "int64") else None
    axes = {leaf.sized_axis for leaf in flat if leaf.producer is not None}
    axis = axes.pop() if len(axes) == 1 else None if axes else 0
    producer = _producer_of(flat)
    return Value(TENSOR, dependence, producer, dtype, None, numbers, sure, sized_axis=axis)


def _stacked(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    """`tf.stack`: what is joined has one axis more than its parts."""
    joined = _joined(arguments, bound, flat, frame)
    along = bound.get("axis", constant(0))
    along = arguments.positional[1] if len(arguments.positional) > 1 else along
    new, old = result_shapes.number(along), joined.sized_axis
    if joined.producer is None:
        return joined
    if new is None or new < 0 or old is None:
        return joined._replace(sized_axis=None)
    return joined._replace(sized_axis=old + (new <= old))


def _numbers_joined(values: Value) -> Content | None:
    if values.kind is not SEQUENCE or not 0 < len(values.ref) <= 8:
        return None
    parts = [result_shapes.numbers(item) for item in values.ref]
    if any(part is None for part in parts):
        return None
    return Content(tuple(number for part in parts if part is not None for number in part))


def _unstacked(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    first = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    inner = (  # of whatever it was: its parts are tensors
        first._replace(
            kind=TENSOR,
            rank=None,
            ref=None,
            shape=None,
            guess=False,
            structured=False,
            optional=False,
        )
        if first.is_tensor
        else Value(TENSOR, first.dependence)
    )
    return Value(COLLECTION, inner.dependence, ref=inner)


def _flattened(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    return Value(COLLECTION, ref=flat[0]) if flat else Value(COLLECTION)


def _static_shape(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    return static_shape(flat[0].shape if flat and flat[0].is_tensor else None)


def _unique(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    if _is_constant(flat):
        known = Value(TENSOR, _dependence_of(flat))
        return Value(SEQUENCE, known.dependence, ref=(known, known))
    sized = Value(TENSOR, COMPUTED, "tf.unique", sure=_is_known(flat))
    return Value(SEQUENCE, COMPUTED, ref=(sized, sized._replace(producer=None)))


def _unique_with_counts(
    arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame
) -> Value:
    # It has no kernel in any version: nothing is said of the sizes of what never compiles.
    plain = Value(TENSOR, COMPUTED, sure=_is_known(flat))
    return Value(SEQUENCE, COMPUTED, ref=(plain, plain, plain))


def _partition(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    if _is_constant(flat[1:]):
        return Value(COLLECTION, ref=Value(TENSOR, _dependence_of(flat)))
    sized = Value(TENSOR, COMPUTED, "tf.dynamic_partition", sure=_is_known(flat))
    return Value(COLLECTION, COMPUTED, ref=sized)


def _mask(arguments: Arguments, bound: Bound, flat: tuple[Value, ...], frame: Frame) -> Value:
    mask = arguments.positional[1:2] or tuple(
        v for k, v in arguments.keywords.items() if k == "mask"
    )
    data = arguments.positional[0] if arguments.positional else bound.get("tensor", NOTHING_KNOWN)
    dtype = data.dtype if data.is_tensor else None
    if _is_constant(mask):
        return Value(TENSOR, _dependence_of(flat), dtype=dtype)
    held = costs.kept(mask[0]) if mask else None
    axis = result_shapes.number(bound["axis"]) if "axis" in bound else 0
    kept = Value(TENSOR, COMPUTED, "a boolean mask", dtype, None, held, _is_known(mask))
    kept = kept._replace(sized_axis=axis if axis is not None and axis >= 0 else None)
    return _with_shape(kept, result_shapes.masked(data, mask[0] if mask else NOTHING_KNOWN))


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


_SPECIAL: dict[str, Callable[[Arguments, Bound, tuple[Value, ...], Frame], Value]] = {
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
    "keras.backend.constant": _constant_value,
    "tf.zeros": _filled,
    "tf.ones": _filled,
    "tf.eye": _filled,
    "tf.fill": _fill,
    "tf.range": _range,
    "tf.concat": _joined,
    "tf.stack": _stacked,
    "keras.backend.zeros": _filled,
    "keras.backend.ones": _filled,
    "keras.ops.zeros": _filled,
    "keras.ops.ones": _filled,
    "tf.unstack": _unstacked,
    "tf.split": _unstacked,
    "tf.clip_by_global_norm": _clipped_together,
    "tf.nn.ctc_greedy_decoder": _decoded,
    "tf.nn.ctc_beam_search_decoder": _decoded,
    "tf.compat.v1.nn.ctc_beam_search_decoder": _decoded,
    "tf.io.parse_single_sequence_example": lambda *call: _parsed(2),
    "tf.io.parse_sequence_example": lambda *call: _parsed(3),
    "tf.nest.pack_sequence_as": _packed,
    "keras.tree.pack_sequence_as": _packed,
    "tf.nest.flatten": _flattened,
    "keras.tree.flatten": _flattened,
    "keras.backend.int_shape": _static_shape,
    "tf.unique": _unique,
    "tf.unique_with_counts": _unique_with_counts,
    "tf.dynamic_partition": _partition,
    "tf.boolean_mask": _mask,
    **dict.fromkeys(_LIKE, _like),
    **dict.fromkeys(_ONES_LIKE, _ones_like),
}
