"""Conditionals of the graph whose first arm is empty: `tf.zeros([0, 9]) if tf.shape(x)[0] == 0 else tf.nn.relu(x)`.

XLA compiles them. The gradient runs the other arm backwards with what it kept, and XLA takes all that for as large as what the first arm
would have kept: for empty. It compiles for no input, and whatever the test is: `Incompatible shapes: [2,9] vs. [0,9]`. With the arms the other
way round it compiles and is right, and so it is with a first arm as large as the other (`tf.zeros_like`), or of one row; and where the other arm keeps
nothing that it has computed: sums, differences, and products with what was there before (76 operations measured on TensorFlow 2.15 and 2.21 with a test of a
shape, 13 of them also with tests of data and a constant one: fixtures/XLA407/flagged_empty_arms.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.control_flow.liveness import path_to
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.reasons import EMPTY_ARM
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import Value

# The gradients of these ask for what they made, or for a mask that they made on the way.
_KEEP = frozenset(
    "clip_by_norm clip_by_value conv1d conv2d conv3d dropout elu exp gelu l2_normalize log log_softmax max_pool max_pool1d "
    "max_pool2d norm pow reciprocal reduce_logsumexp reduce_max reduce_min reduce_std reduce_variance relu relu6 rsqrt selu "
    "sigmoid sigmoid_cross_entropy_with_logits silu softmax softmax_cross_entropy_with_logits sort "
    "sparse_softmax_cross_entropy_with_logits sqrt swish tanh where".split()
)
# These ask for what they were given: kept where the arm has made it.
_PRODUCTS = frozenset({"matmul", "multiply", "divide", "divide_no_nan", "einsum", "square"})
_MULTIPLIES = (ast.Mult, ast.Div, ast.MatMult)


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
    if len(results) != 2 or not all(each.is_tensor for each in results):
        return
    first, second = results
    if not _is_empty(first) or _is_empty(second) or second.producer or second.has_no_gradient:
        return
    if _keeps_what_it_made(run):
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


def _is_empty(value: Value) -> bool:
    is_vague = value.structured or value.optional or value.guess
    return not is_vague and value.shape is not None and 0 in value.shape


def _keeps_what_it_made(run: Sequence[ast.AST]) -> bool:
    """Whether the gradient of an arm asks for something that the arm has computed."""
    parts = list(nodes_of(run))
    made = {
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    for part in parts:
        if isinstance(part, ast.Call):
            name = called_name(part)
            if name in _KEEP or (name in _PRODUCTS and any(_is_made(a, made) for a in part.args)):
                return True
        elif isinstance(part, ast.BinOp):
            if isinstance(part.op, ast.Pow):
                return True
            if isinstance(part.op, _MULTIPLIES) and (
                _is_made(part.left, made) or _is_made(part.right, made)
            ):
                return True
    return False


def _is_made(node: ast.expr, made: set[str]) -> bool:
    """Whether an operand is computed in the arm: a call, or a name that the arm has bound."""
    if isinstance(node, ast.Name):
        return node.id in made
    if isinstance(node, ast.Call):
        return called_name(node) not in _CONSTANTS
    return isinstance(node, ast.BinOp)


# These compute numbers and constants, and what is multiplied by one keeps nothing.
_CONSTANTS = frozenset("cast constant eye float int len ones range shape size sqrt zeros".split())
