"""What Keras traces before XLA compiles it: tf.functions of layers that are part of a functional model.

Keras calls the layers of such a model on symbolic tensors, outside of XLA. A tf.function that a layer's `call` is, or calls, is traced then, and
the training step takes that trace. Outside of XLA, loops keep lists without a bound for their gradient (`loop_gradients.py`), and conditionals
wrap what an arm computed in optionals (`OptionalFromValue`), for which XLA has no kernel. An arm of which the gradient needs
nothing but what came from outside keeps nothing, and compiles: `y * y`, `tf.square(y)`, `y * 2.0` (measured, TensorFlow 2.15 and 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.classes import LAYER
from xlalint.semantics.facts import GRADIENT
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.differentiation import Differentiated
from xlalint.semantics.gradients.flows import Slices, body_of, is_cut_off, is_too_long
from xlalint.semantics.gradients.reasons import TRACED_BEFORE
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, NOTHING_KNOWN, VARIABLE

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_PRODUCTS = (ast.Mult, ast.MatMult, ast.Div)
# The gradients of these need what they return, or compute on the way.
_KEPT = frozenset(
    "tanh sigmoid exp softmax log_softmax relu relu6 elu selu sqrt rsqrt l2_normalize dropout clip_by_value".split()
)


class _Candidate(NamedTuple):
    layer: ClassInfo
    node: ast.expr
    frame: Frame
    kept: ast.expr


class TracedBefore:
    """Collects conditionals of layers' own tf.functions; keeps at the end those of layers in functional models."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._candidates: list[_Candidate] = []
        self._in_functional: set[ClassInfo] = set()

    def saw_in_functional(self, layer: ClassInfo) -> None:
        """A layer of the project is called on a symbolic tensor, or listed behind an Input."""
        self._in_functional.add(layer)

    def is_in_functional(self, layer: ClassInfo | None) -> bool:
        return layer in self._in_functional

    def saw_conditional(self, node: ast.AST, arms: Sequence[ast.AST], frame: Frame) -> None:
        """A conditional of the graph whose arms were run: its test, or the call that makes it."""
        if frame.silent or not isinstance(node, ast.expr) or not frame.context.is_compiled:
            return
        layer = layer_of(frame)
        if layer is None or is_too_long(frame) or is_cut_off(node, frame):
            return
        kept = next((part for part in nodes_of(arms) if _is_kept(part, frame)), None)
        if isinstance(kept, ast.expr) and Slices(node, frame, []).leaves_function():
            self._candidates.append(_Candidate(layer, node, frame, kept))

    def judge(self) -> None:
        """Keep a fact for each conditional that Keras surely traces before."""
        for layer, node, frame, kept in self._candidates:
            if layer in self._in_functional:
                detail = Differentiated(ast.unparse(kept), TRACED_BEFORE, (), True, True)
                self._analysis.keep(frame, node, GRADIENT, NOTHING_KNOWN, detail)


def layer_of(frame: Frame) -> ClassInfo | None:
    """The layer whose `call` leads to this by way of a tf.function, be it `call` itself, of which Keras keeps the first trace.

    A function that makes all its variables when it is first called, those of the layers that it calls, is traced once more, for the
    training step; one that reads a weight made before is not (measured, Keras 3.15).
    """
    root = frame.context.root
    if root is None or root.cls is None or root.name != "call":
        return None
    analysis = frame.analysis
    role = analysis.classes.role(root.cls)
    passed: list[Frame] = []
    inner: Frame | None = frame
    while inner is not None and role is not None and role.kind == LAYER:
        passed.append(inner)
        if inner.function is not None and analysis.traits(inner.function).tf_function:
            is_kept = _reads_a_weight(passed) or _calls_operations_alone(passed)
            return root.cls if is_kept else None
        inner = inner.caller
    return None


def _reads_a_weight(frames: Sequence[Frame]) -> bool:
    """Whether these functions read a variable: it was made before them."""
    return any(
        isinstance(part, ast.Attribute) and frame.analysis.evaluate(part, frame).kind is VARIABLE
        for frame in frames
        for part in nodes_of(body_of(frame.function))
    )


def _calls_operations_alone(frames: Sequence[Frame]) -> bool:
    """Whether these functions, one called by the other, call nothing else but TensorFlow and Keras: no layer, and nothing unknown."""
    functions = {frame.function for frame in frames}
    for frame in frames:
        for part in nodes_of(body_of(frame.function)):
            if not isinstance(part, ast.Call):
                continue
            called = frame.analysis.evaluate(part.func, frame)
            info = called.ref[0] if isinstance(called.ref, tuple) and called.ref else called.ref
            if called.kind is not EXTERNAL and not (called.kind is FUNCTION and info in functions):
                return False
    return True


def _is_kept(part: ast.AST, frame: Frame) -> bool:
    """Whether an arm computes this, and its gradient, which is taken, needs it: a product with a variable, which the arm reads, or `tf.tanh`
    of what is trained.
    """
    if isinstance(part, ast.BinOp):
        return isinstance(part.op, _PRODUCTS) and _reads_a_variable(part, frame)
    if not isinstance(part, ast.Call):
        return False
    called = frame.analysis.evaluate(part.func, frame)
    if called.kind is not EXTERNAL or called_name(part) not in _KEPT or not part.args:
        return False
    return Slices(part, frame).feeds_it() is True


def _reads_a_variable(part: ast.BinOp, frame: Frame) -> bool:
    """`x * self.scale`, one of which is a tensor."""
    sides = [frame.analysis.evaluate(side, frame) for side in (part.left, part.right)]
    return any(side.kind is VARIABLE for side in sides) and all(
        side.kind is VARIABLE or (side.is_tensor and not side.guess) for side in sides
    )
