"""What a mask left, padded to a size that XLA knows: no longer as long as the data say.

`tf.pad(kept, [[0, n - tf.shape(kept)[0]], [0, 0]])` has n rows to XLA as well, and reshapes, products, sums and gradients of it are right. That holds
where nothing but the size of the very tensor that is padded is subtracted, as an int32, and the padding comes last. Where another size is subtracted
(`tf.size(kept)`, that of `kept * 2`), or there may be more than wanted (`tf.maximum(0, n - tf.shape(kept)[0])`), and for
`tf.concat([kept, tf.zeros([n - tf.shape(kept)[0], 4])], 0)`, sizes that the data decide add up, and `[:n]` is what brings them to n (measured,
TensorFlow 2.21: fixtures/XLA204/near_padded_back.py, flagged_padded_in_part.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import (
    BOUNDED,
    COLLECTION,
    FROM_SHAPE,
    PYTHON,
    SEQUENCE,
    UNKNOWN,
    Content,
    CountOf,
    Rest,
    Sizes,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
    from xlalint.semantics.frames import Frame

PADS = frozenset({"tf.pad", "tf.compat.v1.pad"})
_ROWS = frozenset({"tf.zeros", "tf.ones", "tf.fill"})
_LARGER = frozenset({"tf.maximum", "tf.math.maximum"})
_SMALLER = frozenset({"tf.subtract", "tf.math.subtract"})
_LISTED = frozenset({"tf.stack", "tf.convert_to_tensor", "tf.constant"})
TAKEN = _ROWS | _LARGER | _SMALLER | _LISTED | {"tf.cast"}


def sizes_of(sizes: Value, node: ast.AST) -> Value:
    """What `tf.shape(kept)` returns, with the tensor that it is the shape of."""
    if type(sizes.ref) not in (Content, Sizes) or not isinstance(node, ast.Call):
        return sizes
    written = ast.unparse(node.args[0]) if node.args else None
    return sizes._replace(ref=sizes.ref._replace(of=written))


def count(sizes: Value) -> CountOf | None:
    """Of which tensor `tf.shape(kept)[0]` is the size."""
    if type(sizes.ref) not in (Content, Sizes) or sizes.dtype != "int32":
        return None
    return None if sizes.ref.of is None else CountOf(sizes.ref.of)


def left_of(node: ast.AST, whole: Value, size: Value, value: Value) -> Value:
    """The value of `n - tf.shape(kept)[0]`, marked as what is missing to a size that XLA knows."""
    is_difference = isinstance(getattr(node, "op", None), ast.Sub)
    return _missing(whole, size, value) if is_difference else value


def _missing(whole: Value, size: Value, value: Value) -> Value:
    is_count = size.is_tensor and size.dependence == BOUNDED and size.rank == 0
    if not is_count or type(size.ref) is Rest or not _is_settled(whole):
        return value
    of = size.ref.text if type(size.ref) is CountOf else None
    return value._replace(ref=Rest(result_shapes.number(whole), of))


def of_call(name: str, arguments: Arguments, flat: tuple[Value, ...], value: Value) -> Value:
    """What is missing, or nothing where there is too much: `tf.maximum(0, n - tf.shape(kept)[0])`; rows as many as it, and paddings that hold it."""
    if name in _SMALLER:
        return _missing(flat[0], flat[1], value) if len(flat) == 2 else value
    rest = next((leaf.ref for leaf in flat if type(leaf.ref) is Rest), None)
    if rest is None:
        return value
    if name == "tf.cast":
        return value._replace(ref=rest)
    if name in _LISTED:
        listed = _listed(arguments.positional[0]) if arguments.positional else None
        return value if listed is None else value._replace(ref=listed)
    is_larger = name in _LARGER and any(result_shapes.number(leaf) == 0 for leaf in flat)
    return value._replace(ref=Rest(rest.whole)) if is_larger or name in _ROWS else value


def of_pad(bound: dict[str, Value], value: Value, node: ast.AST) -> Value:
    """The result of `tf.pad`: as long as wanted, or at least so long where XLA does not follow that."""
    padded, paddings = bound.get("tensor"), bound.get("paddings")
    if padded is None or paddings is None or not value.is_data_sized:
        return value
    if paddings.kind in (UNKNOWN, COLLECTION):  # by as much as nobody knows
        return value._replace(producer=None, sized_axis=0, counted=None)
    rest = _listed(paddings)
    if rest is None or rest.axis != padded.sized_axis:
        return value
    call = node if isinstance(node, ast.Call) else None
    named = [each.value for each in call.keywords if each.arg == "tensor"] if call else []
    given = call.args[:1] or named if call else []
    if rest.of is None or rest.of not in map(ast.unparse, given):
        return value._replace(ref=Rest(rest.whole), sized_axis=padded.sized_axis)
    shape = value.shape
    if shape is not None and rest.axis is not None and rest.axis < len(shape):
        shape = (*shape[: rest.axis], rest.whole, *shape[rest.axis + 1 :])
    return value._replace(producer=None, sized_axis=0, counted=None, shape=shape)


def is_slice_to_size(bound: dict[str, Value]) -> bool:
    """Whether `tf.slice(padded, [0, 0], [n, 4])` is taken of what was padded to n or more."""
    tensor, begin, size = (bound.get(part) for part in ("input_", "begin", "size"))
    if tensor is None or begin is None or size is None:
        return False
    starts, sizes = result_shapes.numbers(begin), result_shapes.numbers(size)
    axis = tensor.sized_axis
    if type(tensor.ref) is not Rest or starts is None or sizes is None or axis is None:
        return False
    is_long = axis < min(len(starts), len(sizes)) and sizes[axis] is not None
    return is_long and starts[axis] == 0 and tensor.ref.whole in (None, sizes[axis])


def joined(values: Value, axis: Value | None, value: Value) -> Value:
    """The result of `tf.concat([kept, tf.zeros([n - tf.shape(kept)[0], 4])], 0)`: to XLA longer than wanted, until it is cut."""
    along = result_shapes.number(axis) if axis is not None else None
    if values.kind is not SEQUENCE or len(values.ref) != 2:
        return value
    rests = [part for part in values.ref if type(part.ref) is Rest]
    if len(rests) != 1 or any(part.sized_axis != along for part in values.ref):
        return value
    return value._replace(ref=rests[0].ref) if all(p.is_data_sized for p in values.ref) else value


def is_cut_to_size(part: ast.expr, base: Value, frame: Frame) -> bool:
    """Whether `[:n]` is taken of what was padded to n or more."""
    if type(base.ref) is not Rest or not isinstance(part, ast.Slice) or part.step is not None:
        return False
    if part.upper is None or getattr(part.lower, "value", 0) != 0:
        return False
    stop = frame.analysis.evaluate(part.upper, frame)
    return _is_settled(stop) and base.ref.whole in (None, result_shapes.number(stop))


def _listed(paddings: Value) -> Rest | None:
    """What is missing, by paddings that hold it behind one axis, and constants elsewhere."""
    if paddings.kind is not SEQUENCE:
        return paddings.ref if type(paddings.ref) is Rest else None
    found: Rest | None = None
    for axis, pair in enumerate(paddings.ref):
        if pair.kind is not SEQUENCE or len(pair.ref) != 2 or not _is_settled(pair.ref[0]):
            return None
        before, after = pair.ref
        if type(after.ref) is Rest and found is None:
            more = result_shapes.number(before)
            whole = None if more is None or after.ref.whole is None else after.ref.whole + more
            found = Rest(whole, after.ref.of, axis)
        elif not _is_settled(after):
            return None
    return found


def _is_settled(size: Value) -> bool:
    """Whether XLA knows a size when it compiles, as far as can be told."""
    if size.kind in (PYTHON, UNKNOWN):
        return size.producer is None
    return size.is_tensor and size.dependence <= FROM_SHAPE
