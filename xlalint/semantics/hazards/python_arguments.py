"""Arguments that TensorFlow reads as Python values: numbers that a tensor has when run eagerly and not while it is traced.

`tf.constant(t)`, `x.set_shape([n, 3])` and settings of operations (`tf.stack(rows, axis=n)`) end the trace with a
TypeError or `Using a symbolic tf.Tensor as a Python bool` (measured, TF 2.15 and 2.21). The catalogue says which
arguments of an API are refused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.catalog import Api
from xlalint.semantics.facts import READ_AS_PYTHON
from xlalint.semantics.values import BOUNDED, FROM_SHAPE, SEQUENCE, Value, leaves

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

# Of the refused, those that run eagerly with a tensor: the others, such as a tensor for a list of tensors, nobody writes.
_SETTINGS = frozenset(
    "axis axes batch_axis batch_dims block_size filter_size ksize lower max_delta num num_partitions rates seq_axis"
    " shape sizes strides upper value values".split()
)
# Not measured: which of these a list of tensors may stand for is decided here.
UNMEASURED = {
    "tf.unstack": ("num",),
    "tf.make_tensor_proto": ("values",),
    "tf.constant": ("shape",),
    "tf.compat.v1.constant": ("shape",),
}
SHAPE_CLASS = "tf.TensorShape"
_WHOLE = frozenset({"value", "values"})
_NEVER_LOOKED_UP = _WHOLE | {"shape"}


def note(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """Note a call with a traced tensor where a Python value is read."""
    refused = api.python_args + UNMEASURED.get(api.name, ())
    for parameter in refused:
        given = bound.get(parameter)
        if given is None or parameter not in _SETTINGS:
            continue
        if api.name.startswith("keras.") and parameter not in _WHOLE:
            continue  # Keras 2 takes tensors where Keras 3 does not
        if parameter in _WHOLE and given.kind is SEQUENCE:
            continue  # refused eagerly as well
        # Where the shape is static, operations find the number behind `tf.size(tf.shape(x)[:-2])`.
        _note(given, FROM_SHAPE if parameter in _NEVER_LOOKED_UP else BOUNDED, node, frame)


def note_shape(given: Value, node: ast.AST, frame: Frame) -> None:
    """Note a shape made in Python that holds a traced tensor."""
    _note(given, FROM_SHAPE, node, frame)


def _note(given: Value, least: int, node: ast.AST, frame: Frame) -> None:
    for leaf in leaves(given):
        # What does not even depend on a shape may have been made eagerly, outside of the function.
        is_symbol = leaf.is_tensor and leaf.dependence >= least
        if is_symbol and not (leaf.guess or leaf.optional or leaf.structured):
            frame.analysis.note(frame, node, READ_AS_PYTHON, leaf)
            return
