"""Static shapes: what the shape of a result is, given the shapes that went in.

A shape is a tuple of dimensions, `None` for one that is not known; a shape whose rank is not known is `None` itself.
Every function says `None` rather than guess, also where the program would be refused for its shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Dim = int | None
Shape = tuple[Dim, ...]


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of an elementwise operation on operands of these shapes."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        padded = (1,) * (len(longer) - len(shorter)) + shorter
        result = tuple(_common(a, b) for a, b in zip(longer, padded))
    return result


def _common(a: Dim, b: Dim) -> Dim:
    if a == 1:
        return b
    if b == 1 or a == b:
        return a
    return a if b is None else b if a is None else None


def join(a: Shape | None, b: Shape | None) -> Shape | None:
    """What is known of a shape that is one of two."""
    if a == b:
        return a
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))


def reduced(shape: Shape | None, axes: tuple[int, ...] | None, keepdims: bool) -> Shape | None:
    """The shape after reducing `axes`; every axis where `axes` is None."""
    if axes is None:
        if not keepdims:
            return ()
        return None if shape is None else (1,) * len(shape)
    if shape is None:
        return None
    gone = {axis % len(shape) for axis in axes if -len(shape) <= axis < len(shape)}
    if len(gone) != len(axes):
        return None
    if keepdims:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def reshaped(shape: Shape | None, wanted: Shape) -> Shape:
    """The shape that `tf.reshape(x, wanted)` gives; -1 is worked out where the sizes are known."""
    if wanted.count(-1) != 1:
        return wanted
    size = None if shape is None or None in shape else prod(d for d in shape if d is not None)
    others = [d for d in wanted if d != -1]
    if size is None or None in others:
        return tuple(None if d == -1 else d for d in wanted)
    rest = prod(d for d in others if d is not None)
    left = size // rest if rest and size % rest == 0 else None
    return tuple(left if d == -1 else d for d in wanted)


def expanded(shape: Shape | None, axis: int | None) -> Shape | None:
    """The shape after `tf.expand_dims(x, axis)`; only the rank is known where `axis` is not."""
    if shape is None:
        return None
    if axis is None or not -len(shape) - 1 <= axis <= len(shape):
        return (None,) * (len(shape) + 1)
    position = axis if axis >= 0 else len(shape) + 1 + axis
    return (*shape[:position], 1, *shape[position:])


def squeezed(shape: Shape | None, axes: tuple[int, ...] | None) -> Shape | None:
    """The shape after `tf.squeeze(x, axes)`."""
    if shape is None:
        return None
    if axes is None:
        return None if None in shape else tuple(d for d in shape if d != 1)
    return reduced(shape, axes, False)


def transposed(shape: Shape | None, order: tuple[int, ...] | None) -> Shape | None:
    """The shape after `tf.transpose(x, order)`: reversed where `order` is None."""
    if order is None:
        return None if shape is None else shape[::-1]
    if shape is None or len(shape) != len(order):
        return (None,) * len(order)
    if sorted(order) != list(range(len(shape))):
        return (None,) * len(order)
    return tuple(shape[i] for i in order)


def stacked(shapes: Sequence[Shape | None], axis: int | None) -> Shape | None:
    """The shape of `tf.stack(items, axis)` of items of these shapes; all items have one, so that what is not known of one is that of another."""
    known = [shape for shape in shapes if shape is not None]
    inner: Shape | None = known[0] if known else None
    for shape in known[1:]:
        inner = join(inner, shape)
    grown = expanded(inner, axis)
    if grown is None or axis is None or inner is None:
        return grown
    position = axis % len(grown)
    return (*grown[:position], len(shapes), *grown[position + 1 :])


def concatenated(shapes: Sequence[Shape | None], axis: int | None) -> Shape | None:
    """The shape of `tf.concat(items, axis)`."""
    known = [shape for shape in shapes if shape is not None]
    if not known or axis is None or len({len(shape) for shape in known}) != 1:
        return None
    rank = len(known[0])
    if not -rank <= axis < rank:
        return None
    along = [shape[axis] for shape in known]
    total = (
        sum(d for d in along if d is not None)
        if len(known) == len(shapes) and None not in along
        else None
    )
    result: list[Dim] = list(known[0])
    for shape in known[1:]:
        result = [x if x == y else y if x is None else x for x, y in zip(result, shape)]
    result[axis] = total
    return tuple(result)


def multiplied(
    a: Shape | None, b: Shape | None, transpose_a: bool, transpose_b: bool
) -> Shape | None:
    """The shape of `tf.linalg.matmul(a, b)`."""
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return None
    batch = broadcast([a[:-2], b[:-2]])
    if batch is None:
        return None
    return (*batch, a[-1] if transpose_a else a[-2], b[-2] if transpose_b else b[-1])


def gathered(
    params: Shape | None, indices: Shape | None, axis: int | None, batched: int = 0
) -> Shape | None:
    """The shape of `tf.gather(params, indices, axis=axis, batch_dims=batched)`."""
    if params is None or indices is None or axis is None or not -len(params) <= axis < len(params):
        return None
    position = axis % len(params)
    if not batched <= min(position, len(indices)):
        return None
    return (*params[:position], *indices[batched:], *params[position + 1 :])
