"""Tensors that a step of a loop makes anew, as big as a tensor from outside the loop says.

Where shapes are static, tracing knows what `tf.shape(x)[0]` is, but not within the body of a loop: what comes from outside is
a placeholder there. `tf.zeros([n, 3])` has the static shape (None, 3) in a step and (5, 3) before the loop, and TensorFlow refuses
a loop variable that is first the one and then the other (fixtures/XLA206/flagged_outer_sizes.py).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import called_name
from xlalint.semantics.values import EXTERNAL, FROM_SHAPE, TENSOR, Value

_SEGMENTS = ("max", "mean", "min", "prod", "sqrt_n", "sum")
# Which argument says how big the result is: its position and its name (measured, each of them).
_SIZED_BY: dict[str, tuple[int, str]] = {
    "tf.zeros": (0, "shape"),
    "tf.ones": (0, "shape"),
    "tf.fill": (0, "dims"),
    "tf.eye": (0, "num_rows"),
    "tf.random.uniform": (0, "shape"),
    "tf.random.normal": (0, "shape"),
    "tf.tile": (1, "multiples"),
    "tf.broadcast_to": (1, "shape"),
    "tf.one_hot": (1, "depth"),
    "tf.scatter_nd": (2, "shape"),
    **{f"tf.math.unsorted_segment_{name}": (2, "num_segments") for name in _SEGMENTS},
}
# What leaves the shape of its first argument as it is, unknown dimensions too.
_SAME_SHAPE = frozenset(
    {
        "tf.cast",
        "tf.identity",
        "tf.math.abs",
        "tf.math.exp",
        "tf.math.negative",
        "tf.math.sigmoid",
        "tf.math.square",
        "tf.math.tanh",
        "tf.nn.relu",
        "tf.stop_gradient",
    }
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a loop: what it assigns, by name, and the names that it binds itself."""

    writers: Mapping[str, Sequence[ast.stmt]]
    own: frozenset[str]
    frame: Frame

    def without(self, name: str) -> Step:
        """The step without the assignments of a name that is being followed: `x = x * 2.0` leads back to itself."""
        left = {other: parts for other, parts in self.writers.items() if other != name}
        return replace(self, writers=left)


def size_from_outside(made: ast.expr | None, step: Step) -> str | None:
    """The name of a tensor from outside that says how big what the step makes is; None where no dimension gets lost so."""
    if isinstance(made, ast.Name):
        writers = step.writers.get(made.id, ())
        only = writers[0] if len(writers) == 1 else None
        inside = only.value if isinstance(only, ast.Assign) and len(only.targets) == 1 else None
        if inside is None:
            return None
        return size_from_outside(inside, step.without(made.id))
    if isinstance(made, ast.BinOp):
        return _of_operation(made, step)
    if not isinstance(made, ast.Call) or not isinstance(made.func, (ast.Name, ast.Attribute)):
        return None
    if isinstance(made.func, ast.Attribute) and made.func.attr == "stack" and not made.args:
        return _of_array(made.func.value, step)
    target = step.frame.analysis.evaluate(made.func, step.frame)
    name = str(target.ref) if target.kind is EXTERNAL else ""
    if name == "tf.reshape":
        shape = _argument(made, 1, "shape")
        return _left_open(shape, step) if isinstance(shape, (ast.List, ast.Tuple)) else None
    if name in _SAME_SHAPE:
        return size_from_outside(made.args[0], step) if made.args else None
    if name not in _SIZED_BY:
        return None
    size = _argument(made, *_SIZED_BY[name])
    return None if size is None else _named_outside(size, step)


def _of_array(array: ast.expr, step: Step) -> str | None:
    """`rows.stack()` of the one `tf.TensorArray(tf.float32, n)` that a step makes."""
    if not isinstance(array, ast.Name) or array.id not in step.own:
        return None
    made = [
        part.value
        for parts in step.writers.values()
        for part in parts
        if isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Call)
        and called_name(part.value) == "TensorArray"
    ]
    size = _argument(made[0], 1, "size") if len(made) == 1 else None
    return None if size is None else _named_outside(size, step) or _asked_of_shape(size, step)


def _asked_of_shape(size: ast.expr, step: Step) -> str | None:
    """`tf.shape(x)[0] + 1`, whatever `x` is: what an array is told so, tracing does not know when it stacks it (measured)."""
    if isinstance(size, ast.BinOp) and isinstance(size.right, ast.Constant):
        size = size.left
    if not isinstance(size, ast.Subscript) or not isinstance(size.value, ast.Call):
        return None
    target = step.frame.analysis.evaluate(size.value.func, step.frame)
    is_asked = target.kind is EXTERNAL and target.ref == "tf.shape"
    return ast.unparse(size) if is_asked and isinstance(size.slice, ast.Constant) else None


def _of_operation(made: ast.BinOp, step: Step) -> str | None:
    """`2.0 * tf.zeros([n])`: with a number, the shape stays; a tensor may put the dimension back by broadcasting."""
    for number, other in ((made.left, made.right), (made.right, made.left)):
        if isinstance(number, ast.Constant):
            return size_from_outside(other, step)
    return None


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if len(call.args) <= position or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return call.args[position]


def _named_outside(size: ast.expr, step: Step) -> str | None:
    """A size, or one of the numbers of a written shape, that is a tensor from outside."""
    parts = size.elts if isinstance(size, (ast.List, ast.Tuple)) else [size]
    for part in parts:
        if isinstance(part, ast.BinOp) and isinstance(part.right, ast.Constant):
            part = part.left  # `n + 1` is computed in the step, of what is a placeholder there
        if isinstance(part, ast.Name) and part.id not in step.own and _is_outside(part.id, step):
            return part.id
    return None


def _left_open(shape: ast.List | ast.Tuple, step: Step) -> str | None:
    """The size from outside that a reshape cannot find out: one unknown number follows from the others, of two neither does."""
    outside = [part for part in shape.elts if _named_outside(part, step) is not None]
    rest = [part for part in shape.elts if _is_minus_one(part)]
    return _named_outside(outside[0], step) if outside and len(outside) + len(rest) > 1 else None


def _is_minus_one(part: ast.expr) -> bool:
    return isinstance(part, ast.UnaryOp) and ast.unparse(part) == "-1"


def _is_outside(name: str, step: Step) -> bool:
    """Whether a name is a tensor made of shapes, in the function that holds the loop and in none of its branches or loops."""
    value: Value | None = step.frame.names.get(name)
    function = step.frame.function
    if value is None or value.kind is not TENSOR or value.dependence > FROM_SHAPE:
        return False
    if value.rank != 0:  # a whole shape is known there, its numbers are not (measured)
        return False
    return function is not None and name not in function.parameter_names


def keeps_static_shapes(before: Value, loop: ast.AST | None, frame: Frame) -> bool:
    """Whether a value from before a loop has the static shape that its function is traced with: not in the body of another."""
    if not before.is_tensor or before.is_data_sized:
        return False
    if before.structured or before.optional or before.guess:
        return False
    if any(around is not loop for around in frame.constructs):
        return False
    around = [info for info in (frame.function, frame.context.root) if info is not None]
    signatures = [frame.analysis.traits(info).signature for info in around]
    promised = [leaf for signed in signatures for value in signed for leaf in leaves(value)]
    return all(leaf.shape is not None and None not in leaf.shape for leaf in promised)
