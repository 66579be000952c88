"""The static shape of what an API returns, from the shapes and sizes it is called with.

What the catalogue calls elementwise or a reduction needs no entry here; the rest move dimensions about, each in its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.results import image_shapes, shapes
from xlalint.semantics.results.operands import known_shape as known_shape
from xlalint.semantics.results.operands import number as number
from xlalint.semantics.results.operands import numbers as numbers
from xlalint.semantics.results.operands import operand_shape as operand_shape
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    COLLECTION,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    Value,
)

Bound = dict[str, Value]


def of_call(name: str, api: Api, bound: Bound) -> Shape | None:
    """The shape of the (first) result of a call, or None."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf in _TAKE_LISTS and name.startswith(_KEEP_LISTS_APART):
        return None
    if is_worked_out(name):
        return _RULES[leaf](api, bound)
    found = image_shapes.of_call(name, bound)
    if found is not None:
        return found
    if api.shape is None or any(parameter in bound for parameter in api.shape_unless):
        return None
    return _as_measured(api, api.shape, bound)


# Their lists are no tensors with one dimension more: choices, and the real and the imaginary part of Keras 3.
_TAKE_LISTS = frozenset({"select", "irfft", "istft"})
_KEEP_LISTS_APART = ("keras.ops.", "tf.experimental.numpy.")


def is_worked_out(name: str) -> bool:
    """Whether the shape of a result follows a rule of its own, and not what the catalogue measured."""
    return name.rsplit(".", 1)[-1] in _RULES and name.startswith(_NAMESPACES)


def of_layer(api: Api, inputs: Sequence[Value]) -> Shape | None:
    """The shape that a layer of Keras makes of its first input; what it was made with is not looked at."""
    given = inputs[0] if inputs and inputs[0].is_tensor else NOTHING_KNOWN
    if api.shape == "same":
        return operand_shape(given)
    return _of_rank(given, api.shape) if api.shape is not None else None


def _as_measured(api: Api, form: str, bound: Bound) -> Shape | None:
    """The shape by what the catalogue measured of an API; see `Api.shape`."""
    if form == "same":
        return known_shape(same(api, bound))
    if form == "matmul":
        return _matmul(api, bound)
    kind, _, detail = form.partition(":")
    if kind in ("broadcast", "drop"):
        shape = broadcast([v for v in bound.values() if v.kind is not PYTHON or _is_number(v)])
        fewer = int(detail) if detail else 0
        return None if shape is None or len(shape) < fewer else shape[: len(shape) - fewer]
    if kind == "reduce":
        return _reduced(api, bound, int(detail) if detail else None)
    if kind == "like":
        return operand_shape(bound.get(detail, NOTHING_KNOWN))
    if kind == "given":
        sizes = numbers(bound.get(detail, NOTHING_KNOWN))
        return None if sizes is None else tuple(None if size == -1 else size for size in sizes)
    return _of_rank(_first(api, bound), form)


def same(api: Api, bound: Bound) -> Value:
    """The argument whose shape the result has: of `tf.math.scalar_mul(2.0, x)` and `tf.math.polyval([1.0, 2.0], x)` the tensor."""
    return bound["x"] if "x" in bound else _first(api, bound)


def _of_rank(first: Value, form: str) -> Shape | None:
    """`rank:2` is a matrix; `rank+1` has one dimension more than the first argument."""
    if form.startswith("rank:"):
        return (None,) * int(form[5:])
    shape = known_shape(first)
    if shape is None or not form.startswith("rank"):
        return None
    return (None,) * max(len(shape) + int(form[4:]), 0)


def _is_number(value: Value) -> bool:
    known = value.constant()
    return known is not None and type(known.value) in (int, float)


def broadcast(operands: Sequence[Value]) -> Shape | None:
    """The shape of an elementwise result. A dimension that is open for a data-sized operand stays open."""
    result = shapes.broadcast([operand_shape(operand) for operand in operands])
    if result == () and any(
        operand.kind is PYTHON and not operand.choices() for operand in operands
    ):
        return None  # an array may be among them
    for operand in operands:
        if result is not None and operand.producer is not None and operand.shape is not None:
            start = len(result) - len(operand.shape)
            kept = zip(result[start:], operand.shape)
            result = (*result[:start], *(None if own is None else dim for dim, own in kept))
    return result


def masked(value: Value, mask: Value, axis: int | None = 0) -> Shape | None:
    """The shape of what a boolean mask keeps: one open dimension in the place of those that the mask covers, from `axis` on."""
    if not value.is_tensor or value.shape is None or mask.shape is None or axis is None:
        return None
    first = axis % len(value.shape) if value.shape else 0
    return (*value.shape[:first], None, *value.shape[first + len(mask.shape) :])


def must_agree(sized: Value, full: Value) -> bool:
    """Whether what a mask kept meets what the mask was taken of along the data-sized dimension: eager execution refuses the sizes."""
    if full.shape is None or sized.shape is None:
        # Other shapes may be made to go with each other.
        is_shaped = full.shape is None and sized.shape is None and bool(full.rank)
        return full.is_tensor and is_shaped and full.counted is not None
    return full.counted is not None and meets_static(sized, full)


def meets_static(sized: Value, full: Value) -> bool:
    """Whether a tensor has a size of its own where the other one's depends on data: a program that runs eagerly keeps as many, and then
    elementwise operations are right. Their gradients, and `tf.where`, compare that size with the buffer's.
    """
    if not full.is_tensor or not full.rank or full.shape is None or sized.shape is None:
        return False
    sizes = [i - len(sized.shape) for i, size in enumerate(sized.shape) if size is None]
    if len(sizes) != 1 or len(full.shape) < -sizes[0]:
        return False  # a row for each column, perhaps: `boxes * [height, width, height, width]`
    return full.shape[sizes[0]] not in (None, 1)


def _first(api: Api, bound: Bound) -> Value:
    for parameter in api.params:
        if parameter in bound:
            return bound[parameter]
    return next(iter(bound.values()), NOTHING_KNOWN)


def _given(api: Api, bound: Bound, *names: str) -> Value | None:
    for name in names:
        if name in bound:
            return bound[name]
    return None


def _axes(value: Value | None) -> tuple[bool, tuple[int, ...] | None]:
    """Whether an axis argument is understood, and the axes it names (None for all of them)."""
    if value is None or value == NONE:
        return True, None
    found = numbers(value)
    if found is None or None in found:
        return False, None
    return True, tuple(axis for axis in found if axis is not None)


def _flag(value: Value | None) -> bool | None:
    if value is None:
        return False
    known = value.constant()
    return bool(known.value) if known is not None else None


def _reduced(api: Api, bound: Bound, usual: int | None = None) -> Shape | None:
    understood, axes = _axes(_given(api, bound, "axis", "axes", "dimension"))
    if understood and axes is None and usual is not None:
        axes = (usual,)
    keep = _flag(_given(api, bound, "keepdims", "keep_dims"))
    if not understood or keep is None:
        return None
    return shapes.reduced(_first(api, bound).shape, axes, keep)


def _argument_of_extreme(api: Api, bound: Bound) -> Shape | None:
    axis, keep = _given(api, bound, "axis", "dimension"), _flag(bound.get("keepdims"))
    if keep is None:
        return None
    if axis is None and api.name.startswith("keras.backend."):
        return _last_gone(_first(api, bound).shape)
    if (axis is None or axis == NONE) and _is_numpys(api):
        return shapes.reduced(_first(api, bound).shape, None, keep)
    known = number(axis) if axis is not None else 0
    return shapes.reduced(_first(api, bound).shape, (known,), keep) if known is not None else None


def _is_numpys(api: Api) -> bool:
    """Whether a function does as NumPy's of its name does: over all elements where no axis is given."""
    return api.name.startswith(("keras.ops.", "tf.experimental.numpy."))


def _last_gone(shape: Shape | None) -> Shape | None:
    return shape[:-1] if shape else None


def _of_predictions(api: Api, bound: Bound) -> Shape | None:
    """One number for each row of predictions: labels may have an axis of one element more."""
    predictions = _given(api, bound, "y_pred", "output")
    return None if predictions is None else _last_gone(predictions.shape)


def _tally(api: Api, bound: Bound) -> Shape | None:
    """`tf.math.bincount(x, axis=-1)` counts in each row."""
    axis = _given(api, bound, "axis")
    if axis is None or axis == NONE:
        return (None,)
    shape = operand_shape(_first(api, bound))
    return None if shape is None or number(axis) != -1 else (*shape[:-1], None)


def _diagonal(api: Api, bound: Bound) -> Shape | None:
    """`tf.linalg.diag_part(x, k=(0, 2))` gives several diagonals, and `tf.linalg.diag` takes as many."""
    k = bound.get("k")
    if k is not None and number(k) is None:
        return None
    return _of_rank(_first(api, bound), api.shape or "")


def _reshape(api: Api, bound: Bound) -> Shape | None:
    wanted = _given(api, bound, "shape", "newshape")
    sizes = numbers(wanted) if wanted is not None else None
    return None if sizes is None else shapes.reshaped(_first(api, bound).shape, sizes)


def _ensured(api: Api, bound: Bound) -> Shape | None:
    """What is promised, and where that is left open what was known before."""
    known, wanted = _first(api, bound).shape, _given(api, bound, "shape")
    promised = numbers(wanted) if wanted is not None else None
    if promised is None or known is None or len(known) != len(promised):
        return known if promised is None else promised
    return tuple(k if p is None else p for k, p in zip(known, promised, strict=True))


def _filled(api: Api, bound: Bound) -> Shape | None:
    wanted = _given(api, bound, "shape", "dims", "size")
    sizes = numbers(wanted) if wanted is not None else None
    return None if sizes is None else tuple(None if d == -1 else d for d in sizes)


def _constant(api: Api, bound: Bound) -> Shape | None:
    given = _filled(api, bound)
    value = _given(api, bound, "value", "object", "x")
    if given is not None or value is None:
        return given
    if "shape" in bound and bound["shape"] != NONE:
        return None  # that is not known
    return None if value.kind in (NDARRAY, COLLECTION) else known_shape(value)


def _expand_dims(api: Api, bound: Bound) -> Shape | None:
    axis = _given(api, bound, "axis", "dim")
    shape = _first(api, bound).shape
    if axis is not None and axis.kind is SEQUENCE:
        return None if shape is None else (None,) * (len(shape) + len(axis.ref))
    return shapes.expanded(shape, number(axis) if axis is not None else None)


def _squeeze(api: Api, bound: Bound) -> Shape | None:
    understood, axes = _axes(_given(api, bound, "axis", "squeeze_dims"))
    return shapes.squeezed(_first(api, bound).shape, axes) if understood else None


def _transpose(api: Api, bound: Bound) -> Shape | None:
    if api.name.startswith("tf.image."):
        return _transposed_image(_first(api, bound).shape)
    understood, order = _axes(_given(api, bound, "perm", "axes", "pattern"))
    shape = _first(api, bound).shape
    return shapes.transposed(shape, order) if understood else shape and (None,) * len(shape)


def _transposed_image(shape: Shape | None) -> Shape | None:
    """An image, or a batch of them, with its height and width exchanged."""
    if shape is None or len(shape) not in (3, 4):
        return None
    return (*shape[:-3], shape[-2], shape[-3], shape[-1])


def _items(value: Value) -> list[Shape | None] | None:
    return [operand_shape(item) for item in value.ref] if value.kind is SEQUENCE else None


def _stack(api: Api, bound: Bound) -> Shape | None:
    values = _first(api, bound)
    axis = _given(api, bound, "axis")
    position = number(axis) if axis is not None else 0
    items = _items(values)
    if items:
        return shapes.stacked(items, position)
    inner = values.ref.shape if values.kind is COLLECTION and values.ref is not None else None
    return None if inner is None else (None,) * (len(inner) + 1)


def _concat(api: Api, bound: Bound) -> Shape | None:
    items = _items(_first(api, bound))
    axis = _given(api, bound, "axis")
    if axis is None:
        position: int | None = 0 if _is_numpys(api) else -1  # tf.concat asks for one
    else:
        position = number(axis)
    return shapes.concatenated(items, position) if items else None


def _put_side_by_side(api: Api, bound: Bound) -> Shape | None:
    """`vstack` and `hstack`: along the first axis and the second; vectors lie along one axis for `hstack`, and are rows for `vstack`."""
    items = _items(_first(api, bound))
    if not items or any(not item for item in items):
        return None
    is_upright = api.name.endswith("vstack")
    if any(item is not None and len(item) == 1 for item in items):
        return (None, None) if is_upright else (None,)
    return shapes.concatenated(items, 0 if is_upright else 1)


def _sum_of_tensors(api: Api, bound: Bound) -> Shape | None:
    """`tf.add_n` of a list, or of what lies along the first axis of a tensor."""
    given = _first(api, bound)
    if given.is_tensor:
        return given.shape[1:] if given.shape else None
    items = _items(given)
    return shapes.broadcast(items) if items else None


def _drawn(api: Api, bound: Bound) -> Shape | None:
    """So many draws of each of the distributions that its parameters make: `tf.random.poisson([n], rates)`."""
    sizes = numbers(bound["shape"]) if "shape" in bound else None
    given = [bound[name] for name in ("lam", "alpha", "beta") if bound.get(name, NONE) != NONE]
    each = broadcast(given) if given else None
    return None if sizes is None or each is None else (*sizes, *each)


def _quantile(api: Api, bound: Bound) -> Shape | None:
    """One of each of the quantiles asked for, which come first."""
    asked = operand_shape(bound["q"]) if "q" in bound else None
    left = _reduced(api, bound)
    return None if asked is None or left is None else (*asked, *left)


def _matmul(api: Api, bound: Bound) -> Shape | None:
    a, b = _given(api, bound, "a", "x1", "x"), _given(api, bound, "b", "x2", "y")
    flags = [_flag(bound.get(name)) for name in ("transpose_a", "adjoint_a", "transpose_b", "adjoint_b")]  # fmt: skip
    if a is None or b is None or None in flags:
        return None
    return shapes.multiplied(a.shape, b.shape, bool(flags[0] or flags[1]), bool(flags[2] or flags[3]))  # fmt: skip


def _one_hot(api: Api, bound: Bound) -> Shape | None:
    shape = _first(api, bound).shape
    depth = _given(api, bound, "depth", "num_classes")
    axis = bound.get("axis")
    if shape is None or depth is None:
        return None
    if axis is not None and number(axis) != -1:
        return (None,) * (len(shape) + 1)
    return (*shape, number(depth))


def _range(api: Api, bound: Bound) -> Shape | None:
    if set(bound) - {"limit", "dtype", "name"}:
        return (None,)
    limit = bound.get("limit")
    return (number(limit) if limit is not None else None,)


def _eye(api: Api, bound: Bound) -> Shape | None:
    rows = _given(api, bound, "num_rows", "size", "N")
    columns = _given(api, bound, "num_columns", "M")
    if rows is None or _given(api, bound, "batch_shape") is not None:
        return None
    height = number(rows)
    return (height, height if columns is None or columns == NONE else number(columns))


def _turned(api: Api, bound: Bound) -> Shape | None:
    """Matrices, transposed."""
    shape = _first(api, bound).shape
    return None if shape is None or len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])


def _evenly_spaced(api: Api, bound: Bound) -> Shape | None:
    """So many numbers between two: between scalars, a vector."""
    ends = [operand_shape(bound.get(name, NOTHING_KNOWN)) for name in ("start", "stop")]
    count = _given(api, bound, "num")
    if ends != [(), ()]:
        return None
    return (number(count) if count is not None else None,)


def _gather(api: Api, bound: Bound) -> Shape | None:
    indices, axis = bound.get("indices"), _given(api, bound, "axis")
    batched = _batch_dimensions(bound)
    if indices is None or batched is None:
        return None
    position = batched if axis is None or axis == NONE else number(axis)
    of_indices = known_shape(indices)
    return shapes.gathered(_first(api, bound).shape, of_indices, position, batched)


def _take(api: Api, bound: Bound) -> Shape | None:
    """Without an axis, of all elements in a row."""
    indices = bound.get("indices")
    if indices is not None and bound.get("axis", NONE) == NONE and _is_numpys(api):
        return known_shape(indices)
    return _gather(api, bound)


def _take_along(api: Api, bound: Bound) -> Shape | None:
    shape = _first(api, bound).shape
    if bound.get("axis", NONE) == NONE and _is_numpys(api):
        return (None,)
    return None if shape is None else (None,) * len(shape)


def _batch_dimensions(bound: Bound) -> int | None:
    """How many first dimensions a tensor and its indices have in common; None where that is not known, or counted from the end."""
    given = bound.get("batch_dims")
    batched = 0 if given is None else number(given)
    return batched if batched is not None and batched >= 0 else None


def _gather_nd(api: Api, bound: Bound) -> Shape | None:
    """The last dimension of the indices says how many of the tensor's dimensions each of them goes through."""
    indices, batched = bound.get("indices"), _batch_dimensions(bound)
    known = known_shape(indices) if indices is not None else None
    params = _first(api, bound).shape
    if not known or params is None or batched is None or known[-1] is None:
        return None
    depth = batched + known[-1]
    return None if depth > len(params) else (*known[:-1], *params[depth:])


def _tile(api: Api, bound: Bound) -> Shape | None:
    shape = _first(api, bound).shape
    repeats = _given(api, bound, "multiples", "repeats", "reps", "n")
    known = numbers(repeats) if repeats is not None else None
    if not _is_numpys(api):
        return _tiled(shape, known)
    if shape is None or known is None:
        return None
    # NumPy's fills the shorter of the two up with ones in front.
    rank = max(len(shape), len(known))
    return _tiled((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(known)) + known)


def _tiled(shape: Shape | None, times: Shape | None) -> Shape | None:
    if shape is None:
        return (None,) * len(times) if times else None
    if times is None or len(times) != len(shape):
        return (None,) * len(shape)
    return tuple(None if d is None or n is None else d * n for d, n in zip(shape, times))


def _repeated(api: Api, bound: Bound) -> Shape | None:
    """All elements in a row, or as many dimensions as there were where an axis is named."""
    if "axis" not in api.params:
        return None  # `K.repeat(x, n)` is another thing
    axis = bound.get("axis", NONE)
    if axis == NONE:
        return (None,)
    shape, place = _first(api, bound).shape, number(axis)
    if shape is None or place is None or not -len(shape) <= place < len(shape):
        return None if shape is None else (None,) * len(shape)
    size, times = shape[place], number(bound.get("repeats", NOTHING_KNOWN))
    longer = None if size is None or times is None else size * times
    place %= len(shape)
    return (*shape[:place], longer, *shape[place + 1 :])


def _padded(api: Api, bound: Bound) -> Shape | None:
    shape = _first(api, bound).shape
    pads = _given(api, bound, "paddings", "pad_width")
    if shape is None or pads is None:
        return None
    if pads.kind is not SEQUENCE or len(pads.ref) != len(shape):
        return (None,) * len(shape)
    result: list[int | None] = []
    for dim, pair in zip(shape, pads.ref):
        ends = numbers(pair)
        if dim is None or ends is None or len(ends) != 2 or None in ends:
            result.append(None)
        else:
            result.append(dim + sum(end for end in ends if end is not None))
    return tuple(result)


def _broadcast_to(api: Api, bound: Bound) -> Shape | None:
    wanted = bound.get("shape")
    return numbers(wanted) if wanted is not None else None


def _where(api: Api, bound: Bound) -> Shape | None:
    operands = [bound.get(name) for name in ("condition", "x1", "x2", "x", "y")]
    given = [value for value in operands if value is not None]
    if len(given) != 3:
        return None
    return shapes.broadcast([operand_shape(value) for value in given])


def _sequence_mask(api: Api, bound: Bound) -> Shape | None:
    lengths, longest = _first(api, bound), bound.get("maxlen")
    shape = operand_shape(lengths)
    if shape is None:
        return None
    return (*shape, number(longest) if longest is not None else None)


def _open(api: Api, bound: Bound) -> None:
    """The result has the rank that the arguments say, not that of the call that was measured."""


def is_scalar(name: str, api: Api) -> bool:
    """Whether a call gives a scalar where it is given no axis."""
    leaf = name.rsplit(".", 1)[-1]
    is_one = (api.shape or "").startswith(("reduce", "rank:0"))
    return is_one and api.result_rank == 0 and _RULES.get(leaf) not in (_open, _quantile)


def keeps_batch(api: Api) -> bool:
    """`tf.linalg.det(x)` of a matrix is a scalar, and of a batch of them a vector."""
    return (api.shape or "").startswith(("drop:", "rank-"))


_NAMESPACES = ("tf.", "keras.ops.", "keras.backend.", "keras.losses.", "keras.metrics.")
_RULES: dict[str, Callable[[Api, Bound], Shape | None]] = {
    "sparse_categorical_crossentropy": _of_predictions,
    "sparse_top_k_categorical_accuracy": _of_predictions,
    "bincount": _tally,
    "diag": _diagonal,
    "diag_part": _diagonal,
    "matrix_diag": _diagonal,
    "matrix_diag_part": _diagonal,
    "reshape": _reshape,
    "ensure_shape": _ensured,
    "repeat": _repeated,
    "zeros": _filled,
    "ones": _filled,
    "fill": _filled,
    "full": _filled,
    "normal": _filled,
    "uniform": _filled,
    "truncated_normal": _filled,
    "stateless_normal": _filled,
    "stateless_uniform": _filled,
    "stateless_truncated_normal": _filled,
    "random_normal": _filled,
    "random_uniform": _filled,
    "constant": _constant,
    "convert_to_tensor": _constant,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "permute_dimensions": _transpose,
    "stack": _stack,
    "concat": _concat,
    "concatenate": _concat,
    "matmul": _matmul,
    "matrix_transpose": _turned,
    "adjoint": _turned,
    "linspace": _evenly_spaced,
    "one_hot": _one_hot,
    "range": _range,
    "eye": _eye,
    "gather": _gather,
    "gather_nd": _gather_nd,
    "GatherNd": _gather_nd,
    "take": _take,
    "take_along_axis": _take_along,
    "vstack": _put_side_by_side,
    "hstack": _put_side_by_side,
    "add_n": _sum_of_tensors,
    "accumulate_n": _sum_of_tensors,
    "poisson": _drawn,
    "gamma": _drawn,
    "random_gamma": _drawn,
    "random_poisson": _drawn,
    "quantile": _quantile,
    "nanquantile": _quantile,
    "percentile": _quantile,
    "nanpercentile": _quantile,
    "get_item": _open,
    "dynamic_stitch": _open,
    "slogdet": _open,
    "tensordot": _open,
    "sufficient_statistics": _open,
    "tile": _tile,
    "pad": _padded,
    "broadcast_to": _broadcast_to,
    "where": _where,
    "sequence_mask": _sequence_mask,
    "argmax": _argument_of_extreme,
    "argmin": _argument_of_extreme,
}
