"""Make the operations of a gradient remember the operation that they are the gradient of.

The stack of a gradient's operation ends at `tape.gradient(...)`, which says nothing of what fails. TensorFlow keeps the
originals where it differentiates graphs; where a tape does (measured on TensorFlow 2.12 to 2.21), this does it in the same
way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def install() -> bool:
    """From now on. False where this TensorFlow has no such seam: failures in gradients then name the tape's line."""
    try:
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.eager import backprop
        from tensorflow.python.framework import ops

        original, register = backprop._gradient_function, pywrap_tfe.TFE_Py_RegisterGradientFunction
    except (ImportError, AttributeError):
        return False

    def gradient_function(
        name: str, attributes: Any, count: int, inputs: Any, outputs: Any, *rest: Any
    ) -> Any:
        forward = _operation(name, (*(outputs or ()), *(inputs or ())))
        graph = ops.get_default_graph()
        if forward is None or _is_eager() or not hasattr(graph, "_original_op"):
            return original(name, attributes, count, inputs, outputs, *rest)
        with graph._original_op(forward):
            return original(name, attributes, count, inputs, outputs, *rest)

    register(gradient_function)
    return True


def original_of(op: Any) -> Any:
    """The operation of the forward pass that `op` belongs to; `op` itself where it is of the forward pass."""
    seen = {id(op)}
    while (before := getattr(op, "_original_op", None)) is not None and id(before) not in seen:
        op = before
        seen.add(id(op))
    return op


def _is_eager() -> bool:
    from tensorflow.python.eager import context

    return bool(context.executing_eagerly())


def _operation(name: str, tensors: Iterable[Any]) -> Any:
    """The operation of a type that made one of these tensors, or takes one of them."""
    symbolic = [tensor for tensor in tensors if getattr(tensor, "graph", None) is not None]
    for tensor in symbolic:
        if tensor.op.type == name:
            return tensor.op
    for tensor in symbolic:
        for consumer in tensor.consumers():
            if consumer.type == name:
                return consumer
    return None
