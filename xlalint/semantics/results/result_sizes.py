"""Which results of API calls are data-sized, along which axis, and what made them so."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.semantics.arguments import Arguments, Bound
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.results import result_shapes, shapes
from xlalint.semantics.results.several import returns_several
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    NONE,
    SEQUENCE,
    TENSOR,
    ReadInCalls,
    Value,
)

# What `tf.ones_like` of a data-sized tensor is: full, with ones behind the count (its other operand's count holds in arithmetic).
ALL_ONES = "tf.ones_like"
# What makes parts of which none is longer than the whole.
# In control_flow/unequal_arms.py.
ARMS_OF_TWO_SIZES = "a conditional whose arms differ in size"
PARTITIONED = "tf.dynamic_partition"
# What made a tensor data-sized when the size of another that is one was asked for.
A_SIZE_FROM_DATA = "a size that depends on data"
# What keeps as many elements as the data say; slices are cut by numbers.
_MASKS = ("a boolean mask", "tf.where", "tf.boolean_mask", "tf.unique")


def is_left_by_mask(producer: str) -> bool:
    """Whether a mask, or the places or distinct values that were found, made a tensor data-sized."""
    return producer.startswith(_MASKS)


# What the data-sized axis becomes; elementwise operations and reductions of later axes leave it where it is.
_MOVES_AXES = frozenset(
    "einsum matmul tensordot reshape batch_to_space space_to_batch meshgrid gather_nd tile repeat pad outer "
    "permute_dimensions swapaxes moveaxis matrix_transpose adjoint rot90".split()
)


def sized_axis(
    name: str, api: Api, bound: Bound, arguments: Arguments, flat: tuple[Value, ...]
) -> int | None:
    """Which axis of a result is data-sized, given that an argument was."""
    sized = next(leaf for leaf in flat if leaf.producer is not None)
    leaf = name.rsplit(".", 1)[-1]
    if leaf in _REARRANGES:
        return _rearranged(leaf, bound, arguments, sized)
    if leaf == "reshape":
        return _open_axis(bound)
    if leaf == "stack":
        return _stacked(bound, sized)
    if leaf == "one_hot" and "axis" in bound:
        return None
    if name == "tf.tile":
        return _tiled(bound, sized)
    return None if leaf in _MOVES_AXES else sized.sized_axis


def _tiled(bound: Bound, sized: Value) -> int | None:
    """Where the data-sized axis is after `tf.tile(x, [1, 1, 3])`, which repeats others."""
    times = result_shapes.numbers(bound.get("multiples", NONE))
    axis = sized.sized_axis
    if axis is None or times is None or not axis < len(times) or times[axis] != 1:
        return None
    return axis


def _stacked(bound: Bound, sized: Value) -> int | None:
    """Where the data-sized axis of the items is after `tf.stack(items, axis)`."""
    along = result_shapes.number(bound["axis"]) if "axis" in bound else 0
    if along is None or sized.sized_axis is None:
        return None
    if along == -1:
        return sized.sized_axis  # a last axis more, whatever the rank
    if along < 0:
        if sized.shape is None:
            return None
        along += len(sized.shape) + 1
    return sized.sized_axis + (along <= sized.sized_axis)


# What keeps all axes, but for those of one element: the arguments that say which.
_REARRANGES = {"expand_dims": ("axis",), "squeeze": ("axis",), "transpose": ("perm", "axes")}


def _rearranged(leaf: str, bound: Bound, arguments: Arguments, sized: Value) -> int | None:
    """Where the data-sized axis of a tensor is after `tf.transpose(x, [1, 0])`, `tf.squeeze(x, 1)`, `tf.expand_dims(x, 0)`."""
    by_name = [bound[name] for name in _REARRANGES[leaf] if name in bound]
    given = next(iter([*by_name, *arguments.positional[1:2]]), NONE)
    numbers = () if given == NONE else result_shapes.numbers(given)
    if sized.sized_axis is None or numbers is None or None in numbers:
        return None
    axes = tuple(axis for axis in numbers if axis is not None)
    rank = sized.rank if sized.shape is None else len(sized.shape)
    if leaf == "transpose" and axes:
        rank = len(axes)
    if rank is None:
        return _counted_from_the_front(leaf, axes, sized.sized_axis)
    marked = tuple(range(2, rank + 2))  # the axes by name: 1 is what `expand_dims` adds
    if leaf == "transpose":
        after = shapes.transposed(marked, axes or None)
    elif leaf == "squeeze":
        after = shapes.reduced(marked, axes, False) if axes else None
    else:
        after = shapes.expanded(marked, axes[0] if axes else None)
    name = sized.sized_axis + 2
    return after.index(name) if after is not None and name in after else None


def _counted_from_the_front(leaf: str, axes: tuple[int, ...], sized: int) -> int | None:
    """Where an axis of a tensor of unknown rank is, after axes were added or taken away that are counted from the front as well."""
    if leaf == "expand_dims" and axes == (-1,):
        return sized  # a last axis more
    if not axes or leaf == "transpose" or min(axes) < 0:
        return None
    if leaf == "squeeze":
        return sized - sum(axis < sized for axis in axes)
    return sized + (axes[0] <= sized)


def _open_axis(bound: Bound) -> int | None:
    """The one axis of `tf.reshape(kept, [-1, 3])` that is not given as a number of its own; None where several are open.

    Behind other axes (`[2, -1]`), XLA finds the last element of each row, though not what runs along them (measured): None as well.
    """
    shape = bound.get("shape", bound.get("newshape", NONE))
    sizes = shape.ref if shape.kind is SEQUENCE else ()
    places = [i for i, size in enumerate(sizes) if is_left_open(size)]
    if not places:
        places = [i for i, size in enumerate(sizes) if result_shapes.number(size) is None]
    is_first = len(places) == 1 and all(result_shapes.number(s) == 1 for s in sizes[: places[0]])
    return places[0] if is_first else None


def is_left_open(size: Value) -> bool:
    """Whether a size that a tensor is reshaped to is worked out (there is one -1 at most), or is that of a data-sized tensor."""
    return result_shapes.number(size) == -1 or size.dependence == BOUNDED


def is_sized_by(api: Api, bound: Bound) -> bool:
    """Whether a size that may be a tensor is one that only the running program knows: `tf.slice(x, [0], [i])`."""
    return any(map(_is_of_the_run, _deciding(api, bound)))


def _deciding(api: Api, bound: Bound) -> tuple[Value, ...]:
    """The numbers that size the result; of `tf.slice(x, [i, 0], [-1, 3])`, which takes the rest, the place where it begins."""
    given = [bound[name] for name in api.sizing_args if name in bound]
    sizes = tuple(leaf for value in given for leaf in leaves(value))
    begin = leaves(bound["begin"]) if api.name == "tf.slice" and "begin" in bound else ()
    if len(begin) != len(sizes):
        return sizes
    return tuple(b if result_shapes.number(s) == -1 else s for b, s in zip(begin, sizes))


def _is_of_the_run(size: Value) -> bool:
    return size.is_tensor and size.sure and size.is_of_the_run


def of_bounded_size(value: Value, api: Api, bound: Bound) -> Value:
    """`tf.range(tf.size(kept))` is as long as what was kept: data-sized, too."""
    if value.kind is not TENSOR or value.producer is not None:
        return value
    if api.sizing_args:
        deciding = _deciding(api, bound)
        for is_so, producer in _SIZED:
            if any(map(is_so, deciding)):
                axis = _axis_of_size(value, api, bound, is_so)
                return value._replace(producer=producer, sized_axis=axis)
    for name in api.constant_args:
        for leaf in leaves(bound[name]) if name in bound else ():
            if leaf.is_tensor and leaf.dependence == BOUNDED:
                axis = _axis_of_bound(value, bound)
                return value._replace(producer=A_SIZE_FROM_DATA, sized_axis=axis)
    return value


def _is_read(size: Value) -> bool:
    is_sure = size.sure and not (size.guess or size.structured)
    return size.is_tensor and is_sure and size.dependence == ARRIVING


_SIZED = ((_is_of_the_run, A_SIZE_FROM_DATA), (_is_read, ReadInCalls(A_SIZE_FROM_DATA)))


def _axis_of_size(
    value: Value, api: Api, bound: Bound, is_so: Callable[[Value], bool]
) -> int | None:
    """Which dimension of `tf.slice(x, [0, 0], [i, 4])` the running program decides; None where several are, or none is told apart."""
    if api.name == "tf.image.crop_to_bounding_box":
        return 1  # of an image or a batch
    if value.shape is not None and len(value.shape) == 1:
        return 0
    is_listed = any(n in bound and bound[n].kind is SEQUENCE for n in api.sizing_args)
    places = [i for i, size in enumerate(_deciding(api, bound)) if is_so(size)] if is_listed else []
    return places[0] if len(places) == 1 else None


def _axis_of_bound(value: Value, bound: Bound) -> int | None:
    """Which dimension of `tf.zeros([2, tf.size(kept)])` is data-sized; the only one of a vector, and of what takes no shape."""
    shape = bound.get("shape", bound.get("dims"))
    if shape is None or (value.shape is not None and len(value.shape) == 1):
        return 0
    sizes = shape.ref if shape.kind is SEQUENCE else ()
    return next((i for i, size in enumerate(sizes) if size.dependence == BOUNDED), None)


def data_sized_result(
    api: Api, data_sized: tuple[int, ...], dependence: int, bound: Bound, sure: bool
) -> Value:
    """Outputs named by the catalogue are data-sized; the others keep their size."""
    sized = Value(TENSOR, COMPUTED, api.name, sure=sure)
    plain = Value(TENSOR, dependence, sure=sure)
    if not returns_several(api, bound):
        return sized
    if len(data_sized) > 2:
        return Value(COLLECTION, COMPUTED, ref=sized)
    count = max(data_sized) + 2
    return Value(
        SEQUENCE, COMPUTED, ref=tuple(sized if i in data_sized else plain for i in range(count))
    )


def of_layer(result: Value, given: tuple[Value, ...]) -> Value:
    """What a layer or model of Keras makes of as many rows as the data say: as many. It keeps the first axis of its input."""
    if result.structured or len(given) != 1:
        return result
    (rows,) = given
    if not rows.is_data_sized or rows.sized_axis != 0:
        return result
    return result._replace(producer=rows.producer, sized_axis=0, counted=rows.counted)


def sizing(name: str, bound: Bound, flat: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands that the result takes its size from: of `tf.searchsorted` the values to place alone.

    What `tf.dynamic_stitch` puts together is as long as its largest place says, and XLA compiles it only where it knows the places.
    """
    if name == "tf.dynamic_stitch":
        return ()
    if name == "tf.searchsorted" and "values" in bound:
        return (bound["values"],)
    return flat


def dependence_of(flat: tuple[Value, ...]) -> int:
    """What the most dependent of some values depends on."""
    return max((leaf.dependence for leaf in flat if leaf.holds_data), default=CONSTANT)


def producer_of_leaves(flat: tuple[Value, ...]) -> str | None:
    """What makes the result of these operands data-sized."""
    return producer_of(*(leaf.producer for leaf in flat))


def producer_of(*producers: str | None) -> str | None:
    """What makes the result of several operands data-sized: in arithmetic, `tf.ones_like` takes the count of the others."""
    known = [producer for producer in producers if producer is not None]
    return next((p for p in known if p != ALL_ONES), known[0] if known else None)
