"""Conditionals of the graph whose first arm is empty: `tf.zeros([0, 9]) if tf.shape(x)[0] == 0 else tf.nn.relu(x)`.

XLA compiles them. The gradient runs the other arm backwards with what it kept, which is of its size, and XLA takes what flows back for as large as
the first arm's result: for empty. It compiles for no input, and whatever the test is: `Incompatible shapes: [2,9] vs. [0,9]`. With the arms the other
way round it compiles and is right, and so it is with a first arm as large as the other (`tf.zeros_like`), or of one row; and where the other arm keeps
nothing that it has computed: sums, differences, and products with what was there before (76 operations measured on TensorFlow 2.15 and 2.21 with a test of a
shape, 13 of them also with tests of data and a constant one: fixtures/XLA407/flagged_empty_arms.py). Weights are trained by what flows back and what was
there before: with a layer in the other arm, or a product or a convolution with variables, none compiles either, and the gradient of `tf.einsum` is a wrong
one (14 operations and 14 layers measured on both: flagged_empty_arms_of_layers.py); adding variables is right, and so are rows that are looked up.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.control_flow.liveness import path_to
from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import weights
from xlalint.semantics.gradients.reasons import EMPTY_ARM
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import CONSTANT, EXTERNAL, INSTANCE, VARIABLE, Value, class_name

# The gradients of these ask for what they made, or for a mask that they made on the way.
_KEEP = frozenset(
    "clip_by_norm clip_by_value conv1d conv2d conv3d elu exp gelu l2_normalize log log_softmax max_pool max_pool1d max_pool2d norm "
    "pow reciprocal reduce_logsumexp reduce_max reduce_min reduce_std reduce_variance relu relu6 rsqrt selu sigmoid "
    "sigmoid_cross_entropy_with_logits silu softmax softmax_cross_entropy_with_logits sort "
    "sparse_softmax_cross_entropy_with_logits sqrt swish tanh".split()
)
# These ask for what they were given: kept where the arm has made it.
_KEEP_GIVEN = frozenset("matmul multiply divide divide_no_nan einsum square where".split())
_MULTIPLIES = (ast.Mult, ast.Div, ast.MatMult)
# The gradients of these by variables ask for the other operand, whoever made it.
_TRAIN = frozenset(
    "conv1d conv2d conv3d conv1d_transpose conv2d_transpose depthwise_conv2d divide einsum matmul multiply tensordot".split()
)
# Constants, and numbers that tell of a shape: of a product with one, nothing is kept, or it is not known.
_CONSTANTS = frozenset("cast constant eye ones ones_like range shape size zeros zeros_like".split())


def note_arms(
    node: ast.AST,
    through: ast.AST,
    results: Sequence[Value],
    made_of: list[ast.expr],
    run: Sequence[ast.AST],
    frame: Frame,
    names: tuple[str, ...] = (),
) -> None:
    """A conditional, what gives its result or the names that it sets, what its two arms leave, and what the second one is made of and runs."""
    second = _grows_from_nothing(results)
    if second is not None and _keeps_what_it_made(run, frame):
        frame.analysis.gradients.note_through(
            node, through, made_of, second, EMPTY_ARM, frame, names
        )


def note_return(node: ast.If, first: Sequence[Value], later: Sequence[Value], frame: Frame) -> None:
    """`if tf.shape(x)[0] == 0: return tf.zeros([0, 9])`: what the first arm returns, and what the other way through the function does."""
    body = frame.function.node.body if frame.function is not None else None
    path = path_to(body, node) if isinstance(body, list) else ()
    if not path or len(first) != 1 or len(later) != 1:
        return
    rest = [*node.orelse, *path[-1].block[path[-1].place + 1 :]]
    parts = list(nodes_of(rest, into_functions=False))
    returned = [part.value for part in parts if isinstance(part, ast.Return)]
    if len(returned) == 1 and returned[0] is not None:
        note_arms(
            node.test,
            returned[0],
            (first[0], later[0]),
            [returned[0], *_loaded(parts)],
            rest,
            frame,
        )


def _loaded(parts: Sequence[ast.AST]) -> list[ast.expr]:
    return [p for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)]


def _grows_from_nothing(results: Sequence[Value]) -> Value | None:
    """What the second arm makes where the first is empty: of several things, each that has a gradient; None otherwise."""
    if len(results) != 2:
        return None
    first, second = map(leaves, results)
    if len(first) != len(second) or not all(each.is_tensor for each in (*first, *second)):
        return None
    trained = [pair for pair in zip(first, second) if not pair[1].has_no_gradient]
    if not all(
        _is_empty(one) and not _is_empty(other) and not other.producer for one, other in trained
    ):
        return None
    return trained[0][1] if trained else None


def _is_empty(value: Value) -> bool:
    is_vague = value.structured or value.optional or value.guess
    return not is_vague and value.shape is not None and 0 in value.shape


def _keeps_what_it_made(run: Sequence[ast.AST], frame: Frame) -> bool:
    """Whether the gradient of an arm asks for something that the arm has computed."""
    parts = list(nodes_of(run))
    made = {
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return any(
        _keeps_of_call(part, made, frame)
        if isinstance(part, ast.Call)
        else isinstance(part, ast.BinOp) and _keeps_of_operator(part, made, frame)
        for part in parts
    )


def _keeps_of_call(node: ast.Call, made: set[str], frame: Frame) -> bool:
    name = called_name(node)
    target = frame.analysis.evaluate(node.func, frame)
    if target.kind is INSTANCE:
        return weights.is_layer_with_weights(target) and not str(class_name(target)).endswith(
            "Embedding"
        )
    if name not in _KEEP and name not in _KEEP_GIVEN and name not in _TRAIN:
        return False
    if target.kind is not EXTERNAL or not str(target.ref).startswith(("tf.", "keras.")):
        return False
    if name in _TRAIN and any(_is_variable(each, frame) for each in node.args):
        return True
    if name in _KEEP_GIVEN:
        return any(_is_made(each, made, frame) for each in node.args)
    return name in _KEEP and bool(node.args) and _is_tensor(node.args[0], made, frame)


def _keeps_of_operator(node: ast.BinOp, made: set[str], frame: Frame) -> bool:
    if isinstance(node.op, ast.Pow):
        return _is_tensor(node.left, made, frame)
    sides = (node.left, node.right)
    return isinstance(node.op, _MULTIPLIES) and any(
        _is_made(each, made, frame) or _is_variable(each, frame) for each in sides
    )


def _is_variable(node: ast.expr, frame: Frame) -> bool:
    return frame.analysis.evaluate(node, frame).kind is VARIABLE


def _is_made(node: ast.expr, made: set[str], frame: Frame) -> bool:
    """Whether an operand is a tensor that is computed in the arm: a call, an operation, or a name that the arm has bound."""
    if isinstance(node, ast.Name):
        return node.id in made
    if isinstance(node, ast.Call) and called_name(node) in _CONSTANTS:
        return False
    return isinstance(node, (ast.Call, ast.BinOp, ast.Compare)) and _is_tensor(node, made, frame)


def _is_tensor(node: ast.expr, made: set[str], frame: Frame) -> bool:
    """Whether an expression is a tensor: of names that the arm has bound, for all that is known here, or for certain."""
    if any(isinstance(part, ast.Name) and part.id in made for part in nodes_of([node])):
        return True
    value = frame.analysis.evaluate(node, frame)
    return value.is_tensor and value.dependence > CONSTANT
