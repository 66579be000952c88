"""What expressions mean: one function per kind of node, each returning a Value and noting facts on the way."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from xlalint.semantics import (
    attributes,
    calls,
    composites,
    conditionals,
    counts,
    dtypes,
    formatting,
    iteration,
    known_texts,
    misfits,
    reductions,
    shapes,
    symbolic,
    tpu_tests,
    unknown_sizes,
    versions,
)
from xlalint.semantics.facts import (
    CAST_OPERAND,
    COMPREHENSION_FILTER,
    CONDITION,
    DATA_SIZED_USE,
    FORMATTING,
    MEMBERSHIP,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.narrowing import narrow
from xlalint.semantics.result_shapes import broadcast, must_agree, numbers
from xlalint.semantics.result_sizes import producer_of
from xlalint.semantics.subscripts import index_value, subscript
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    BOUNDED,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    DEFERRED,
    EXTERNAL,
    FALSE,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    TRUE,
    UNKNOWN,
    FromPython,
    SomeNumber,
    Usual,
    Value,
    constant,
    element,
    join,
    join_all,
    shaped,
    static_shape,
    usually,
)

_FOLDED_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(node: ast.expr, frame: Frame) -> Value:
    """The value of an expression in a frame."""
    handler = frame.analysis.handlers.get(node.__class__)
    return handler(node, frame) if handler is not None else NOTHING_KNOWN


def truth(value: Value) -> bool | None:
    """Whether a value counts as true, where that is known while reading."""
    known = value.constant()
    if known is not None:
        return bool(known.value)
    if value.kind in (FUNCTION, EXTERNAL, ANY_OF) and not value.optional:
        return True
    return None


def is_usual(test: Value) -> bool | None:
    """Whether a condition holds where nobody passes other than defaults; None where that says nothing."""
    return bool(test.ref.value) if type(test.ref) is Usual else None


def evaluate_condition(node: ast.expr, frame: Frame, construct: str) -> Value:
    """Evaluate a test (of an `if`, a `while`, a ternary, an `assert`) and note it when it is a tensor."""
    _cover(node, frame)
    value = evaluate(node, frame)
    if value.is_tensor and not _may_be_a_structure(node, value):
        _note_test(node, value, construct, frame)
    return value


def _note_test(node: ast.expr, value: Value, construct: str, frame: Frame) -> None:
    if not symbolic.note_test(node, value, construct, frame):
        frame.analysis.note(frame, node, CONDITION, value, construct)


def _may_be_a_structure(node: ast.expr, value: Value) -> bool:
    """`if inputs:` on the inputs of a layer may ask whether a list is empty."""
    return value.structured or value.optional


def _cover(node: ast.expr, frame: Frame) -> None:
    """`if a and not b` is one finding, on the `if`: its parts are covered."""
    if not isinstance(node, (ast.BoolOp, ast.UnaryOp)):
        return
    pending: list[ast.expr] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.BoolOp):
            frame.covered.add(part)
            pending.extend(part.values)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            frame.covered.add(part)
            pending.append(part.operand)


def _constant(node: ast.Constant, frame: Frame) -> Value:
    return constant(node.value)


def _name(node: ast.Name, frame: Frame) -> Value:
    value = frame.names.get(node.id)
    if value is None and frame.outer is not None:
        value = frame.outer.look_up(node.id)
    if value is None:
        return frame.analysis.modules.global_name(frame.module, node.id)
    return frame.analysis.modules.resolved(value) if value.kind is DEFERRED else value


def _attribute(node: ast.Attribute, frame: Frame) -> Value:
    if isinstance(node.value, ast.Name):
        known = frame.look_up_attribute(node.value.id, node.attr)
        if known is not None:
            return known
        owner = evaluate(node.value, frame)
        if owner.structured and owner.kind is TENSOR and node.attr in _OF_ONE_TENSOR:
            # No list or dictionary has it: from here on that is known of the name.
            owner = frame.is_one_tensor(node.value.id, owner)
        return attributes.read(owner, node.attr, frame, node)
    return attributes.read(evaluate(node.value, frame), node.attr, frame, node)


_OF_ONE_TENSOR = frozenset({"shape", "dtype"})


def _binary(node: ast.BinOp, frame: Frame) -> Value:
    # Long sums lean to the left: walking down that side in a loop keeps `a + b + ... + z` off Python's stack.
    spine: list[ast.BinOp] = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = evaluate(spine[-1].left, frame)
    for part in reversed(spine):
        value = combine(part, value, evaluate(part.right, frame), frame)
    return value


def combine(node: ast.AST, left: Value, right: Value, frame: Frame) -> Value:
    """The value of `left <operator> right`."""
    if left.producer is not None or right.producer is not None:
        unknown_sizes.note_number(node, (left, right), frame)
    if left.is_composite or right.is_composite:
        return composites.combine(node, left, right, frame)
    if left.is_tensor or right.is_tensor:
        if (
            left.kind is PYTHON
            and _is_text(left)
            and isinstance(getattr(node, "op", None), ast.Mod)
        ):
            if not right.guess and formatting.percent_wants_number(str(left.ref.value), 0):
                frame.analysis.note(frame, node, FORMATTING, right)
            return SOME_PYTHON
        note_full_size_partner(node, left, right, frame)
        _note_cast_operand(node, left, right, frame)
        if not isinstance(getattr(node, "op", None), ast.MatMult):
            counts.note_pair(node, left, right, frame)
        if _may_be_lists(node, left, right):
            return _tensor_of(left, right)._replace(structured=True, shape=None, rank=None)
        value = _after_operator(node, _tensor_of(left, right))
        if left.dtype != right.dtype and misfits.are_mixed(left, right):
            value = value._replace(dtype=None)
            if not isinstance(getattr(node, "op", None), ast.MatMult):
                misfits.note_pair(node, left, right, frame)
        if isinstance(getattr(node, "op", None), ast.MatMult):
            misfits.note_product(node, left, right, frame)
            if value.producer is not None:
                value = _sized_as_product(value, left, right)
            return shaped(value, shapes.multiplied(left.shape, right.shape, False, False))
        if left.made is not None or right.made is not None:
            return reductions.combined(node, left, right, value, frame)
        return value
    if INSTANCE in (left.kind, right.kind):
        return _overloaded(node, left, right, frame)
    if left.kind is PYTHON and right.kind is PYTHON:
        return _folded(node, left, right)
    if UNKNOWN in (left.kind, right.kind) and (_is_text(left) or _is_text(right)):
        return _folded(node, left, right)
    if right.kind is SEQUENCE and _is_text(left):
        for position, item in enumerate(right.ref):
            if item.is_tensor and not (item.guess or item.structured):
                if formatting.percent_wants_number(str(left.ref.value), position):
                    frame.analysis.note(frame, node, FORMATTING, item)
        return SOME_PYTHON
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
        return Value(COLLECTION, ref=element(left))
    return Value(UNKNOWN, max(left.dependence, right.dependence))


def _after_operator(node: ast.AST, value: Value) -> Value:
    """Whole numbers divided are float64; XLA follows no size through a product of matrices. A fraction of a data-sized size is no bound that XLA knows (fixtures/XLA203)."""
    op = getattr(node, "op", None)
    if isinstance(op, ast.MatMult) and value.dependence == ARRIVING:
        return value._replace(dependence=COMPUTED)
    if isinstance(op, ast.Div) and value.dtype in ("int32", "int64"):
        return value._replace(dtype="float64")
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and value.dependence == BOUNDED:
        return value._replace(dependence=COMPUTED)
    return value


def _sized_as_product(value: Value, left: Value, right: Value) -> Value:
    """A product of data-sized matrices: rows of the first stay, what is summed is gone."""
    if left.producer is not None and left.sized_axis == 0:
        return value._replace(sized_axis=0)
    is_summed = right.producer is not None and right.sized_axis == 0 and (right.rank or 2) == 2
    return value._replace(producer=None if is_summed else value.producer, sized_axis=None)


def _joined_shapes(left: Value, right: Value) -> Value:
    """`x.shape[:-1] + [n]`: a shape again."""
    parts = [numbers(left), numbers(right)]
    if parts[0] is None or parts[1] is None:
        return Value(COLLECTION, ref=join(element(left), element(right)))
    return static_shape(parts[0] + parts[1])


def _may_be_lists(node: ast.AST, left: Value, right: Value) -> bool:
    """`inputs + others` in a layer: lists joined, as far as anybody knows."""
    if not isinstance(getattr(node, "op", None), ast.Add):
        return False
    either = (left, right)
    lists = (SEQUENCE, COLLECTION, UNKNOWN)
    return any(v.structured for v in either) and all(
        v.structured or v.kind in lists for v in either
    )


_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
_LARGEST = 2**63


def _folded(node: ast.AST, left: Value, right: Value) -> Value:
    """Whole numbers that are known stay known: they are sizes and axes; and words are, which name operations."""
    one, other = left.constant(), right.constant()
    fold = _FOLDED.get(type(getattr(node, "op", None)))  # type: ignore[arg-type]
    if fold is operator.add and (known_texts.is_text(left) or known_texts.is_text(right)):
        return known_texts.joined((left, right))
    if isinstance(getattr(node, "op", None), ast.Mod) and known_texts.is_text(left):
        return known_texts.filled(left, right)
    if one is None or other is None or fold is None:
        return SOME_PYTHON
    if type(one.value) is not int or type(other.value) is not int:
        return _folded_float(fold, one.value, other.value)
    if other.value == 0 and fold in _DIVISIONS:
        return SOME_PYTHON
    result = fold(one.value, other.value)
    return constant(result) if abs(result) < _LARGEST else SOME_PYTHON


def _folded_float(fold: Callable[[Any, Any], Any], one: object, other: object) -> Value:
    """`0.5 + 1` is a float: what a loop that becomes a graph carries has a dtype."""
    both = {type(one), type(other)}
    if float not in both or not both <= {int, float} or fold in _DIVISIONS:
        return SOME_PYTHON
    return constant(fold(one, other))


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


def _note_cast_operand(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """`x * int(t)`: a Python number takes the dtype of x, the int32 tensor that AutoGraph makes of it does not."""
    for made, other in ((left, right), (right, left)):
        if type(made.ref) is not FromPython or not made.is_tensor:
            continue
        dtype = _dtype_beside(other)
        if None not in (made.dtype, dtype) and made.dtype != dtype:
            frame.analysis.note(frame, node, CAST_OPERAND, made, (made.ref.name, dtype))


def _dtype_beside(value: Value) -> str | None:
    """The dtype of a plain tensor of numbers; `float` of a fraction, which is no whole number's either."""
    known = value.constant()
    if known is not None and type(known.value) is float:
        return None if known.value == int(known.value) else "float32"
    if not value.is_tensor or type(value.ref) is FromPython or value.dtype == "bool":
        return None
    return None if value.structured or value.optional else value.dtype


def note_full_size_partner(node: ast.AST, left: Value, right: Value, frame: Frame) -> None:
    """Kept elements combined with the full tensor: eager refuses the shapes, XLA returns numbers (facts: surprises)."""
    for sized, full in ((left, right), (right, left)):
        if sized.producer is not None and full.producer is None and must_agree(sized, full):
            frame.analysis.note(frame, node, DATA_SIZED_USE, sized, "full-size-partner")


def _is_text(value: Value) -> bool:
    known = value.constant()
    return known is not None and isinstance(known.value, str)


def _tensor_of(*operands: Value) -> Value:
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
    return Value(
        TENSOR,
        dependence,
        producer,
        dtype,
        rank,
        None,
        sure,
        guess=guess,
        shape=shape,
        sized_axis=axis,
        counted=None if producer is None else counts.of_operands(tensors),
        given=given,
    )


def _broadcast_axis(operand: Value, rank: int | None) -> int | None:
    """Where the data-sized axis of an operand is in an elementwise result: axes are counted from the end."""
    if operand.shape is None or rank is None or operand.sized_axis is None:
        return operand.sized_axis
    return operand.sized_axis + max(rank - len(operand.shape), 0)


_BIT_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor)


def _binary_or_mask(node: ast.BinOp, frame: Frame) -> Value:
    value = _binary(node, frame)
    if value.kind is TENSOR and isinstance(node.op, _BIT_OPERATORS):
        left = (
            evaluate(node.left, frame) if isinstance(node.left, (ast.Name, ast.Compare)) else None
        )
        right = (
            evaluate(node.right, frame) if isinstance(node.right, (ast.Name, ast.Compare)) else None
        )
        if (left is not None and left.dtype == "bool") or (
            right is not None and right.dtype == "bool"
        ):
            return value._replace(dtype="bool")
    return value


def _unary(node: ast.UnaryOp, frame: Frame) -> Value:
    value = evaluate(node.operand, frame)
    if isinstance(node.op, ast.Invert) and value.is_tensor:
        return value._replace(kind=TENSOR, ref=None, dtype=value.dtype or "bool")
    if isinstance(node.op, ast.Not):
        if value.is_tensor and not value.structured and not value.optional:
            if node not in frame.covered:
                _note_test(node, value, "not", frame)
            return value._replace(kind=TENSOR, dtype="bool", ref=None)
        known = truth(value)
        if known is None:
            usual = value.usual()
            return SOME_PYTHON if usual is None else usually(not usual.value)
        return constant(not known)
    if value.is_tensor:
        return value._replace(kind=TENSOR, ref=None)
    known_value = value.constant()
    if known_value is not None and isinstance(node.op, ast.USub):
        if type(known_value.value) in (int, float):
            return constant(-known_value.value)
        return SOME_PYTHON
    return value if value.kind is NDARRAY else (SOME_PYTHON if value.kind is PYTHON else value)


def _boolean(node: ast.BoolOp, frame: Frame) -> Value:
    is_and = isinstance(node.op, ast.And)
    frame.names.fork()
    values: list[Value] = []
    tested: Value | None = None
    for position, operand in enumerate(node.values):
        value = evaluate(operand, frame)
        known = truth(value)
        if known is not None and known is not is_and:
            values.append(value)  # decides the whole expression: what follows is not run
            break
        if known is None or position == len(node.values) - 1:
            values.append(value)
        is_last = position == len(node.values) - 1
        if value.is_tensor and not is_last and not _may_be_a_structure(operand, value):
            tested = value
        narrow(operand, is_and, frame)
    frame.names.take_back()
    if tested is not None and node not in frame.covered:
        _note_test(node, tested, "and" if is_and else "or", frame)
    tensors = [value for value in values if value.is_tensor]
    if tensors and (tested is not None or node in frame.covered):
        return _tensor_of(*tensors)._replace(dtype="bool")
    usual = _usual_outcome(values, is_and)
    if usual is not None:
        return usual
    return join_all(tuple(values)) if values else SOME_PYTHON


def _usual_outcome(values: list[Value], is_and: bool) -> Value | None:
    """What `a and b` comes to where nobody passes other than defaults, where one operand settles it."""
    if any(type(value.ref) is Usual for value in values):
        for value in values:
            usual = value.usual()
            if usual is not None and bool(usual.value) is not is_and:
                return usually(usual.value)
        if all(value.usual() is not None for value in values):
            return usually(is_and)
    return None


def _compare(node: ast.Compare, frame: Frame) -> Value:
    left = evaluate(node.left, frame)
    result: Value | None = None
    for op, right_node in zip(node.ops, node.comparators):
        right = evaluate(right_node, frame)
        part = _compare_pair(node, op, left, right, frame)
        result = part if result is None else join(result, part)
        left = right
    return result if result is not None else SOME_PYTHON


_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _compare_pair(
    node: ast.Compare, op: ast.cmpop, left: Value, right: Value, frame: Frame
) -> Value:
    named = left.kind is EXTERNAL and right.kind is EXTERNAL
    if isinstance(op, (ast.Is, ast.IsNot)) or (named and isinstance(op, (ast.Eq, ast.NotEq))):
        return _identity(left, right, isinstance(op, (ast.Is, ast.Eq)))
    if isinstance(op, (ast.In, ast.NotIn)):
        searched = left if left.is_tensor else right
        if (
            searched.is_tensor
            and not searched.guess
            and not searched.structured
            and right.kind != UNKNOWN
            and not _is_key(left)
        ):
            if not (right.kind is MAPPING or searched.optional):
                frame.analysis.note(frame, node, MEMBERSHIP, searched)
        return _usual_member(left, right, isinstance(op, ast.In))
    if isinstance(op, _ORDER):
        unknown_sizes.note_number(node, (left, right), frame)
    if left.is_composite or right.is_composite:
        return composites.combine(node, left, right, frame)._replace(dtype="bool")
    if left.is_tensor or right.is_tensor:
        if SHAPE in (left.kind, right.kind) or _is_none(left) or _is_none(right):
            return SOME_PYTHON
        if _is_text(left) or _is_text(right):
            # A "tensor" compared with text is a setting that may also be one (`padding="same"`).
            return NOTHING_KNOWN
        counts.note_pair(node, left, right, frame)
        _note_cast_operand(node, left, right, frame)
        return _tensor_of(left, right)._replace(dtype="bool")
    if versions.is_version(left) or versions.is_version(right):
        return versions.compared(op, left, right) or SOME_PYTHON
    one, other = left.constant(), right.constant()
    folded = _FOLDED_COMPARISONS.get(type(op))
    if one is not None and other is not None and folded is not None:
        try:
            return constant(bool(folded(one.value, other.value)))
        except TypeError:
            return SOME_PYTHON
    if type(left.ref) is Usual or type(right.ref) is Usual:
        one, other = left.usual(), right.usual()
        if one is not None and other is not None and folded is not None:
            try:
                return usually(bool(folded(one.value, other.value)))
            except TypeError:
                return SOME_PYTHON
    if left.kind is NDARRAY or right.kind is NDARRAY:
        return Value(NDARRAY, dtype="bool")
    if left.kind is UNKNOWN or right.kind is UNKNOWN:
        return Value(UNKNOWN, max(left.dependence, right.dependence), dtype="bool")
    return SOME_PYTHON


def _usual_member(left: Value, right: Value, positive: bool) -> Value:
    """`mode in ("max", "mean")` for a mode that has a default."""
    wanted = left.usual()
    if type(left.ref) is not Usual or wanted is None or right.kind is not SEQUENCE:
        return SOME_PYTHON
    items = [item.constant() for item in right.ref]
    if any(item is None for item in items):
        return SOME_PYTHON
    return usually((wanted in items) is positive)


def _is_none(value: Value) -> bool:
    known = value.constant()
    return known is not None and known.value is None


def _is_key(value: Value) -> bool:
    """Text, or a setting that may be text: looked up in a dictionary of tensors rather than in a tensor."""
    known = value.constant()
    return value.kind is PYTHON and (known is None or isinstance(known.value, str))


def _identity(left: Value, right: Value, positive: bool) -> Value:
    types = (dtypes.named(left), dtypes.named(right))
    if types[0] is not None and types[1] is not None:
        return TRUE if (types[0] == types[1]) is positive else FALSE
    names = {str(v.ref) for v in (left, right) if v.kind is EXTERNAL}
    if "tf.Tensor" in names and any(name.startswith("builtins.") for name in names):
        return FALSE if positive else TRUE  # type(tensor) is tuple
    for one, other in ((left, right), (right, left)):
        if _is_none(other):
            if _is_none(one):
                return TRUE if positive else FALSE
            if one.kind in (UNKNOWN, PYTHON) and not _is_known(one):
                return SOME_PYTHON
            if not one.optional:
                return FALSE if positive else TRUE
    return SOME_PYTHON


def _is_known(value: Value) -> bool:
    """Is it known to be None or not?"""
    return value.constant() is not None or type(value.ref) is SomeNumber


def _ternary(node: ast.IfExp, frame: Frame) -> Value:
    test = evaluate_condition(node.test, frame, "ternary")
    known = truth(test)
    known = tpu_tests.answer(node.test, test, frame) if known is None else known
    if known is not None:
        return evaluate(node.body if known else node.orelse, frame)
    first = _ternary_arm(node, test, True, frame)
    second = _ternary_arm(node, test, False, frame)
    result = join(first, second)
    if conditionals.becomes_one(test, frame):
        arms = (node.body, node.orelse)
        conditionals.note_results(node.test, test, (first, second), arms, frame)
    if test.is_tensor and not test.guess and result.kind is PYTHON and frame.context.converted:
        return _tensor_of(test)._replace(dtype=None)
    return result


def _ternary_arm(node: ast.IfExp, test: Value, holds: bool, frame: Frame) -> Value:
    is_unusual = is_usual(test) is not None and is_usual(test) is not holds
    frame.names.fork()
    narrow(node.test, holds, frame)
    frame.unusual += is_unusual
    value = evaluate(node.body if holds else node.orelse, frame)
    frame.unusual -= is_unusual
    frame.names.take_back()
    return value


_WRITTEN_AS = {ast.List: "list", ast.Tuple: "tuple"}


def _sequence(node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
    items: list[Value] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            value = evaluate(item.value, frame)
            iteration.note_taken_apart(frame, item.value, value, "`*`")
            if value.kind is not SEQUENCE:
                for rest in node.elts:
                    if rest is not item and not isinstance(rest, ast.Starred):
                        items.append(evaluate(rest, frame))
                return Value(COLLECTION, ref=join_all((*items, element(value))))
            items.extend(value.ref)
        else:
            items.append(evaluate(item, frame))
    dependence = max((item.dependence for item in items), default=CONSTANT)
    return Value(SEQUENCE, dependence, dtype=_WRITTEN_AS.get(node.__class__), ref=tuple(items[:64]))


def _mapping(node: ast.Dict, frame: Frame) -> Value:
    pairs: list[tuple[Any, Value]] = []
    for key, value_node in zip(node.keys, node.values):
        value = evaluate(value_node, frame)
        if key is None:
            if value.kind is MAPPING and value.ref:
                pairs.extend(value.ref)
            continue
        known = evaluate(key, frame).constant()
        pairs.append((known.value if known is not None else None, value))
    return Value(MAPPING, ref=tuple(pairs[:64]))


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame
) -> Value:
    frame.names.fork()
    for generator in node.generators:
        items = evaluate(generator.iter, frame)
        iteration.note(frame, generator.iter, items, "a comprehension")
        frame.analysis.bind(generator.target, element(items), frame)
        for test in generator.ifs:
            _cover(test, frame)
            value = evaluate(test, frame)
            if value.is_tensor and not value.structured and not value.optional:
                frame.analysis.note(frame, test, COMPREHENSION_FILTER, value)
            narrow(test, True, frame)
    if isinstance(node, ast.DictComp):
        evaluate(node.key, frame)
        item = evaluate(node.value, frame)
    else:
        item = evaluate(node.elt, frame)
    frame.names.take_back()
    kind = MAPPING if isinstance(node, ast.DictComp) else COLLECTION
    return Value(kind, item.dependence, ref=item if kind is COLLECTION else ((None, item),))


def _lambda(node: ast.Lambda, frame: Frame) -> Value:
    info = frame.module.by_node.get(node)
    if not isinstance(info, FunctionInfo):
        prefix = f"{frame.function.qualname}.<locals>." if frame.function is not None else ""
        info = FunctionInfo(frame.module, node, prefix + "<lambda>", None, frame.function)
        frame.module.by_node[node] = info
    frame.analysis.modules.close_over(info, frame)
    return Value(FUNCTION, ref=info)


def _joined_string(node: ast.JoinedStr, frame: Frame) -> Value:
    return known_texts.joined([_part(part, node, frame) for part in node.values])


def _part(part: ast.expr, node: ast.JoinedStr, frame: Frame) -> Value:
    """What a part of an f-string stands for, where its text is known."""
    if not isinstance(part, ast.FormattedValue):
        return evaluate(part, frame)
    value = evaluate(part.value, frame)
    if part.format_spec is None:
        return value if part.conversion == -1 else SOME_PYTHON
    if value.is_tensor and not (value.guess or value.structured):
        frame.analysis.note(frame, node, FORMATTING, value)
    return SOME_PYTHON


def _named(node: ast.NamedExpr, frame: Frame) -> Value:
    value = evaluate(node.value, frame)
    frame.names[node.target.id] = value
    return value


def _starred(node: ast.Starred, frame: Frame) -> Value:
    return evaluate(node.value, frame)


def _yield(node: ast.Yield | ast.YieldFrom | ast.Await, frame: Frame) -> Value:
    if node.value is not None:
        evaluate(node.value, frame)
    return NOTHING_KNOWN


def _slice(node: ast.Slice, frame: Frame) -> Value:
    return index_value(node, frame)


HANDLERS: dict[type[ast.AST], Callable[[Any, Frame], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: calls.call,
    ast.BinOp: _binary_or_mask,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _ternary,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _mapping,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Lambda: _lambda,
    ast.Subscript: subscript,
    ast.JoinedStr: _joined_string,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Await: _yield,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Slice: _slice,
}
