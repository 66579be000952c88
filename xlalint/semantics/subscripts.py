"""Subscripts: items of containers, slices of tensors, boolean masks, and how a data-sized tensor is misused."""

from __future__ import annotations

import ast
import re

from xlalint.semantics import evidence, parameters, sliced_axes
from xlalint.semantics.callbacks import protocols
from xlalint.semantics.elements import element, item_at
from xlalint.semantics.environment import versions
from xlalint.semantics.facts import (
    ARRAY_ITEM,
    ASSUMED,
    CONVERSION,
    DATA_SIZED_USE,
    INDEX,
    MASK_INDEX,
    SLICE,
    STRIDE,
    UNFOLLOWED,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import kept_in_steps
from xlalint.semantics.hazards import (
    costs,
    counts,
    host_objects,
    misuses,
    moved_slices,
    text,
    unknown_sizes,
)
from xlalint.semantics.hazards.iteration import is_taken_apart
from xlalint.semantics.imports import module_loading
from xlalint.semantics.joins import join_all
from xlalint.semantics.results import composites, followed, padded_back, sorted_places
from xlalint.semantics.results.result_shapes import masked, number
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    CAPTURED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    FACTORED,
    FROM_SHAPE,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    REGROUPED,
    SEQUENCE,
    SHAPE,
    TENSOR,
    UNKNOWN,
    Content,
    CountOf,
    Cut,
    Lengths,
    Places,
    ReadInCalls,
    Sizes,
    Value,
    class_name,
    static_shape,
)

_MASK_NAMES = re.compile(
    r"(^|_)(masks?|valid|keep|kept|selected|drop|dropped|positives?|negatives?|is_\w+)(_|$)"
)

STATIC_SLICE = Value(SHAPE)


def subscript(node: ast.Subscript, frame: Frame) -> Value:
    base = frame.analysis.evaluate(node.value, frame)
    if base.kind in (SEQUENCE, MAPPING, COLLECTION):
        index = frame.analysis.evaluate(node.slice, frame)
        note_index_of_list(node, base, index, frame)
        return _item(base, index, node)
    if base.is_tensor:
        return _tensor_item(node, base, frame)
    if base.is_composite:
        return composites.subscript(node, base, frame)
    promised = parameters.alias(node, base, frame)
    if promised is not None:
        return promised
    index = frame.analysis.evaluate(node.slice, frame)
    if versions.is_version(base):
        return versions.item(base, node.slice, frame.analysis.keras)
    if base.kind is INSTANCE:
        found = host_objects.call(class_name(base) or "", "__getitem__", node, frame)
        if found is None:
            found = protocols.ask(base, "__getitem__", [index], frame)
        return found if found is not None else NOTHING_KNOWN
    if base.kind is EXTERNAL:
        module = module_loading.item(base, node.slice, index, frame)
        return module if module is not None else NOTHING_KNOWN
    if base.kind is SHAPE:
        _note_asked(node, index, frame)
        return _shape_item(node, base, index, frame)
    if base.kind is NDARRAY:
        note_index_of_array(node, frame)
        return base
    if base.kind is UNKNOWN:
        return _unknown_item(node, base, index, frame)
    return NOTHING_KNOWN


def note_index_of_list(node: ast.Subscript, base: Value, index: Value, frame: Frame) -> None:
    """`rates[step]`, `names[label]`: a list asks its index for a Python number, a dictionary for its hash.

    An empty one may be anything that is filled later.
    """
    is_filled = base.kind is COLLECTION or (base.kind in (SEQUENCE, MAPPING) and base.ref)
    if is_filled:
        _note_asked(node, index, frame)


def _note_asked(node: ast.Subscript, index: Value, frame: Frame) -> None:
    asked = [index]
    if isinstance(node.slice, ast.Slice):  # `layers[:depth]`
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        asked = [frame.analysis.evaluate(each, frame) for each in bounds if each is not None]
    for value in asked:
        if is_taken_apart(value, None, frame):
            frame.analysis.note(frame, node, CONVERSION, value, "index")
            return


def note_index_of_array(node: ast.Subscript, frame: Frame) -> None:
    """`TABLE[index]`, `array[:n]`: NumPy asks a traced tensor for its numbers."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        bounds = (part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,)
        for bound in bounds:
            if bound is None or isinstance(bound, ast.Constant):
                continue
            index = frame.analysis.evaluate(bound, frame)
            if is_computed(index):
                frame.analysis.note(frame, node, ARRAY_ITEM, index)
                return


def is_computed(value: Value) -> bool:
    """Whether a value is a tensor that the traced program computes; NumPy can read those that were made before."""
    is_vague = value.guess or value.optional  # a list of tensors is no better
    return value.is_tensor and value.dependence > CONSTANT and not is_vague


def _shape_item(node: ast.Subscript, base: Value, index: Value, frame: Frame) -> Value:
    """`x.shape[0]` is a dimension, `x.shape[1:]` a shape."""
    if isinstance(node.slice, ast.Slice):
        bounds = sliced_axes.known_slice(node.slice, frame)
        if base.shape is None or bounds is None:
            return STATIC_SLICE
        return static_shape(base.shape[bounds])
    return unknown_sizes.size_at(base, number(index))


def _unknown_item(node: ast.Subscript, base: Value, index: Value, frame: Frame) -> Value:
    """`outputs[mask]` where only the mask is known to be a tensor: only a tensor takes a tensor as an index."""
    if index.kind is TENSOR and is_mask(index, node.slice) and index.dependence >= CAPTURED:
        likely = Value(TENSOR, ARRIVING, sure=False)
        frame.analysis.note(frame, node, MASK_INDEX, likely, index)
        counted = counts.here(node, frame)
        return Value(TENSOR, ARRIVING, "a boolean mask", sure=False, counted=counted)
    if is_computed(index) and frame.context.is_compiled and index.sure and not index.structured:
        # Neither a list nor an array takes one while TensorFlow traces: `lengths[i]` in a loop of the graph.
        return Value(TENSOR, max(base.dependence, index.dependence), sure=False)
    if frame.context.is_compiled and _is_cut_by_tensors(node, frame):
        return _tensor_item(node, Value(TENSOR, ARRIVING, sure=False), frame)
    return Value(UNKNOWN, base.dependence)


def _is_cut_by_tensors(node: ast.Subscript, frame: Frame) -> bool:
    """`mother[:point]` of a parameter, where only the point is known to be a tensor: neither a list nor an array is cut at one while TensorFlow
    traces. (What another library's tokenizer returns may be ragged.)
    """
    info = frame.function
    if info is None or not isinstance(node.value, ast.Name):
        return False
    if node.value.id not in info.parameter_names:
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    written = [bound for part in slices for bound in (part.lower, part.upper) if bound is not None]
    bounds = [frame.analysis.evaluate(bound, frame) for bound in written]
    return any(
        is_computed(bound) and bound.dependence >= ARRIVING and bound.sure and not bound.structured
        for bound in bounds
    )


def _item(base: Value, index: Value, node: ast.Subscript) -> Value:
    known = index.constant()
    if base.kind is SEQUENCE:
        if (
            known is not None
            and isinstance(known.value, int)
            and -len(base.ref) <= known.value < len(base.ref)
        ):
            return base.ref[known.value]  # type: ignore[no-any-return]
        if isinstance(node.slice, ast.Slice):
            return (
                Value(COLLECTION, base.dependence, ref=element(base)) if base.ref else NOTHING_KNOWN
            )
    if base.kind is MAPPING and known is not None:
        return _under_key(base, known.value)
    if base.kind is COLLECTION and isinstance(node.slice, ast.Slice):
        return base
    item = item_at(base, known.value if known is not None else None)
    is_promised = base.kind is MAPPING and any(key is None for key, _ in base.ref or ())
    return item._replace(structured=True) if is_promised and item.is_tensor else item


def _under_key(base: Value, wanted: object) -> Value:
    """What a dictionary holds under a key: what was stored last, or later under a key that nobody knows."""
    may_be: list[Value] = []
    for key, value in reversed(base.ref or ()):
        if key == wanted:
            return join_all((value, *may_be)) if may_be else value
        if key is None:
            # Under each key, as an annotation says; who writes one forgets that mappings nest.
            may_be.append(value._replace(structured=value.is_tensor))
    return join_all(tuple(may_be)) if may_be else NOTHING_KNOWN


_NUMPY = frozenset({"np", "numpy"})


def _of_axes(name: str, value: Value, frame: Frame) -> Value:
    """What `x[..., 4]` says of a parameter that was taken for a tensor: it is no list, and no array in a function that asks NumPy for nothing."""
    function = frame.function
    if function is None or not frame.context.is_compiled or value.optional or value.producer:
        return value
    if name not in function.parameter_names or function.module.is_of_arrays:
        return value
    if not _NUMPY.isdisjoint(function.uses.roots):
        return value  # also one number of it makes arrays likely
    if name not in frame.names or not evidence.computes(function, frame):
        return value
    frame.names[name] = value = value._replace(sure=True, guess=False, structured=False)
    return value


def _tensor_item(node: ast.Subscript, base: Value, frame: Frame) -> Value:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > 1 and base.guess and isinstance(node.value, ast.Name):
        base = _of_axes(node.value.id, base, frame)
    values = [index_value(part, frame) for part in parts]
    index = values[0]
    if len(parts) == 1 and index.is_tensor and is_mask(index, node.slice):
        if index.dependence >= CAPTURED:
            frame.analysis.note(frame, node, MASK_INDEX, base, index)
            frame.analysis.arms.saw_kept(node, node.value, base, frame)
            kept_in_steps.note_mask(node, node.value, node.slice, base, frame)
            if sorted_places.are_miscounted(index):
                frame.analysis.note(frame, node, DATA_SIZED_USE, index, "miscounted")
            elif not frame.analysis.tells_counts_apart and misuses.is_picked_twice(index):
                frame.analysis.note(frame, node, DATA_SIZED_USE, index, misuses.MASKED_TWICE)
            sure = base.sure and index.sure
            frame.has_dimensions(node.value)
            shape = masked(base, index)
            rank = None if shape is None else len(shape)
            dependence = max(base.dependence, index.dependence, REGROUPED)
            held = costs.kept(index)
            return Value(
                TENSOR, dependence, "a boolean mask", base.dtype, rank, held, sure, shape=shape,
                counted=counts.here(node, frame),
            )  # fmt: skip
        return base._replace(kind=TENSOR, rank=None, shape=None, ref=None)
    if (
        len(parts) == 1
        and index.kind is PYTHON
        and isinstance(getattr(index.constant(), "value", None), str)
    ):
        return base._replace(
            kind=TENSOR, rank=None, shape=None, ref=None
        )  # a dictionary of tensors
    dependence = max([base.dependence, *(v.dependence for v in values if v.is_tensor)])
    _note_strides(node, parts, frame)
    unknown_sizes.note_number(node, values, frame)
    _note_index(node, parts, values, frame)
    moved_slices.note(node, parts, values, base, frame)
    text.note_item(node, base, values, frame)
    dependence = text.chosen(base, dependence)
    producer, axis = base.producer, base.sized_axis
    if producer is None:
        producer, axis = _sized_by_slice(node, base, parts, values, frame)
    else:
        at, axis = sliced_axes.follow_axis(parts, values, base)
        if at is not None:
            _note_misuse(node, parts[at], values[at], base, frame)
            is_open = isinstance(parts[at], ast.Slice)
            if not is_open or padded_back.is_cut_to_size(parts[at], base, frame):
                producer = None
        frame.analysis.arms.saw_result(node, ((node.value, base),), producer, frame)
    shape = None if base.structured else sliced_axes.shape_after(base.shape, parts, values, frame)
    rank = (
        sliced_axes.rank_after(base.rank, parts)
        if shape is None and base.rank is not None
        else None
    )
    if rank is None and base.producer is not None:
        rank = sliced_axes.least_rank(parts)
    rank = len(shape) if shape is not None else rank
    if base.producer is not None and producer is None:
        dependence = max(dependence, COMPUTED)
    dependence = followed.of_item(base, parts, producer, dependence)
    content: Content | CountOf | Cut | Lengths | Places | Sizes | None = _content_item(
        base, parts, values, frame
    )
    if dependence == BOUNDED and type(base.ref) in (Content, Sizes):
        if _is_settled(base, parts, values, frame):
            dependence = FROM_SHAPE
        elif content is None:
            content = _sizes_left(base, parts, frame)
        if content is None and rank == 0:
            content = padded_back.count(base)
    if type(base.ref) is Lengths and len(parts) == 1 and isinstance(parts[0], ast.Slice):
        content = Lengths(is_part=True)
    if type(base.ref) is Places and all(map(sliced_axes.keeps_order, parts, values)):
        content = base.ref
    if content is None and base.producer is None and producer is not None:
        content = _cut(parts, values)
    return Value(
        TENSOR, dependence, producer, base.dtype, rank, content, base.sure, False,
        base.structured and not sliced_axes.has_axes(node),
        shape=shape, sized_axis=axis if producer is not None else 0,
        counted=counts.of_item(base, producer, dependence, node, frame),
        given=base.given, guess=base.guess and not _takes_tensor(values, frame),
    )  # fmt: skip


def _takes_tensor(values: list[Value], frame: Frame) -> bool:
    """Whether what is indexed can only be a tensor: neither an array nor a list takes what the program computes as an index."""
    if frame.context.region != ASSUMED:
        return True
    return any(v.kind is TENSOR and v.sure and is_computed(v) for v in values)


def _note_misuse(
    node: ast.Subscript, part: ast.expr, value: Value, base: Value, frame: Frame
) -> None:
    misuse = _misused_index(part, value)
    if misuse is not None:
        frame.analysis.note(frame, node, DATA_SIZED_USE, base, misuse)


def _note_strides(node: ast.Subscript, parts: list[ast.expr], frame: Frame) -> None:
    """`x[::n]`: XLA needs the step when it compiles."""
    for part in parts:
        if isinstance(part, ast.Slice) and part.step is not None:
            step = frame.analysis.evaluate(part.step, frame)
            if step.is_tensor and (step.dependence >= ARRIVING or step.dependence == BOUNDED):
                frame.analysis.note(frame, node, STRIDE, step, part.step)


def _note_index(
    node: ast.Subscript, parts: list[ast.expr], values: list[Value], frame: Frame
) -> None:
    """`x[i]` and `x[:n]` with an argument, or what a mask leaves of one: XLA on CPU and GPU compiles again for each value."""
    for part, value in zip(parts, values):
        is_slice = isinstance(part, ast.Slice) and part.step is None
        is_read = value.dependence in (ARRIVING, REGROUPED)
        if is_read and value.sure and (is_slice or value.kind is TENSOR):
            frame.analysis.note(frame, node, INDEX, value, part)
            return


def _sized_by_slice(
    node: ast.Subscript, base: Value, parts: list[ast.expr], values: list[Value], frame: Frame
) -> tuple[str | None, int | None]:
    """`x[:, :i]`, where only the running program knows `i`, is data-sized; what made it so, and along which axis.

    Of a bound that is an argument, this is so on a TPU alone.
    """
    for position, (part, value) in enumerate(zip(parts, values)):
        if not isinstance(part, ast.Slice) or part.step is not None or not value.sure:
            continue
        if value.is_of_the_run:
            if value.dependence >= FACTORED:
                frame.analysis.note(frame, node, UNFOLLOWED, value, ast.unparse(part))
            if base.dtype is None or base.dtype.startswith(("float", "bfloat", "complex")):
                frame.analysis.note(frame, node, SLICE, base)
                kept_in_steps.note_slice(node, part, base, frame)
            return ast.unparse(node), sliced_axes.axis_after(parts, values, position)
        if value.dependence == ARRIVING and not value.guess:
            return ReadInCalls(ast.unparse(node)), sliced_axes.axis_after(parts, values, position)
    return None, 0


def _cut(parts: list[ast.expr], values: list[Value]) -> Cut | None:
    """The axes of the result that its slices make as long as the running program says; None where one of them cannot be told."""
    axes = [
        sliced_axes.axis_after(parts, values, position)
        for position, (part, value) in enumerate(zip(parts, values))
        if isinstance(part, ast.Slice) and (value.is_of_the_run or value.dependence == ARRIVING)
    ]
    known = frozenset(axis for axis in axes if axis is not None)
    return Cut(known) if len(known) == len(axes) else None


def _content_item(
    base: Value, parts: list[ast.expr], values: list[Value], frame: Frame
) -> Content | None:
    """`tf.shape(x)[1]` and `tf.shape(x)[1:]` where the shape of x is known."""
    if type(base.ref) is not Content or len(parts) != 1:
        return None
    if isinstance(parts[0], ast.Slice):
        bounds = sliced_axes.known_slice(parts[0], frame)
        return _content_slice(base.ref, bounds) if bounds is not None else None
    known = number(values[0])
    held = base.ref.numbers
    return (
        Content((held[known],)) if known is not None and -len(held) <= known < len(held) else None
    )


def _content_slice(content: Content, taken: slice) -> Content:
    places = list(range(len(content.numbers)))[taken]
    place = places.index(content.open_place) if content.open_place in places else None
    return Content(content.numbers[taken], open_place=place)


def _is_settled(base: Value, parts: list[ast.expr], values: list[Value], frame: Frame) -> bool:
    """Whether these are sizes of a data-sized tensor that the data do not decide: those of its other dimensions."""
    place = base.ref.open_place if type(base.ref) in (Content, Sizes) else None
    if place is None or len(parts) != 1:
        return False
    count = len(base.ref.numbers) if type(base.ref) is Content else None
    if isinstance(parts[0], ast.Slice):
        taken = sliced_axes.known_slice(parts[0], frame)
        if taken is None or (count is None and sliced_axes.counts_from_the_end(taken)):
            return False
        return place not in range(*taken.indices(count if count is not None else place + 1))
    known = number(values[0])
    if known is not None and known < 0:
        known = known + count if count is not None else None
    return known is not None and known != place


def _sizes_left(base: Value, parts: list[ast.expr], frame: Frame) -> Sizes | None:
    """`tf.shape(kept)[1:]` of what nobody knows the rank of."""
    taken = sliced_axes.known_slice(parts[0], frame) if isinstance(parts[0], ast.Slice) else None
    if type(base.ref) is not Sizes or taken is None or (taken.start or 0) < 0:
        return None
    return Sizes(base.ref.open_place - (taken.start or 0)) if taken.step in (None, 1) else None


def index_value(part: ast.expr, frame: Frame) -> Value:
    if not isinstance(part, ast.Slice):
        return frame.analysis.evaluate(part, frame)
    bounds = [
        frame.analysis.evaluate(b, frame)
        for b in (part.lower, part.upper, part.step)
        if b is not None
    ]
    tensors = [b for b in bounds if b.is_tensor]
    dependence = max((b.dependence for b in tensors), default=CONSTANT)
    unknown = next((b.producer for b in bounds if unknown_sizes.is_unknown(b)), None)
    ref = NONE.ref if unknown is not None else None
    wide = next((b.dtype for b in bounds if _is_wide_count(b)), None)
    return Value(
        PYTHON, dependence, unknown, wide, ref=ref, sure=all(b.sure for b in bounds),
        guess=any(b.guess or b.structured for b in tensors),
    )  # fmt: skip


def _is_wide_count(value: Value) -> bool:
    """An int64 that XLA does not know when it compiles: what a mask left (`tf.cast(tf.shape(kept)[0], tf.int64)`), a position."""
    is_late = value.is_tensor and value.dependence >= ARRIVING and not value.guess
    return value.dtype == "int64" and (is_late or value.dependence == BOUNDED)


def _misused_index(part: ast.expr, value: Value) -> str | None:
    """How an index along the data-sized dimension goes wrong under XLA (facts: surprises, semantics)."""
    known = value.constant()
    if known is not None and isinstance(known.value, int) and known.value < 0:
        return "negative-index"
    if isinstance(part, ast.Slice):
        if part.step is not None and not (
            isinstance(part.step, ast.Constant) and part.step.value in (None, 1)
        ):
            return "stride"
        if _is_negative(part.lower):
            return "negative-slice"
    # XLA knows sizes as int32, and what it computes from them it takes for bounds as such alone.
    is_wide = value.dtype == "int64" if isinstance(part, ast.Slice) else _is_wide_count(value)
    if not is_wide:
        return None
    return "wide-bound" if value.dependence == BOUNDED else "wide-place"


def _is_negative(bound: ast.expr | None) -> bool:
    return isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)


def is_mask(index: Value, node: ast.expr) -> bool:
    """Whether a tensor used as an index is boolean: by its dtype, or for a parameter, a field or an item by its name."""
    if index.dtype is not None:
        return index.dtype == "bool"
    if isinstance(node, ast.Attribute):
        return node.attr.endswith(("mask", "masks"))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return isinstance(node.slice.value, str) and node.slice.value.endswith(("mask", "masks"))
    return isinstance(node, ast.Name) and _MASK_NAMES.search(node.id) is not None
