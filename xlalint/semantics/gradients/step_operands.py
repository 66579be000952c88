"""Operations in a step of a loop of the graph, or in an arm of a conditional, whose gradient asks for what was computed there: a size,
or an order of axes.

The gradient of a loop runs it backwards, with what each step kept, and that of a conditional the arm that was taken. XLA needs the operands
that say how large a result is, and along which axes an operation works, when it compiles. A constant is made again; what a step computes is
kept like everything else, though it be the same in all steps and known from the shapes: the gradient does not compile. Some APIs compute such an operand themselves, of constants too
(`tf.repeat(x, 2)`): the catalogue says which. The program itself compiles, as does the same operation outside of a loop, in
`tf.vectorized_map`, and with sizes of Python (`x.shape[0]`). All measured, TensorFlow 2.15 and 2.21: fixtures/XLA407.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import flattened
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.flows import body_of
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import CONSTANT, NONE, SEQUENCE, TENSOR, VARIABLE, Value

_OF_ITS_OWN = "a size or an order of axes"

# The operand that the gradient asks for, and its position.
_OPERANDS = {
    "tf.tile": ("multiples", 1),
    "tf.math.unsorted_segment_max": ("num_segments", 2),
    "tf.math.unsorted_segment_min": ("num_segments", 2),
    "tf.math.unsorted_segment_prod": ("num_segments", 2),
    "tf.reverse": ("axis", 1),
    "tf.cumsum": ("axis", 1),
    "tf.math.cumsum": ("axis", 1),
    "tf.math.cumprod": ("axis", 1),
    "tf.pad": ("paddings", 1),
}
# They transpose where the axis is not the last.
_OVER_AN_AXIS = frozenset(
    {
        "tf.nn.softmax",
        "tf.nn.log_softmax",
        "tf.nn.softmax_cross_entropy_with_logits",
        "keras.activations.softmax",
        "keras.activations.log_softmax",
        "keras.ops.softmax",
        "keras.ops.log_softmax",
    }
)
_NAMES = _OVER_AN_AXIS | _OPERANDS.keys()


def concerns(api: Api) -> bool:
    """Whether the gradient of an API may ask for something that a step computes."""
    return bool(api.no_gradient_in) or api.name in _NAMES


def asked_for(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> str | None:
    """What the gradient of such a call in a loop needs, and a step computes; None where it computes no such thing."""
    if not isinstance(node, ast.Call):
        return None
    if ("step" if frame.rounds else "arm") in api.no_gradient_in:
        return _OF_ITS_OWN if api.no_gradient_with.issuperset(bound) else None
    if api.name in _OVER_AN_AXIS:
        return "the order of the axes" if _is_not_last(bound) else None
    if api.name not in _OPERANDS:
        return None
    name, position = _OPERANDS[api.name]
    if name == "paddings" and not _mirrors(bound.get("mode")):
        return None
    written = next((k.value for k in node.keywords if k.arg == name), None)
    if written is None and len(node.args) > position:
        written = node.args[position]
    if written is None or not _is_made_in_step(written, bound.get(name), frame):
        return None
    return f"`{name}`"


def _is_not_last(bound: dict[str, Value]) -> bool:
    axis = bound.get("axis", NONE).constant()
    if axis is None or not isinstance(axis.value, int) or isinstance(axis.value, bool):
        return False
    if axis.value < 0:
        return axis.value < -1
    rank = next((v.rank for v in bound.values() if v.is_tensor), None)
    return rank is not None and axis.value < rank - 1


def _mirrors(mode: Value | None) -> bool:
    known = mode.constant() if mode is not None else None
    return known is not None and str(known.value).upper() in ("REFLECT", "SYMMETRIC")


def _is_made_in_step(written: ast.expr, value: Value | None, frame: Frame) -> bool:
    """Whether a tensor is computed in the step, or a list with one in it is made a tensor there."""
    if value is None:
        return False
    if value.kind is SEQUENCE:
        return any(_is_tensor(item) for item in flattened(value.ref))
    if not _is_tensor(value):
        return False
    if not isinstance(written, ast.Name):
        return not isinstance(written, ast.Attribute)
    return any(
        isinstance(part, ast.Assign)
        and not isinstance(part.value, (ast.Name, ast.Attribute))
        and any(_binds(target, written.id) for target in part.targets)
        for part in nodes_of(_step(frame), into_functions=False)
    )


def _is_tensor(value: Value) -> bool:
    is_plain = value.kind is TENSOR and not (value.structured or value.guess or value.optional)
    return value.kind is VARIABLE or (is_plain and value.dependence > CONSTANT)


def _step(frame: Frame) -> Sequence[ast.AST]:
    """What is run in each step, or in an arm, of the function: the body of the outermost loop or the arms of the outermost `if`,
    all of it where a caller loops or asks.
    """
    loop = next((c for c in frame.constructs if isinstance(c, (ast.For, ast.While))), None)
    if loop is not None:
        return list(loop.body)
    asked = next((c for c in frame.constructs if isinstance(c, ast.If)), None)
    if asked is not None and not frame.rounds:
        return [*asked.body, *asked.orelse]
    return body_of(frame.function)


def _binds(target: ast.expr, name: str) -> bool:
    return any(part.id == name for part in _names(target))


def _names(target: ast.expr) -> Iterator[ast.Name]:
    return (part for part in ast.walk(target) if isinstance(part, ast.Name))
