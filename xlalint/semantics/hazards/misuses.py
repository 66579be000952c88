"""Uses of a data-sized tensor that XLA gets wrong, or refuses.

XLA keeps such a tensor in a buffer of the largest size, with a count beside it. Operations that know of the count are right;
the others see the buffer. What has no gradient is in differentiation.py. All measured on TensorFlow 2.21 (facts: surprises, semantics; fixtures/XLA204).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.elements import flattened, leaves
from xlalint.semantics.hazards import contracted, partners, static_sizes
from xlalint.semantics.results import padded_back, rejoined, result_shapes, sorted_places
from xlalint.semantics.results.result_sizes import ALL_ONES, ARMS_OF_TWO_SIZES
from xlalint.semantics.values import (
    COLLECTION,
    NOTHING_KNOWN,
    SEQUENCE,
    Kept,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

Bound = dict[str, Value]
Misuse = tuple[str, Value]

GRADIENT_WRONG = "gradient-wrong"

# Along the data-sized axis.
_ALONG_THE_AXIS = {
    "tf.roll": "roll",
    "tf.math.cumsum": "scan",
    "tf.cumsum": "scan",
    "keras.ops.cumsum": "scan",
    "keras.backend.cumsum": "scan",
    "tf.math.cumprod": "scan",
    "keras.ops.cumprod": "scan",
    "keras.backend.cumprod": "scan",
    "tf.math.cumulative_logsumexp": "scan",
    "tf.random.shuffle": "shuffle",
    "tf.split": "split",
    "keras.ops.split": "split",
    "tf.unstack": "unstack",
    "keras.ops.unstack": "unstack",
    "tf.unique": "unique",
}
# Whichever axis is data-sized: two must agree.
_ON_ANY_AXIS = {
    "tf.linalg.diag": "diagonal",
    "tf.linalg.diag_part": "diagonal",
    "tf.linalg.trace": "diagonal",
    "keras.ops.diag": "diagonal",
    "keras.ops.trace": "diagonal",
    **dict.fromkeys(
        (
            "tf.signal.fft",
            "tf.signal.ifft",
            "tf.signal.rfft",
            "tf.signal.irfft",
            "tf.signal.fft2d",
            "tf.signal.rfft2d",
        ),
        "fft",
    ),
}
# How many axes at the end they work on: of the axes before them, one may be data-sized.
_AXES_OF_A_DIAGONAL = {"tf.linalg.diag": 1, "tf.linalg.diag_part": 2, "tf.linalg.trace": 2}
# Of matrices of which a side is data-sized, or of as many as the data say. (Singular values are right while there are no fewer rows
# than columns, and so is `tf.linalg.pinv` of several matrices.)
_OF_MATRICES = {
    "tf.linalg.cholesky": "measured-wrong",
    "tf.linalg.inv": "measured-rejected",
    "tf.linalg.eigh": "measured-rejected",
    "tf.linalg.eigvalsh": "measured-rejected",
    "tf.linalg.logdet": "measured-rejected",
}
# The same, of which XLA before TensorFlow 2.16 compiled some; by the parameter that is that matrix.
_SOLVED = {
    "tf.linalg.solve": "matrix",
    "tf.linalg.triangular_solve": "matrix",
    "tf.linalg.lstsq": "matrix",
    "tf.linalg.cholesky_solve": "chol",
    "tf.linalg.expm": "input",
}
# `tf.ones_like(kept)` is full of ones: counting them counts the buffer.
_COUNTS = frozenset(
    {
        "tf.reduce_sum",
        "tf.math.reduce_sum",
        "tf.math.count_nonzero",
        "keras.ops.sum",
        "keras.backend.sum",
    }
)
_PROMISE_A_SHAPE = frozenset(
    {"tf.reshape", "tf.ensure_shape", "tf.broadcast_to", "keras.ops.reshape"}
)
_RESIZES = frozenset(
    {
        "tf.image.resize",
        "tf.compat.v1.image.resize",
        "tf.compat.v1.image.resize_bilinear",
        "tf.compat.v1.image.resize_images",
        "tf.compat.v1.image.resize_nearest_neighbor",
        "keras.ops.image.resize",
    }
)
# Work on what lies beyond the end, with this padding: means over windows count it, blocks take it in.
_OVER_SPACE = {
    "tf.nn.avg_pool": "SAME",
    "tf.nn.avg_pool1d": "SAME",
    "tf.nn.avg_pool2d": "SAME",
    "tf.nn.space_to_depth": None,
}
_PADS = frozenset({"tf.pad", "tf.compat.v1.pad"})
# Count the windows along the last axis.
_FRAMES = frozenset({"tf.signal.frame", "tf.signal.stft"})
# Paddings or sizes are computed from the size of the image, and have to be constants.
_FITS = frozenset({"tf.image.resize_with_crop_or_pad", "tf.image.resize_with_pad"})
_SQUEEZES = frozenset({"tf.squeeze", "keras.ops.squeeze", "keras.backend.squeeze"})
# What asks how many elements of a mask are true, and the parameter that takes it.
_COUNT_MASKS = {
    "tf.boolean_mask": "mask",
    "tf.compat.v1.boolean_mask": "mask",
    "tf.where": "condition",
}
# All of them are told the same count of what a sort returned.
_COUNT_MASKS_OF_SORTS = {
    **_COUNT_MASKS,
    "tf.compat.v1.where": "condition",
    "tf.experimental.numpy.nonzero": "a",
    "keras.ops.where": "condition",
    "keras.ops.nonzero": "x",
}
_CHOICES = frozenset({"x", "y", "x1", "x2"})
MASKED_TWICE = "masked-twice"
_CONCATENATIONS = frozenset({"tf.concat", "keras.ops.concatenate", "keras.backend.concatenate"})
_STACKS = frozenset({"tf.stack", "keras.ops.stack", "keras.backend.stack"})
# These ask for a size beside the data-sized one.
_OF_PARTNERS = frozenset({"measured-rejected", "measured-wrong", "stack", "reshape", "ensure_shape", "broadcast_to"})  # fmt: skip


def fits_buffer(misuse: Misuse, values: Sequence[Value]) -> bool:
    """Whether a conditional leaves as much as its larger arm where the call is right eagerly: what XLA has room for then is what it is."""
    how, sized = misuse
    if how not in _OF_PARTNERS or sized.producer != ARMS_OF_TWO_SIZES:
        return False
    if type(sized.ref) is not Kept:
        return False
    sizes = [size for value in flattened(values) for size in _sizes(value) if value != sized]
    return sized.ref.at_most in sizes


def _sizes(value: Value) -> Sequence[int | None]:
    if value.is_tensor:
        return value.shape or ()
    return (result_shapes.number(value),)


def misuse_of_data_sized(name: str, bound: Bound, arguments: Arguments) -> Misuse | None:
    """Which misuse of a data-sized tensor this call is, and the tensor; None for uses that are fine."""
    values = arguments.values
    counted = _COUNT_MASKS_OF_SORTS.get(name)
    if counted is not None:
        mask = bound.get(counted, NOTHING_KNOWN)
        if sorted_places.are_miscounted(mask) and not (_CHOICES - {counted}) & bound.keys():
            return "miscounted", mask
        if name in _COUNT_MASKS and _are_misplaced(name, bound, mask):
            return "measured-wrong", mask
    if name in partners.ALL:
        return partners.misuse(name, bound, values)
    if name in contracted.PRODUCTS:
        return contracted.unequal(name, bound, arguments.positional)
    first = values[0] if values else NOTHING_KNOWN
    if name in _CONCATENATIONS or name in _STACKS:
        return _joined(name, parts_of(first), bound)
    if not first.is_tensor or first.producer is None:
        return None
    if name in _SQUEEZES:
        given = len(arguments.positional) > 1 or "axis" in arguments.keywords
        return None if given else ("squeeze", first)
    if name in _PROMISE_A_SHAPE:
        return static_sizes.misuse(name, bound, arguments, first)
    if name in _OF_MATRICES:
        return _OF_MATRICES[name], first
    if name == "tf.linalg.pinv":
        is_one = first.shape is not None and len(first.shape) == 2
        return ("measured-wrong", first) if is_one else None
    if name == "tf.slice":
        return ("measured-wrong", first) if _cuts_rows(first, bound) else None
    if name in _COUNTS:
        return ("ones", first) if first.producer == ALL_ONES else None
    if name in _RESIZES or name in _FITS:
        if not _is_image_of_open_size(first):
            return None
        return ("resize" if name in _RESIZES else "measured-rejected"), first
    if name in _OVER_SPACE:
        needed = _OVER_SPACE[name]
        is_so = needed is None or _says(bound, "padding", needed)
        return ("resize", first) if is_so and first.sized_axis in (1, 2) else None
    if name in _PADS:
        return ("resize", first) if _says(bound, "mode", "REFLECT", "SYMMETRIC") else None
    if name == "tf.image.non_max_suppression_padded":
        # It cuts the boxes into tiles, of which it has to know how many.
        return ("measured-rejected", first) if first.sized_axis == 0 else None
    if name == "tf.image.extract_patches":
        return ("measured-rejected", first) if first.sized_axis in (1, 2) else None
    if name in _FRAMES:
        is_last = first.shape is not None and first.sized_axis == len(first.shape) - 1
        return ("measured-rejected", first) if is_last else None
    if name in _ON_ANY_AXIS:
        return None if _is_of_a_batch(name, first) else (_ON_ANY_AXIS[name], first)
    if name == "tf.RaggedTensor.from_tensor":
        return "measured-rejected", first
    if name == "tf.random.shuffle" and (first.rank or 0) < 2:
        return None  # a vector is sorted by random keys, with its count; the rows of a matrix are gathered
    misuse = _ALONG_THE_AXIS.get(name)
    if misuse is None or not _is_along_sized_axis(name, bound, arguments, first):
        return None
    return misuse, first


def _is_of_a_batch(name: str, sized: Value) -> bool:
    """Whether there are as many diagonals, or matrices that have one, as the data say, each of a size of its own.

    Behind an axis that is whole (`tf.gather(boxes, indices, batch_dims=1)`), the axis that the data size is mostly not the last.
    """
    axes = _AXES_OF_A_DIAGONAL.get(name)
    if axes is None or sized.sized_axis is None:
        return False
    if sized.shape is not None:
        return sized.sized_axis < len(sized.shape) - axes
    return sized.sized_axis >= axes or (sized.rank or 0) > axes + sized.sized_axis


def _cuts_rows(sized: Value, bound: Bound) -> bool:
    """`tf.slice(kept, [0, 0], [2, 3])`: so many of the rows that are left. One is right, and all of them (-1), and so is `kept[:2]`."""
    sizes = bound.get("size", NOTHING_KNOWN)
    if sized.sized_axis is None or sizes.kind is not SEQUENCE:
        return False
    if padded_back.is_slice_to_size(bound):
        return False
    if sized.sized_axis >= len(sizes.ref):
        return False
    size = sizes.ref[sized.sized_axis]
    return static_sizes.is_known(size) and result_shapes.number(size) != 1


def _says(bound: Bound, parameter: str, *words: str) -> bool:
    given = bound.get(parameter)
    known = given.constant() if given is not None else None
    return known is not None and str(known.value).upper() in words


def _is_image_of_open_size(image: Value) -> bool:
    """Whether height or width of what is resized, an image or a batch of them, is a size from data."""
    axis, rank = image.sized_axis, len(image.shape) if image.shape is not None else image.rank
    if axis is None:
        spatial = image.shape[-3:-1] if image.shape is not None else ()
        return any(size is None for size in spatial)
    return axis in (1, 2) or rank == 3 or _cuts_two_axes(image.producer or "")


def _cuts_two_axes(producer: str) -> bool:
    """`image[y : y + n, x : x + n]`: whether the first axis is rows or batch, the second is of open size as well."""
    try:
        cut = ast.parse(producer, mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(cut, ast.Subscript) or not isinstance(cut.slice, ast.Tuple):
        return False
    ends = [part.upper for part in cut.slice.elts[:2] if isinstance(part, ast.Slice)]
    return len([end for end in ends if end is not None and not isinstance(end, ast.Constant)]) == 2


def _are_misplaced(name: str, bound: Bound, mask: Value) -> bool:
    """Whether places in a mask are reckoned from a row that the data made shorter: XLA takes rows to be as long as the buffer.

    Wrong as soon as a row lacks something (measured, TensorFlow 2.15 and 2.21: fixtures/XLA204/flagged_places_in_kept_columns.py).
    How many there are is right, and so is `tf.boolean_mask`, which flattens its mask first.
    """
    is_places = name == "tf.where" and not {"x", "y"} & bound.keys()
    return is_places and bool(mask.sized_axis) and is_picked_twice(mask)


def of_picked_twice(name: str, bound: Bound) -> Misuse | None:
    """Elements picked of what a mask left, by the numbers in it: at many sizes the wrong ones since TensorFlow 2.16."""
    mask = bound.get(_COUNT_MASKS.get(name, ""), NOTHING_KNOWN)
    if "x" in bound or "y" in bound or not mask.is_tensor:
        return None
    return (MASKED_TWICE, mask) if is_picked_twice(mask) else None


def is_picked_twice(mask: Value) -> bool:
    """Whether a mask is as long as another mask says. What a conditional pads was not measured."""
    return mask.producer not in (None, ARMS_OF_TWO_SIZES)


def of_solved(name: str, bound: Bound) -> Misuse | None:
    """A system of equations of which the data say the size, or how many there are: refused since TensorFlow 2.16.

    Measured with masks: what a conditional pads is left aside.
    """
    matrix = bound.get(_SOLVED.get(name, ""), NOTHING_KNOWN)
    is_sized = matrix.is_tensor and matrix.producer not in (None, ARMS_OF_TWO_SIZES)
    return ("measured-rejected", matrix) if is_sized else None


def parts_of(listed: Value) -> tuple[Value, ...]:
    """What is put together; a list that a loop fills holds several of what it holds."""
    items = leaves(listed)
    return items * 2 if listed.kind is COLLECTION and len(items) == 1 else items


def _joined(name: str, items: tuple[Value, ...], bound: Bound) -> Misuse | None:
    """`tf.concat([kept, x], 0)` hands the wrong parts of the gradient back; `tf.stack([kept, x])` needs equal sizes."""
    sized = next((item for item in items if item.producer is not None), None)
    if sized is None or len(items) < 2:
        return None
    given = bound.get("axis")
    along = result_shapes.number(given) if given is not None else 0
    wide = rejoined.beside_whole(items, along, name in _STACKS)
    if wide is not None:
        return "rejoined", wide
    if name in _STACKS:
        full = [item for item in items if item.is_tensor and item.producer is None and item.shape]
        return ("stack", sized) if any(_is_static(v, sized.sized_axis) for v in full) else None
    is_along = along is not None and along == sized.sized_axis
    ones = next((item for item in items if item.producer == ALL_ONES), None)
    if ones is not None and is_along:
        return "ones", ones
    return (GRADIENT_WRONG, sized) if is_along and _may_have_gradient(sized) else None


def _is_static(value: Value, axis: int | None) -> bool:
    shape = value.shape or ()
    return axis is not None and len(shape) > axis and shape[axis] is not None


def _may_have_gradient(value: Value) -> bool:
    """Positions, counts and flags have none."""
    return value.dtype is None or value.dtype.startswith(("float", "bfloat", "complex"))


def _is_along_sized_axis(name: str, bound: Bound, arguments: Arguments, sized: Value) -> bool:
    """Whether the call works along the data-sized axis: the first one unless it says otherwise."""
    axis = bound.get("axis", arguments.keywords.get("axis"))
    if axis is None and name in ("tf.math.cumsum", "tf.math.cumprod", "tf.cumsum"):
        axis = arguments.positional[1] if len(arguments.positional) > 1 else None
    if axis is None and name in ("tf.roll", "tf.split"):
        axis = arguments.positional[2] if len(arguments.positional) > 2 else None
    if axis is None:
        return sized.sized_axis == 0
    known = result_shapes.number(axis)
    if known is not None and known < 0 and sized.shape is not None:
        known += len(sized.shape)
    return known is not None and known == sized.sized_axis
