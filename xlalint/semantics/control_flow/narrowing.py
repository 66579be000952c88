"""What a condition says of names where it holds: `x is None`, `isinstance(x, tf.Tensor)`, and their combinations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from xlalint.semantics.elements import element
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import composites
from xlalint.semantics.syntax import called_name
from xlalint.semantics.type_kinds import kind_of_type
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    CONSTANT,
    EXTERNAL,
    FROM_SHAPE,
    MAPPING,
    NOTHING_KNOWN,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SOME_PYTHON,
    SPARSE,
    TENSOR,
    UNKNOWN,
    Value,
    constant,
    shaped,
)


def narrow(test: ast.expr, holds: bool, frame: Frame, *, promised: bool = False) -> None:
    """Refine names by a condition that holds: `x is None`, `isinstance(x, tf.Tensor)`, and their combinations.

    `promised`: nothing goes on where it does not hold (`assert`, `if not ...: raise`).
    """
    by_kind = _BY_KIND.get(test.__class__)  # most conditions are names, and say nothing
    if by_kind is not None:
        by_kind(test, holds, frame, promised)


def _not(test: ast.UnaryOp, holds: bool, frame: Frame, promised: bool) -> None:
    if isinstance(test.op, ast.Not):
        narrow(test.operand, not holds, frame, promised=promised)


def _combined(test: ast.BoolOp, holds: bool, frame: Frame, promised: bool) -> None:
    if isinstance(test.op, ast.And) is holds:
        for part in test.values:
            narrow(part, holds, frame, promised=promised)


def _comparison(test: ast.Compare, holds: bool, frame: Frame, promised: bool) -> None:
    if len(test.ops) == 1:
        _narrow_none(test, holds, frame)
        _narrow_rank(test, holds, frame)
        _narrow_class(test, holds, promised, frame)


def _narrow_class(test: ast.Compare, holds: bool, promised: bool, frame: Frame) -> None:
    """`type(x) == tuple` and `x.__class__ is list`, where they hold; where not, it may be of a class that inherits from that."""
    asked_for = test.comparators[0]
    if not isinstance(asked_for, ast.Name) or asked_for.id not in _STRUCTURES:
        return
    is_one = isinstance(test.ops[0], (ast.Eq, ast.Is)) if holds else isinstance(
        test.ops[0], (ast.NotEq, ast.IsNot)
    )  # fmt: skip
    left = test.left
    asked: ast.expr | None = None
    if isinstance(left, ast.Attribute) and left.attr == "__class__":
        asked = left.value
    elif isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "type":
        asked = left.args[0] if len(left.args) == 1 else None
    if is_one and isinstance(asked, ast.Name):
        _narrow_isinstance(asked.id, asked_for, True, promised, frame)


_STRUCTURES = frozenset({"tuple", "list", "dict"})


def _question(test: ast.Call, holds: bool, frame: Frame, promised: bool) -> None:
    """`isinstance(x, list)`, `tf.is_tensor(x)`, `all(isinstance(x, list) for x in xs)`."""
    asked = getattr(test.func, "attr", getattr(test.func, "id", ""))
    if asked == "is_sparse" and holds and _asks_is_sparse(test, frame):
        name = dotted_name(test.args[0])
        known = frame.look_up(name) if name else None
        if known is not None and name is not None:
            frame.names[name] = composites.guarded(known, SPARSE)
    elif asked == "is_tensor" and _asks_is_tensor(test, frame):
        name = dotted_name(test.args[0])
        # In an arm of its own, it may as well be a sparse or ragged one.
        known = frame.look_up(name) if name and holds and promised else None
        if known is not None and known.kind is UNKNOWN and name is not None:
            frame.names[name] = _as_tensor(known, promised)
    elif asked == "is_nested" and holds and len(test.args) == 1:
        name = dotted_name(test.args[0])
        known = frame.look_up(name) if name else None
        if known is not None and known.is_tensor and name is not None:
            frame.names[name] = (
                NOTHING_KNOWN  # a list or a dictionary, whatever else it was taken for
            )
    elif not isinstance(test.func, ast.Name):
        return
    elif asked == "isinstance" and len(test.args) == 2 and isinstance(test.args[0], ast.Name):
        _narrow_isinstance(test.args[0].id, test.args[1], holds, promised, frame)
    elif asked == "all" and holds and len(test.args) == 1:
        _narrow_elements(test.args[0], frame)


def _narrow_elements(each: ast.expr, frame: Frame) -> None:
    """`all(isinstance(x, list) for x in xs)`: what is in `xs` is one of these."""
    if not isinstance(each, (ast.GeneratorExp, ast.ListComp)) or len(each.generators) != 1:
        return
    loop, test = each.generators[0], each.elt
    if not (isinstance(loop.iter, ast.Name) and isinstance(loop.target, ast.Name)):
        return
    if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and len(test.args) == 2):
        return
    of_element = isinstance(test.args[0], ast.Name) and test.args[0].id == loop.target.id
    known = frame.look_up(loop.iter.id)
    if test.func.id != "isinstance" or not of_element or known is None or loop.ifs:
        return
    if known.kind in (SEQUENCE, COLLECTION):
        narrowed = _narrowed(element(known), test.args[1], False, frame)
        if narrowed is not None:
            frame.names[loop.iter.id] = Value(COLLECTION, known.dependence, ref=narrowed)


def _asks_is_sparse(test: ast.Call, frame: Frame) -> bool:
    if not (isinstance(test.func, ast.Attribute) and test.args):
        return False
    target = frame.analysis.evaluate(test.func, frame)
    return target.kind is EXTERNAL and str(target.ref).endswith("backend.is_sparse")


def _asks_is_tensor(test: ast.Call, frame: Frame) -> bool:
    """`tf.is_tensor(x)`, and Keras's name for it."""
    if len(test.args) != 1:
        return False
    target = frame.analysis.evaluate(test.func, frame)
    return target.kind is EXTERNAL and str(target.ref) in _IS_TENSOR


_IS_TENSOR = frozenset({"tf.is_tensor", "keras.ops.is_tensor", "keras.backend.is_tensor"})


def _as_tensor(known: Value, promised: bool) -> Value:
    """What is a tensor. Where others pass numbers, a size that nobody is seen to pass is no more from the batch than a constant."""
    return Value(TENSOR, max(ARRIVING if promised else FROM_SHAPE, known.dependence))


def _narrow_none(test: ast.Compare, holds: bool, frame: Frame) -> None:
    op, right = test.ops[0], test.comparators[0]
    if not isinstance(right, ast.Constant) or right.value is not None:
        return
    if not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return
    is_none = isinstance(op, (ast.Is, ast.Eq)) is holds
    if isinstance(test.left, ast.Call):
        if not is_none:
            _forget_static(test.left, frame)
        return
    name = dotted_name(test.left)
    known = frame.look_up(name) if name else None
    if known is None or name is None:
        return
    if is_none:
        frame.names[name] = constant(None)
    elif known.optional:
        frame.names[name] = known._replace(optional=False)


def _forget_static(asked: ast.Call, frame: Frame) -> None:
    """Where `tf.get_static_value(n)` gives a number, `n` is as good as one, whatever else it is elsewhere."""
    name = dotted_name(asked.args[0]) if len(asked.args) == 1 else None
    if name is None or called_name(asked) not in ("get_static_value", "constant_value"):
        return
    if frame.look_up(name) is not None:
        frame.names[name] = NOTHING_KNOWN


def _narrow_rank(test: ast.Compare, holds: bool, frame: Frame) -> None:
    """`if len(x.shape) == 2`, `if x.shape.rank == 2`: there, x is a matrix."""
    if isinstance(test.ops[0], ast.Eq) is not holds or not isinstance(
        test.ops[0], (ast.Eq, ast.NotEq)
    ):
        return
    right = test.comparators[0]
    if (
        not isinstance(right, ast.Constant)
        or type(right.value) is not int
        or not 0 <= right.value <= 8
    ):
        return
    tensor = _whose_rank(test.left)
    name = dotted_name(tensor) if tensor is not None else None
    known = frame.look_up(name) if name is not None else None
    if name is None or known is None or not known.is_tensor or known.structured:
        return
    if known.shape is None:
        if right.value == 0 and not known.sure:
            known = known._replace(dependence=CONSTANT)  # as likely a number as anything else
        frame.names[name] = shaped(known, (None,) * right.value)


def _whose_rank(node: ast.expr) -> ast.expr | None:
    """The tensor of `x.shape.rank`, `len(x.shape)`, `x.shape.ndims`, `x.ndim` and `len(x.get_shape())`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return _whose_shape(node.args[0]) if len(node.args) == 1 else None
    if isinstance(node, ast.Attribute) and node.attr in ("rank", "ndims"):
        return _whose_shape(node.value)
    return node.value if isinstance(node, ast.Attribute) and node.attr == "ndim" else None


def _whose_shape(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == "get_shape" else None
    return None


def _narrow_isinstance(
    name: str, types: ast.expr, holds: bool, promised: bool, frame: Frame
) -> None:
    known = frame.look_up(name)
    if known is None:
        return
    if holds:
        narrowed = _narrowed(known, types, promised, frame)
        if narrowed is not None:
            frame.names[name] = narrowed
    elif known.kind is TENSOR and known.structured:
        kinds = _kinds_of(types, frame)
        if kinds <= {SEQUENCE, MAPPING}:
            frame.names[name] = known._replace(structured=SEQUENCE not in kinds)
    elif known.kind is RAGGED and not known.sure and _kinds_of(types, frame) == {RAGGED}:
        # Rows by a mask of unknown rank, or no rows after all.
        frame.names[name] = known._replace(kind=TENSOR, ref=None)


def _narrowed(known: Value, types: ast.expr, promised: bool, frame: Frame) -> Value | None:
    """What a value is that is an instance of one of these types; None where that says nothing more."""
    if known.kind not in (UNKNOWN, TENSOR, SPARSE, RAGGED, COLLECTION):
        return None
    kinds = _kinds_of(types, frame)
    if known.kind is COLLECTION:
        return known._replace(dtype="dict") if kinds == {MAPPING} else None
    if kinds == {SPARSE} or kinds == {RAGGED}:
        return composites.guarded(known, SPARSE if SPARSE in kinds else RAGGED, promised=promised)
    if kinds == {TENSOR}:
        return known if known.is_tensor else _as_tensor(known, promised)
    if kinds <= {SEQUENCE, MAPPING} and None not in kinds:
        # Lists of inputs hold tensors. What a dictionary of inputs holds under a name may be a structure in its turn, and so may what was
        # taken for one tensor: a list that a layer gives has lists of states in it.
        may_nest = kinds == {MAPPING} or not known.structured
        inner = known._replace(structured=may_nest) if known.kind is TENSOR else NOTHING_KNOWN
        # Iterating over a dictionary gives its keys.
        dtype = "dict" if kinds == {MAPPING} else None
        return Value(COLLECTION, known.dependence, dtype=dtype, ref=inner)
    if kinds == {PYTHON}:
        return SOME_PYTHON
    # Classes that are not known, such as six.integer_types, are no tensors.
    return NOTHING_KNOWN if TENSOR not in kinds else None


def _kinds_of(types: ast.expr, frame: Frame) -> set[str | None]:
    wanted = types.elts if isinstance(types, ast.Tuple) else [types]
    return {kind_of_type(frame.analysis.evaluate(t, frame)) for t in wanted}


def dotted_name(node: ast.expr) -> str | None:
    """`x` or `self.x`, as the frame keeps it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


_BY_KIND: dict[type[ast.expr], Callable[[Any, bool, Frame, bool], None]] = {
    ast.UnaryOp: _not,
    ast.BoolOp: _combined,
    ast.Compare: _comparison,
    ast.Call: _question,
}
