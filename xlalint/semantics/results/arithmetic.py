"""What operators make of two values: tensors, folded numbers and texts, joined shapes and lists."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from xlalint.semantics import known_texts
from xlalint.semantics.elements import element
from xlalint.semantics.facts import (
    CAST_OPERAND,
    DATA_SIZED_USE,
    FORMATTING,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    contracted,
    counts,
    formatting,
    misfits,
    unknown_sizes,
)
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.joins import join
from xlalint.semantics.results import (
    composites,
    contractions,
    dtypes,
    padded_back,
    shapes,
    sorted_places,
)
from xlalint.semantics.results.floating import is_floating
from xlalint.semantics.results.result_shapes import (
    broadcast,
    meets_static,
    must_agree,
    number,
    numbers,
)
from xlalint.semantics.results.result_sizes import ARMS_OF_TWO_SIZES, producer_of
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.training import reductions
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    CAPTURED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    FROM_SHAPE,
    IMAGINARY,
    INSTANCE,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    UNKNOWN,
    FromPython,
    Handed,
    Kept,
    Partly,
    Places,
    Value,
    constant,
    may_be_handed,
    shaped,
    static_shape,
)


def combine(node: ast.AST, left: Value, right: Value, frame: Frame) -> Value:
    """The value of `left <operator> right`."""
    if left.producer is not None or right.producer is not None:
        unknown_sizes.note_number(node, (left, right), frame)
    if left.is_composite or right.is_composite:
        return composites.combine(node, left, right, frame)
    if left.is_tensor or right.is_tensor:
        if UNKNOWN in (left.kind, right.kind):
            left, right = _with_sizes(node, left, right)
        if left.kind is PYTHON and is_text(left) and isinstance(getattr(node, "op", None), ast.Mod):
            if not right.guess and formatting.percent_wants_number(str(left.ref.value), 0):
                frame.analysis.note(frame, node, FORMATTING, right)
            return SOME_PYTHON
        note_cast_operand(node, left, right, frame)
        if not isinstance(getattr(node, "op", None), ast.MatMult):
            note_full_size_partner(node, left, right, frame)
            counts.note_pair(node, left, right, frame)
        if _may_be_lists(node, left, right):
            return tensor_of(left, right)._replace(structured=True, shape=None, rank=None)
        value = _after_operator(node, left, right)
        if value.producer is not None and isinstance(node, ast.BinOp):
            given = ((node.left, left), (node.right, right))
            frame.analysis.arms.saw_result(node, given, value.producer, frame)
        if value.dependence == CONSTANT and UNKNOWN in (left.kind, right.kind):
            value = value._replace(dependence=FROM_SHAPE)  # no constant that anybody knows
        if type(left.ref) is Places or type(right.ref) is Places:
            op = getattr(node, "op", None)
            ref = sorted_places.reckoned(op, left, right) if op is not None else None
            value = value._replace(ref=ref)
        if right.dependence == BOUNDED:
            value = padded_back.left_of(node, left, right, value)
        if value.dtype is None and IMAGINARY in (left, right):
            value = value._replace(dtype=dtypes.SOME_COMPLEX)
        if (left.given or right.given) and misfits.note_eigenvalues(node, left, right, frame):
            value = value._replace(given=())
        if left.dtype != right.dtype and misfits.are_mixed(left, right):
            value = value._replace(dtype=None)
            if not isinstance(getattr(node, "op", None), ast.MatMult):
                misfits.note_pair(node, left, right, frame)
        if isinstance(getattr(node, "op", None), ast.MatMult):
            misfits.note_product(node, left, right, frame)
            if value.producer is not None:
                unequal = contracted.unequal_matrices(left, right)
                if unequal is not None:
                    frame.analysis.note(frame, node, DATA_SIZED_USE, unequal, "measured-rejected")
                producer, axis = contractions.product(left, right)
                value = value._replace(producer=producer, sized_axis=axis)
            return shaped(value, shapes.multiplied(left.shape, right.shape, False, False))
        if left.made is not None or right.made is not None:
            return reductions.combined(node, left, right, value, frame)
        return value
    if INSTANCE in (left.kind, right.kind):
        return _overloaded(node, left, right, frame)
    if left.kind is PYTHON and right.kind is PYTHON:
        return _folded(node, left, right)
    if UNKNOWN in (left.kind, right.kind) and any(map(known_texts.is_certain_text, (left, right))):
        return _folded(node, left, right)
    if right.kind is SEQUENCE and is_text(left):
        for position, item in enumerate(right.ref):
            if item.is_tensor and not (item.guess or item.structured):
                if formatting.percent_wants_number(str(left.ref.value), position):
                    frame.analysis.note(frame, node, FORMATTING, item)
        return known_texts.filled(left, right)
    if left.kind is NDARRAY or right.kind is NDARRAY:
        return Value(NDARRAY)
    if isinstance(getattr(node, "op", None), ast.Add):
        if left.kind is SEQUENCE and right.kind is SEQUENCE:
            return Value(SEQUENCE, max(left.dependence, right.dependence), ref=left.ref + right.ref)
        if {left.kind, right.kind} == {SEQUENCE, SHAPE} or left.kind is right.kind is SHAPE:
            return _joined_shapes(left, right)
        if {left.kind, right.kind} <= {SEQUENCE, COLLECTION, SHAPE}:
            return Value(COLLECTION, ref=join(element(left), element(right)))
    if left.kind is SEQUENCE and right.kind is PYTHON:
        return _repeated(left, right)
    return Value(UNKNOWN, max(left.dependence, right.dependence))


_IS_SIZE = re.compile(r"(^|_)(size|dim)$")


def _with_sizes(node: ast.AST, left: Value, right: Value) -> tuple[Value, Value]:
    """The operands of `ids // vocab_size`, where a name that is not known says that it is a number."""
    if isinstance(node, ast.BinOp):
        return _as_size(node.left, left), _as_size(node.right, right)
    return left, _as_size(node.value, right) if isinstance(node, ast.AugAssign) else right


def _as_size(node: ast.expr, value: Value) -> Value:
    name = getattr(node, "attr", getattr(node, "id", ""))
    return SOME_PYTHON if value.kind is UNKNOWN and _IS_SIZE.search(name) else value


_ON_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)


def _after_operator(node: ast.AST, left: Value, right: Value) -> Value:
    """Whole numbers divided are fractions, and masks put together a mask; XLA follows no size through a product of matrices. A fraction of a data-sized size is no bound that XLA knows (fixtures/XLA203)."""
    op = getattr(node, "op", None)
    value = tensor_of(left, right)
    if isinstance(op, _ON_BITS) and "bool" in (left.dtype, right.dtype):
        return value._replace(dtype="bool")
    if isinstance(op, ast.MatMult) and value.dependence == ARRIVING:
        return value._replace(dependence=COMPUTED)
    if isinstance(op, ast.Div) and value.dtype in _DIVIDED:
        return value._replace(dtype=_DIVIDED[value.dtype])
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and value.dependence == BOUNDED:
        return value._replace(dependence=COMPUTED)
    return value


_MOST_ITEMS = 16


def _repeated(items: Value, times: Value) -> Value:
    """`[spec] * 2`, item by item where it is known how many there are."""
    count = number(times)
    if count is None or not 0 < count * len(items.ref) <= _MOST_ITEMS:
        return Value(COLLECTION, ref=element(items))
    return items._replace(ref=items.ref * count)


def _joined_shapes(left: Value, right: Value) -> Value:
    """`x.shape[:-1] + [n]`: a shape again."""
    parts = [numbers(left), numbers(right)]
    if parts[0] is not None and parts[1] is not None:
        whole = static_shape(parts[0] + parts[1])
        if left.producer is not None:
            return whole._replace(producer=left.producer, sized_axis=left.sized_axis)
        axis = None if right.sized_axis is None else right.sized_axis + len(parts[0])
        return whole._replace(producer=right.producer, sized_axis=axis)
    sides = zip((left, right), parts)
    if all(side.kind is SHAPE or (known and _are_sizes(known)) for side, known in sides):
        return Value(SHAPE, producer=left.producer or right.producer)
    return Value(COLLECTION, ref=join(element(left), element(right)))


def _are_sizes(known: Shape) -> bool:
    return all(size is not None and size >= 0 for size in known)


def _may_be_lists(node: ast.AST, left: Value, right: Value) -> bool:
    """`inputs + others` in a layer: lists joined, as far as anybody knows."""
    if not isinstance(getattr(node, "op", None), ast.Add):
        return False
    either = (left, right)
    lists = (SEQUENCE, COLLECTION, UNKNOWN)
    return any(v.structured for v in either) and all(
        v.structured or v.guess or v.kind in lists for v in either
    )


_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
# Of a power that is worked out: the bits of the base, times the exponent.
_MOST_BITS = 128
# What TensorFlow makes of whole numbers before it divides them.
_DIVIDED = {
    **dict.fromkeys(("int8", "int16", "uint8", "uint16"), "float32"),
    **dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64"),
}
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
_LARGEST = 2**63


def _folded(node: ast.AST, left: Value, right: Value) -> Value:
    """Whole numbers that are known stay known: they are sizes and axes; and words are, which name operations."""
    if IMAGINARY in (left, right):
        return IMAGINARY
    one, other = left.constant(), right.constant()
    fold = _FOLDED.get(type(getattr(node, "op", None)))  # type: ignore[arg-type]
    if fold is operator.add and (_may_be_text(left) or _may_be_text(right)):
        return known_texts.added(left, right)
    if isinstance(getattr(node, "op", None), ast.Mod) and _may_be_text(left):
        return known_texts.filled(left, right)
    if one is None or other is None or fold is None:
        return SOME_PYTHON
    if type(one.value) is not int or type(other.value) is not int:
        return _folded_float(fold, one.value, other.value)
    if other.value == 0 and fold in _DIVISIONS:
        return SOME_PYTHON
    if fold is operator.pow and not 0 <= other.value * one.value.bit_length() <= _MOST_BITS:
        return SOME_PYTHON  # a fraction, or too large
    result = fold(one.value, other.value)
    return constant(result) if abs(result) < _LARGEST else SOME_PYTHON


def _folded_float(fold: Callable[[Any, Any], Any], one: object, other: object) -> Value:
    """`0.5 + 1` is a float: what a loop that becomes a graph carries has a dtype."""
    both = {type(one), type(other)}
    if float not in both or not both <= {int, float} or fold in _DIVISIONS or fold is operator.pow:
        return SOME_PYTHON
    return constant(fold(one, other))


def _may_be_text(value: Value) -> bool:
    return type(value.ref) is Partly or known_texts.is_text(value)


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}


def _overloaded(node: ast.AST, left: Value, right: Value, frame: Frame) -> Value:
    """An operator that a project class defines: a method like any other, which AutoGraph never converts."""
    name = _OPERATORS.get(type(getattr(node, "op", None)))  # type: ignore[arg-type]
    for owner, other, prefix in ((left, right, "__"), (right, left, "__r")):
        if owner.kind is INSTANCE and isinstance(owner.ref, ClassInfo):
            method = frame.analysis.classes.method(owner.ref, f"{prefix}{name}__")
            if method is not None:
                return frame.analysis.functions.invoke(method, [other], {}, owner, frame)
    return NOTHING_KNOWN


def note_cast_operand(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """`x * int(t)`: a Python number takes the dtype of x, the int32 tensor that AutoGraph makes of it does not."""
    written = (node.right, node.left) if isinstance(node, ast.BinOp) else (None, None)
    for made, other, beside in ((left, right, written[0]), (right, left, written[1])):
        if type(made.ref) is not FromPython or not made.is_tensor or made.guess:
            continue
        dtype = _dtype_beside(other)
        if dtype is None and beside is not None and _may_be_floats(other):
            dtype = "floats" if is_floating(beside, frame) else None
        if None not in (made.dtype, dtype) and made.dtype != dtype:
            frame.analysis.note(frame, node, CAST_OPERAND, made, (made.ref.name, dtype))


def _dtype_beside(value: Value) -> str | None:
    """The dtype of a plain tensor of numbers, and of a Python float: an int32 tensor refuses 2.0 as it does 0.5 (measured, 2.15 and 2.21)."""
    known = value.constant()
    if known is not None and type(known.value) is float:
        return "float32"
    if not value.is_tensor or type(value.ref) is FromPython or value.dtype == "bool":
        return None
    return None if value.structured or value.optional else value.dtype


def _may_be_floats(value: Value) -> bool:
    is_plain = not (value.structured or value.optional or value.guess)
    return value.is_tensor and value.dtype is None and is_plain


def note_full_size_partner(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """Kept elements combined with the full tensor: eager refuses the shapes, XLA returns numbers (facts: surprises)."""
    for sized, full in ((left, right), (right, left)):
        if sized.producer is None or full.producer is not None:
            continue
        if must_agree(sized, full):
            frame.analysis.note(frame, node, DATA_SIZED_USE, sized, "full-size-partner")
        elif isinstance(node, ast.BinOp) and meets_static(sized, full):
            frame.analysis.gradients.note_partner(node, [node.left, node.right], sized, frame)
        elif isinstance(node, ast.AugAssign) and meets_static(sized, full):
            frame.analysis.gradients.note_partner(node, [node.target, node.value], sized, frame)


def is_text(value: Value) -> bool:
    """Whether a value is text that is known while reading."""
    known = value.constant()
    return known is not None and isinstance(known.value, str)


def tensor_of(*operands: Value) -> Value:
    """A tensor computed elementwise from operands of which at least one is a tensor."""
    tensors = [operand for operand in operands if operand.is_tensor]
    dependence = max(operand.dependence for operand in tensors)
    producer = producer_of(*(operand.producer for operand in tensors))
    dtype = next((o.dtype for o in tensors if o.dtype is not None), None)
    shape = broadcast(operands)
    if shape is not None:
        rank: int | None = len(shape)
    else:
        # At least that of each; with a scalar, and one that is not known, nothing is.
        ranks = [operand.rank for operand in tensors if operand.rank is not None]
        least = max(ranks, default=0)
        rank = least if least or len(ranks) == len(tensors) else None
    sure = all(operand.sure for operand in tensors)
    guess = all(operand.guess for operand in tensors)
    if dtype == "bool":
        dtype = None  # arithmetic on a mask casts it first, or fails: not a mask any more
    given = next((o.given for o in tensors if o.given), ())
    axis = next((_broadcast_axis(o, rank) for o in tensors if o.producer is not None), 0)
    arriving = [operand for operand in tensors if operand.dependence >= CAPTURED]
    is_handed = bool(arriving) and all(map(may_be_handed, arriving))
    return Value(
        TENSOR,
        dependence,
        producer,
        dtype,
        rank,
        Handed() if is_handed else _buffer_of(tensors),
        sure,
        guess=guess,
        shape=shape,
        sized_axis=axis,
        counted=None if producer is None else counts.of_operands(tensors),
        given=given,
    )


def _buffer_of(tensors: Sequence[Value]) -> Kept | None:
    """How much room XLA has for what a conditional left, after an operation on each element of it."""
    sized = [each for each in tensors if each.producer is not None]
    if len(sized) != 1 or sized[0].producer != ARMS_OF_TWO_SIZES:
        return None
    return sized[0].ref if type(sized[0].ref) is Kept else None


def _broadcast_axis(operand: Value, rank: int | None) -> int | None:
    """Where the data-sized axis of an operand is in an elementwise result: axes are counted from the end."""
    if operand.shape is None or rank is None or operand.sized_axis is None:
        return operand.sized_axis
    return operand.sized_axis + max(rank - len(operand.shape), 0)
