"""Arguments that TensorFlow reads as Python values: numbers that a tensor has when run eagerly and not while it is traced.

`tf.constant(t)`, `x.set_shape([n, 3])` and settings of operations (`tf.stack(rows, axis=n)`) end the trace with a
TypeError or `Using a symbolic tf.Tensor as a Python bool` (measured, TF 2.15 and 2.21). The catalogue says which
arguments of an API are refused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import READ_AS_PYTHON, TRAINING_FLAG
from xlalint.semantics.values import (
    BOUNDED,
    COLLECTION,
    CONSTANT,
    FROM_SHAPE,
    NONE,
    SEQUENCE,
    Eager,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

# Refused as a tensor, and with a tensor in the list. Not measured, as what they make is refused for tensors anyway.
UNMEASURED = {
    "tf.squeeze": ("axis",),
    "tf.unstack": ("num",),
    "tf.make_tensor_proto": ("values",),
    "tf.constant": ("shape",),
    "tf.compat.v1.constant": ("shape",),
}
# Settings of convolutions, pools and patches: attributes of their operations, which are numbers of the graph. A list of tensors is
# taken eagerly, a tensor nowhere: AutoGraph makes one of `2 if test else 1` and of `int(size)` (fixtures/XLA105/flagged_strides.py).
_WINDOWS = ("tf.nn.", "tf.compat.v1.nn.", "tf.image.extract_patches", "keras.ops.")
_SETTINGS = frozenset(
    "strides stride dilations dilation_rate ksize window_shape pool_size block_size depth_radius sizes rates".split()
)
SHAPE_CLASS = "tf.TensorShape"
_NEVER_LOOKED_UP = frozenset({"value", "values", "shape"})
# Python functions around operations, the same in Keras 2, tf_keras and Keras 3: they compare, index and count with what they are given.
_BACKEND = "keras.backend."
_KERAS_OPS = "keras.ops."
# Tensors that `eval` and `concatenate` work on are no settings.
_WORKED_ON = frozenset({"x", "tensors"})


def unmeasured(api: Api) -> tuple[str, ...]:
    """The arguments of an API that are refused as tensors, of those that the catalogue does not tell."""
    own = UNMEASURED.get(api.name, ())
    if not api.name.startswith(_WINDOWS):
        return own
    return (*own, *sorted(_SETTINGS.intersection(api.params)))


def note(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """Note a call with a traced tensor where a Python value is read."""
    others = unmeasured(api)
    for parameter in {*api.python_args, *api.python_parts, *others}:
        given = bound.get(parameter)
        if given is None or not (given.is_tensor or given.kind in (SEQUENCE, COLLECTION)):
            continue
        if not _is_sure(api.name, parameter) or _is_left_open(api.name, parameter, bound):
            continue
        refused = api.python_args if given.is_tensor else api.python_parts
        if parameter not in refused and parameter not in others:
            continue
        _note(given, _least(api.name, parameter), node, frame)


def _least(name: str, parameter: str) -> int:
    """The least that a tensor depends on that is refused. Where the shape is static, operations find the number behind
    `tf.size(tf.shape(x)[:-2])`; `keras.ops` compares it in Python, which no tensor made while tracing takes (Keras 3.15),
    nor does `tf.squeeze`.
    """
    if name.startswith(_KERAS_OPS) or name == "tf.squeeze":
        return CONSTANT
    is_looked_up = parameter not in _NEVER_LOOKED_UP and not name.startswith(_BACKEND)
    return BOUNDED if is_looked_up else FROM_SHAPE


def _is_sure(name: str, parameter: str) -> bool:
    """Keras 2 takes tensors where Keras 3 does not, but for its backend and the values of constants; keras.ops has come with Keras 3."""
    if name.startswith(_BACKEND):
        return parameter not in _WORKED_ON
    return not name.startswith("keras.") or name.startswith("keras.ops.") or parameter == "value"


def _is_left_open(name: str, parameter: str, bound: dict[str, Value]) -> bool:
    """`K.arange(start, stop)` hands both to tf.range; `K.arange(n)` asks first whether n is negative."""
    if name != "keras.backend.arange" or parameter != "start":
        return False
    return bound.get("stop", NONE) != NONE


def note_shape(given: Value, node: ast.AST, frame: Frame) -> None:
    """Note a shape made in Python that holds a traced tensor."""
    _note(given, FROM_SHAPE, node, frame)


def note_training(given: Value, node: ast.AST, frame: Frame) -> None:
    """Note a traced tensor for `training`, where Keras tests that in Python."""
    if given.is_tensor:
        _note(given, CONSTANT, node, frame, TRAINING_FLAG)


def _note(given: Value, least: int, node: ast.AST, frame: Frame, detail: str | None = None) -> None:
    for leaf in leaves(given):
        # What does not even depend on a shape may have been made eagerly, outside of the function.
        is_symbol = leaf.is_tensor and leaf.dependence >= least and type(leaf.ref) is not Eager
        if is_symbol and not (leaf.guess or leaf.optional or leaf.structured):
            frame.analysis.note(frame, node, READ_AS_PYTHON, leaf, detail)
            return
