"""The static shapes of products: `tf.einsum`, `tf.tensordot` and their kin."""

from __future__ import annotations

from xlalint.semantics.arguments import Bound
from xlalint.semantics.results import shapes
from xlalint.semantics.results.operands import number, numbers, operand_shape
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import NOTHING_KNOWN, SEQUENCE, Value


def of_call(name: str, bound: Bound, flat: tuple[Value, ...]) -> Shape | None:
    """The shape of a product; None of what is none, or not understood."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf == "einsum":
        return _einsum(flat)
    if leaf == "tensordot" and name.startswith("tf."):
        return _tensordot(bound)
    return _matvec(bound) if name == "tf.linalg.matvec" else None


def _einsum(flat: tuple[Value, ...]) -> Shape | None:
    """By the letters of the equation. Axes under an ellipsis are broadcast."""
    equation = flat[0].constant() if flat else None
    if equation is None or not isinstance(equation.value, str):
        return None
    given, arrow, result = equation.value.replace(" ", "").partition("->")
    terms, operands = given.split(","), [operand_shape(value) for value in flat[1:]]
    if not arrow or len(terms) != len(operands):
        return None
    sizes: dict[str, int | None] = {}
    batches: list[Shape | None] = []
    for term, shape in zip(terms, operands):
        batch = _named(term, shape, sizes)
        if "..." in term:
            batches.append(batch)
    kept = result.replace("...", "")
    if not kept.isalpha() and kept:
        return None
    before, dots, after = result.partition("...")
    if not dots:
        return tuple(sizes.get(letter) for letter in result)
    common = shapes.broadcast(batches) if batches else None
    if common is None:
        return None
    return (*map(sizes.get, before), *common, *map(sizes.get, after))


def _named(term: str, shape: Shape | None, sizes: dict[str, int | None]) -> Shape | None:
    """Note the size of each letter of a term; what is left of the shape is under its ellipsis."""
    before, dots, after = term.partition("...")
    letters = before + after
    if shape is None or len(shape) < len(letters) or (not dots and len(shape) != len(letters)):
        for letter in letters:
            sizes.setdefault(letter, None)
        return None
    last = len(shape) - len(after)
    for letter, size in zip(letters, shape[: len(before)] + shape[last:]):
        if sizes.get(letter) is None or size is not None:
            # A letter of size 1 is no size to go by: einsum broadcasts it.
            sizes[letter] = size if sizes.get(letter) in (None, 1, size) else sizes[letter]
    return shape[len(before) : last]


def _tensordot(bound: Bound) -> Shape | None:
    """What `axes` takes out of both is gone: a number of axes, or a list for each operand."""
    a, b = (operand_shape(bound.get(name, NOTHING_KNOWN)) for name in ("a", "b"))
    axes = bound.get("axes", NOTHING_KNOWN)
    if a is None or b is None:
        return None
    if axes.kind is SEQUENCE and len(axes.ref) == 2:
        pairs = [numbers(each) for each in axes.ref]
        if any(pair is None or None in pair for pair in pairs):
            return None
        first, second = ([int(axis or 0) for axis in pair or ()] for pair in pairs)
        return (*_without(a, first), *_without(b, second))
    count = number(axes)
    if count is None or not 0 <= count <= min(len(a), len(b)):
        return None
    return (*a[: len(a) - count], *b[count:])


def _without(shape: Shape, axes: list[int]) -> Shape:
    gone = {axis % len(shape) for axis in axes} if shape else set()
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def _matvec(bound: Bound) -> Shape | None:
    a, b = (operand_shape(bound.get(name, NOTHING_KNOWN)) for name in ("a", "b"))
    if a is None or b is None or len(a) < 2 or "transpose_a" in bound or "adjoint_a" in bound:
        return None
    batch = shapes.broadcast([a[:-2], b[:-1]])
    return None if batch is None else (*batch, a[-2])
