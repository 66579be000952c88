"""Tensors that eager code made before anything is traced: constants of constructors, classes and modules, and of functions that make a tf.function.

A tf.function captures them by reference, so that Python can read their values while it traces: `float(t)`, `t.numpy()`,
`np.exp(t)`, `bool(t)` and `range(t)` work. What is computed with one while tracing is symbolic as ever, and an eager tensor
refuses to be iterated over in a graph (`EagerTensor` in tensorflow/python/framework/ops.py, 2.12 to 2.21).
To the program it is an argument: where XLA needs a constant, a whole number captured so is none (fixtures/XLA203).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics.facts import (
    ARRAY_ITEM,
    ASSUMED,
    COMPILED,
    COMPREHENSION_FILTER,
    CONVERSION,
    FORMATTING,
    NUMPY_CALL,
    NUMPY_METHOD,
    READ_AS_PYTHON,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import (
    CAPTURED,
    COLLECTION,
    CONSTANT,
    EXTERNAL,
    FROM_SHAPE,
    SEQUENCE,
    TENSOR,
    Content,
    Eager,
    Lengths,
    Value,
)

_MADE = Eager()
# Kinds of facts about a tensor that Python asks for its value.
_READ = frozenset(
    {
        ARRAY_ITEM,
        COMPREHENSION_FILTER,
        CONVERSION,
        FORMATTING,
        NUMPY_CALL,
        NUMPY_METHOD,
        READ_AS_PYTHON,
    }
)
# These compare the tensor, or iterate over it, before they ask: what they ask is symbolic.
_COMPARE_FIRST = frozenset({"max", "min", "sorted", "any", "all", "filter"})


def made(value: Value) -> Value:
    """The value of a constructor's attribute or a module's name, marked where it is a tensor of no data."""
    if value.kind is TENSOR:
        if value.dependence not in (CONSTANT, CAPTURED) or value.guess or value.structured:
            return value
        if value.ref is None or type(value.ref) is Lengths:
            return value._replace(ref=_MADE)
        return value._replace(ref=value.ref._replace(is_eager=True)) if _is_known(value) else value
    if value.kind is SEQUENCE and value.ref:
        return value._replace(ref=tuple(made(item) for item in value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=made(value.ref))
    return value


def captured(value: Value) -> Value:
    """A tensor that eager code made, as the program sees it: an argument whose value never changes."""
    if value.dependence == CONSTANT and is_made(value):
        return value._replace(dependence=CAPTURED)
    return value


def captured_parts(value: Value) -> Value:
    """As `captured`, of the tensors in a list that a constructor writes out as well."""
    if value.kind is SEQUENCE and value.ref:
        return value._replace(ref=tuple(map(captured, value.ref)))
    return captured(value)


def of_program(value: Value) -> Value:
    """An attribute of an object that is made while a program is traced: a tensor of the constructor's is part of the program."""
    if value.dependence != CAPTURED:
        return value
    is_marked = type(value.ref) is Content
    ref = value.ref._replace(is_eager=False) if is_marked else None
    return value._replace(dependence=CONSTANT, ref=ref)


def closed_over(name: str, value: Value, frame: Frame) -> Value:
    """What a function that is traced finds under a name of a function around it, which ran eagerly and made it."""
    if frame.context.region != COMPILED:
        return value
    around = frame.outer
    while around is not None and name not in around.names:
        around = around.outer
    if around is None or around.context.region == COMPILED:
        return value
    is_settled = around.context.region != ASSUMED and value.dependence != FROM_SHAPE
    if not is_settled and not _is_made_for_others(frame, around):
        return value  # who calls what it makes itself may be traced itself
    return _of_eager_code(value)


def _is_made_for_others(frame: Frame, around: Frame) -> bool:
    """Whether a function that makes a tf.function only returns it, or keeps it somewhere."""
    made, maker = frame.function, around.function
    while made is not None and made.parent is not maker:
        made = made.parent
    if made is None or maker is None:
        return False
    return not any(
        isinstance(part, ast.Name) and part.id == made.name
        for call in maker.calls
        for part in (call.func, *call.args)
    )


def _of_eager_code(value: Value) -> Value:
    if value.kind is SEQUENCE and value.ref:
        return value._replace(ref=tuple(map(_of_eager_code, value.ref)))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=_of_eager_code(value.ref))
    if value.kind is TENSOR and value.dependence == FROM_SHAPE:
        value = value._replace(dependence=CONSTANT)  # a number, once it has been asked for
    return captured(made(value))


def attributes_of_tensorflow(method: FunctionInfo, frame: Frame) -> Iterator[str]:
    """Attributes that a constructor sets to what TensorFlow itself makes: a project's own functions may give Python numbers."""
    for node in ast.walk(method.node):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                if target.value.id == frame.self_name and _is_tensor(node.value, frame):
                    yield target.attr


def _is_tensor(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is a call of TensorFlow, or reckons with one: `tf.eye(2) * 0.3`, `tf.range(4)[1:]`."""
    if isinstance(node, ast.Call):
        return _is_of_tensorflow(node.func, frame)
    if isinstance(node, ast.BinOp):
        return _is_tensor(node.left, frame) or _is_tensor(node.right, frame)
    if isinstance(node, ast.UnaryOp):
        return _is_tensor(node.operand, frame)
    if isinstance(node, (ast.List, ast.Tuple)):
        return bool(node.elts) and all(_is_tensor(each, frame) for each in node.elts)
    return isinstance(node, ast.Subscript) and _is_tensor(node.value, frame)


def _is_of_tensorflow(called: ast.expr, frame: Frame) -> bool:
    """Whether a call is of TensorFlow as the module imports it: `ps.range` of a module of the project chooses what it makes."""
    maker = frame.analysis.evaluate(called, frame)
    while isinstance(called, ast.Attribute):
        called = called.value
    root = frame.analysis.evaluate(called, frame)
    is_outside = maker.kind is EXTERNAL and root.kind is EXTERNAL
    return is_outside and str(maker.ref).startswith("tf.")


def _is_known(value: Value) -> bool:
    return type(value.ref) is Content


def is_read_in_python(value: Value, frame: Frame) -> bool:
    """Whether Python itself answers for the truth or the number of a tensor: AutoGraph makes operations of its own."""
    return not frame.context.converted and is_made(value)


def is_made(value: Value) -> bool:
    """Whether the value is a tensor that eager code made."""
    ref = value.ref
    return value.kind is TENSOR and (type(ref) is Eager or (type(ref) is Content and ref.is_eager))


def can_be_read(kind: str, value: Value, detail: object) -> bool:
    """Whether a fact of this kind is no hazard: the tensor that it is about has its value while tracing."""
    return kind in _READ and is_made(value) and detail not in _COMPARE_FIRST
