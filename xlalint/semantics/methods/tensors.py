"""Calls of methods of tensors, variables, static shapes and arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics import evidence
from xlalint.semantics.elements import element
from xlalint.semantics.facts import ASSUMED, COMPILED, NUMPY_METHOD
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    longer_variables,
    python_arguments,
    resources,
    slice_writes,
    unknown_sizes,
)
from xlalint.semantics.results import arrays, composites, drawn_samples, result_shapes
from xlalint.semantics.tracing import host_use
from xlalint.semantics.values import (
    COLLECTION,
    COMPUTED,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    RAGGED,
    SEQUENCE,
    SOME_PYTHON,
    STATIC_SHAPE,
    TENSOR,
    VARIABLE,
    Value,
    shaped,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def of_tensor(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if attr in ("numpy", "item", "tolist"):
        # No list or dictionary has `numpy`: what reads it is a tensor, or is made one by tf.function.
        is_one = attr == "numpy" and frame.context.region == COMPILED
        if is_one or not (base.guess or base.structured):
            asked = base._replace(guess=False, structured=False) if is_one else base
            frame.analysis.note(frame, node, NUMPY_METHOD, asked, attr)
        if frame.context.region == ASSUMED:
            frame.host |= host_use.of_reading(node, frame)
        return Value(NDARRAY)
    if attr in ("get_shape", "shape"):
        return unknown_sizes.shape_of(base, frame)
    if base.kind is VARIABLE:
        resources.note_method(base, attr, node, frame)
    if attr == "assign":
        slice_writes.note(node, frame)
        longer_variables.note(base, node, frame)
    if attr.startswith("assign") or attr in ("scatter_update", "scatter_nd_update", "scatter_add"):
        # What a slice is assigned to is the whole variable afterwards.
        return base if base.kind is VARIABLE else base._replace(shape=None, rank=None)
    if attr in ("value", "read_value", "cpu", "gpu"):
        return base._replace(kind=TENSOR, ref=None)
    if attr in ("items", "keys", "values") and base.structured:
        inner = element(base)
        pair = Value(SEQUENCE, ref=(SOME_PYTHON, inner))
        return Value(COLLECTION, ref={"items": pair, "keys": SOME_PYTHON, "values": inner}[attr])
    if attr in ("get", "pop") and base.structured:
        return base._replace(optional=True)
    tells_of_rows = attr in composites.TELL_OF_ROWS or (
        attr == "to_tensor" and _is_asked_always(node, frame)
    )
    if tells_of_rows and (base.structured or _is_given_rows(node, base, frame)):
        guess = base.guess and base.structured
        rows = Value(RAGGED, base.dependence, sure=base.sure, guess=guess)
        return composites.method(rows, attr, arguments, node, frame)
    if attr in drawn_samples.METHODS and base.structured:
        return base._replace(dependence=COMPUTED, sure=False)  # a distribution after all
    if attr == "set_shape":
        if arguments.positional:
            python_arguments.note_shape(arguments.positional[0], node, frame)
        _promise_shape(base, arguments, node, frame)
        return NONE
    return NOTHING_KNOWN


def _is_given_rows(node: ast.AST, base: Value, frame: Frame) -> bool:
    """Whether what only seemed a tensor is ragged: no other tensor has this method, and no class of the project names one so.

    Said of names in functions that are seen to be compiled. Others, and those that take a whole row of features, may be
    the part of a pipeline that gets its rows ready.
    """
    if (base.sure and not base.guess) or frame.context.region != COMPILED:
        return False
    asked = node.func if isinstance(node, ast.Call) else None
    if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return False
    return not frame.analysis.modules.project.mentions(f"def {asked.attr}(")


_CHOICES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Match, ast.Lambda)


_ENDS = (ast.Return, ast.Raise)


def _is_asked_always(node: ast.AST, frame: Frame) -> bool:
    """Whether a function calls this method whatever it is given: `rows.to_tensor()` of ragged ones often stands behind a question."""
    if frame.function is None or evidence.asks_for_types(frame.function):
        return False
    body = frame.function.node.body
    for statement in body if isinstance(body, list) else ():
        inside = list(ast.walk(statement))
        if node in inside:
            choices = [each for each in inside if isinstance(each, _CHOICES)]
            return not any(node in ast.walk(each) for each in choices)
        if any(isinstance(each, _ENDS) for each in inside):
            return False
    return False


def _promise_shape(base: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`x.set_shape([None, 3])`: from here on that is the static shape of x."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value
    shape = result_shapes.numbers(arguments.positional[0]) if arguments.positional else None
    if isinstance(owner, ast.Name) and owner.id in frame.names and shape is not None:
        frame.names[owner.id] = shaped(base, shape)


def of_shape(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if attr == "as_list":
        sizes = unknown_sizes.sizes_of(base, None)
        if sizes is None:
            # Taken apart later: what is known of one size of an unknown number is kept.
            return Value(COLLECTION, ref=SOME_PYTHON) if base.producer is None else base
        return Value(SEQUENCE, ref=sizes)
    if attr == "num_elements" and base.producer is not None:
        return unknown_sizes.size_at(base, base.sized_axis)
    if attr in ("merge_with", "with_rank"):
        return base
    return STATIC_SHAPE if attr == "concatenate" else SOME_PYTHON


def of_array(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return arrays.method(base, attr, arguments)
