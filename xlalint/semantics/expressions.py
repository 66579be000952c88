"""What expressions mean: one function per kind of node, each returning a Value and noting facts on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from xlalint.semantics import attributes, calls, comprehensions, eager, known_texts, symbolic
from xlalint.semantics.callbacks import protocols
from xlalint.semantics.control_flow import conditionals, left_out, unequal_arms, unmade_names
from xlalint.semantics.control_flow.narrowing import narrow
from xlalint.semantics.elements import element
from xlalint.semantics.facts import (
    CONDITION,
    FORMATTING,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import sliced_arms
from xlalint.semantics.hazards import iteration
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join, join_all
from xlalint.semantics.results import sorted_places
from xlalint.semantics.results.arithmetic import combine, tensor_of
from xlalint.semantics.results.comparisons import compare
from xlalint.semantics.subscripts import index_value, subscript
from xlalint.semantics.training import tpu_tests
from xlalint.semantics.truths import is_usual, truth
from xlalint.semantics.values import (
    CALLED,
    COLLECTION,
    CONSTANT,
    DEFERRED,
    IMAGINARY,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    Usual,
    Value,
    constant,
    usually,
)


def evaluate(node: ast.expr, frame: Frame) -> Value:
    """The value of an expression in a frame."""
    handler = frame.analysis.handlers.get(node.__class__)
    return handler(node, frame) if handler is not None else NOTHING_KNOWN


def evaluate_condition(node: ast.expr, frame: Frame, construct: str) -> Value:
    """Evaluate a test (of an `if`, a `while`, a ternary, an `assert`) and note it when it is a tensor."""
    frame.cover(node)
    value = evaluate(node, frame)
    if eager.is_read_in_python(value, frame):
        return SOME_PYTHON
    if value.is_tensor and not _may_be_a_structure(node, value):
        _note_test(node, value, construct, frame)
    elif value.kind is INSTANCE:
        protocols.truth(value, frame)
    return value


def _note_test(node: ast.expr, value: Value, construct: str, frame: Frame) -> None:
    if not symbolic.note_test(node, value, construct, frame):
        frame.analysis.note(frame, node, CONDITION, value, construct)


def _may_be_a_structure(node: ast.expr, value: Value) -> bool:
    """`if inputs:` on the inputs of a layer may ask whether a list is empty."""
    return value.structured or value.optional


def _constant(node: ast.Constant, frame: Frame) -> Value:
    return constant(node.value)


_MAY_BE_EAGER = frozenset({TENSOR, SEQUENCE, COLLECTION})


def _name(node: ast.Name, frame: Frame) -> Value:
    value = frame.names.get(node.id)
    if value is None and frame.outer is not None:
        value = frame.outer.look_up(node.id)
        if value is not None and value.kind in _MAY_BE_EAGER:
            value = eager.closed_over(node.id, value, frame)
    if value is None:
        if frame.unmade is not None:
            unmade_names.note_read(node, frame)
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
        if owner.guess and node.attr == "get_shape":
            owner = frame.is_tensor_after_all(node.value.id, owner)
        if frame.analysis.makes_symbolic:
            symbolic.note_asked(owner, node, frame)
        return attributes.read(owner, node.attr, frame, node)
    value = evaluate(node.value, frame)
    if frame.analysis.makes_symbolic:
        symbolic.note_asked(value, node, frame)
    if node.attr in _ASKED_OF_TENSORS and isinstance(node.value, ast.Attribute):
        _is_no_array(node.value, frame)
    return attributes.read(value, node.attr, frame, node)


_OF_ONE_TENSOR = frozenset({"shape", "dtype"})
# What TensorFlow's shapes and types are asked for, and NumPy's do not know.
_ASKED_OF_TENSORS = frozenset(
    "as_list rank ndims dims is_fully_defined is_compatible_with assert_has_rank with_rank num_elements base_dtype "
    "real_dtype is_floating is_integer is_complex is_bool as_numpy_dtype".split()
)


def _is_no_array(node: ast.Attribute, frame: Frame) -> None:
    """`x.shape.rank`, `x.dtype.is_complex`: what was taken for a tensor, or an array, is a tensor from here on."""
    if node.attr in _OF_ONE_TENSOR and isinstance(node.value, ast.Name):
        owner = frame.names.get(node.value.id)
        if owner is not None and owner.guess:
            frame.is_tensor_after_all(node.value.id, owner)


def _binary(node: ast.BinOp, frame: Frame) -> Value:
    # Long sums lean to the left: walking down that side in a loop keeps `a + b + ... + z` off Python's stack.
    spine: list[ast.BinOp] = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = evaluate(spine[-1].left, frame)
    for part in reversed(spine):
        right = evaluate(part.right, frame)
        value = combine(part, _as_operand(value), _as_operand(right), frame)
    return value


def _as_operand(value: Value) -> Value:
    """None has no operators: what may be None elsewhere is not where it is reckoned with."""
    return value._replace(optional=False) if value.optional else value


def _unary(node: ast.UnaryOp, frame: Frame) -> Value:
    value = evaluate(node.operand, frame)
    if isinstance(node.op, ast.Invert) and value.is_tensor:
        ref = sorted_places.inverted(value)
        return value._replace(kind=TENSOR, ref=ref, dtype=value.dtype or "bool")
    if isinstance(node.op, ast.Not):
        if eager.is_read_in_python(value, frame):
            return SOME_PYTHON
        if value.kind is INSTANCE:
            protocols.truth(value, frame)
        if value.is_tensor and not value.structured and not value.optional:
            if node not in frame.covered:
                _note_test(node, value, "not", frame)
                return value._replace(kind=TENSOR, dtype="bool", ref=None)
            return value._replace(kind=TENSOR, dtype=_asked_dtype([value]), ref=None)
        known = truth(value)
        if known is None:
            usual = value.usual()
            return SOME_PYTHON if usual is None else usually(not usual.value)
        return constant(not known)
    if value.is_tensor:
        return value._replace(kind=TENSOR, ref=None)
    known_value = value.constant()
    if value == IMAGINARY:
        return value
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
    unmade = frame.unmade
    for position, operand in enumerate(node.values):
        value = evaluate(operand, frame)
        frame.unmade = None  # what follows may not be run
        is_last = position == len(node.values) - 1
        if eager.is_read_in_python(value, frame) and (not is_last or node in frame.covered):
            value = SOME_PYTHON
        known = truth(value)
        if known is not None and known is not is_and:
            values.append(value)  # decides the whole expression: what follows is not run
            break
        if known is None or is_last:
            is_given = value.kind in CALLED and not (is_and or is_last)
            values.append(value._replace(optional=False) if is_given else value)
        if value.is_tensor and not is_last and not _may_be_a_structure(operand, value):
            tested = value
        narrow(operand, is_and, frame)
    frame.unmade = unmade
    frame.names.take_back()
    tensors = [value for value in values if value.is_tensor]
    # Where a flag settles it for who passes none, what comes after is not asked.
    dtype = "bool" if _is_settled(values, is_and) else _asked_dtype(tensors)
    if tested is not None and node not in frame.covered:
        asked = tested if dtype == "bool" else tested._replace(dtype=dtype)
        _note_test(node, asked, "and" if is_and else "or", frame)
        return tensor_of(*tensors)._replace(dtype="bool")
    if tensors and node in frame.covered:
        # `if attributes and ...` may ask whether a dictionary holds any.
        is_vague = all(value.structured for value in tensors)
        return tensor_of(*tensors)._replace(dtype=dtype, structured=is_vague)
    usual = _usual_outcome(values, is_and)
    if usual is not None:
        return usual
    joined = join_all(tuple(values)) if values else SOME_PYTHON
    return left_out.instead(node, values, joined, frame) if frame.left_out else joined


def _asked_dtype(operands: Sequence[Value]) -> str:
    """The dtype of a test that is made of these tensors with `not`, `and` and `or`: that of one which is no boolean, which none of them takes.

    AutoGraph makes tf.logical_not, and conditionals, of them (TensorFlow 2.15 and 2.21: fixtures/XLA101/flagged_tests_of_numbers.py).
    """
    numbers = (v.dtype for v in operands if v.dtype not in (None, "bool") and not _may_be_none(v))
    return next(numbers, None) or "bool"


def _may_be_none(value: Value) -> bool:
    """`if mask and ...` may ask whether there is one, of what is not known to be a tensor."""
    return value.structured or value.optional or value.guess


def _is_settled(values: list[Value], is_and: bool) -> bool:
    """Whether one operand settles `a and b` where nobody passes other than defaults."""
    usual = (value.usual() for value in values if type(value.ref) is Usual)
    return any(one is not None and bool(one.value) is not is_and for one in usual)


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
        part = compare(node, op, left, right, frame)
        result = part if result is None else join(result, part)
        left = right
    return result if result is not None else SOME_PYTHON


def _ternary(node: ast.IfExp, frame: Frame) -> Value:
    test = evaluate_condition(node.test, frame, "ternary")
    known = truth(test)
    known = tpu_tests.answer(node.test, test, frame) if known is None else known
    if known is not None:
        return evaluate(node.body if known else node.orelse, frame)
    unmade, is_graph = frame.unmade, conditionals.becomes_one(test, frame)
    if not is_graph:
        frame.unmade = None  # Python takes one of the two
    first = _ternary_arm(node, test, True, frame)
    second = _ternary_arm(node, test, False, frame)
    frame.unmade = unmade
    result = join(first, second)
    if frame.left_out:
        result = left_out.chosen(node.test, first, second, result, frame)
    if is_graph:
        arms = (node.body, node.orelse)
        conditionals.note_results(node.test, test, (first, second), arms, frame)
        written = [(arm, unequal_arms.Sizes()) for arm in arms]
        sliced_arms.note_results(
            node, test, node.test, written, (first, second), [[arm] for arm in arms], frame
        )
        result = unequal_arms.of_expressions(result, (first, second), arms, node.test, frame)
    if test.is_tensor and not test.guess and result.kind is PYTHON and frame.context.converted:
        return tensor_of(test)._replace(dtype=None)
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
    dependence = max([item.dependence for item in items], default=CONSTANT)
    return Value(SEQUENCE, dependence, dtype=_WRITTEN_AS.get(node.__class__), ref=tuple(items[:64]))


def _mapping(node: ast.Dict, frame: Frame) -> Value:
    pairs: list[tuple[Any, Value]] = []
    unnamed: list[Value] = []
    for key, value_node in zip(node.keys, node.values):
        value = evaluate(value_node, frame)
        if key is None:
            if value.kind is MAPPING and value.ref:
                pairs.extend(value.ref)
            continue
        known = evaluate(key, frame).constant()
        if known is None:
            unnamed.append(value)
        else:
            pairs.append((known.value, value))
    if unnamed:
        pairs.append((None, join_all(tuple(unnamed))))
    return Value(MAPPING, ref=tuple(pairs[:64]))


def _comprehension(node: comprehensions.Comprehension, frame: Frame) -> Value:
    return comprehensions.value_of(node, frame, evaluate)


def _lambda(node: ast.Lambda, frame: Frame) -> Value:
    info = frame.module.by_node.get(node)
    if not isinstance(info, FunctionInfo):
        prefix = f"{frame.function.qualname}.<locals>." if frame.function is not None else ""
        info = FunctionInfo(frame.module, node, prefix + "<lambda>", None, frame.function)
        frame.module.by_node[node] = info
    return frame.analysis.modules.closures.define(info, frame)


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
    ast.BinOp: _binary,
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
