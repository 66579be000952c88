"""Single operations, taken out of the graphs of traced APIs and lowered alone with all inputs unknown.

That tells which inputs XLA must know at compile time, and which outputs then have a data-dependent size.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import tensor_util

from tools.catalog.compiler import bounded_outputs, trace
from tools.catalog.gradient import gradient_function
from tools.catalog.program import Program

_INPUT = re.compile(r"Input (\d+) to node .*? must be a compile-time constant", re.DOTALL)
_UNPROBED = (tf.resource, tf.variant, tf.string)
# These hold functions, or carry no computation.
_SKIPPED = frozenset(
    {"If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase", "PartitionedCall"}
    | {"StatefulPartitionedCall", "Const", "Placeholder", "Identity", "IdentityN", "NoOp"}
)
_MOST_CONSTANTS = 8

Run = Callable[[], dict[str, Any]]


class OperationProbe:
    """Remembers which kinds of operation were measured in this process: type, input dtypes and ranks."""

    def __init__(self, compiled: frozenset[str]) -> None:
        self._compiled = compiled
        self._seen: set[str] = set()

    def unseen(self, program: Program) -> Iterator[tuple[str, Run]]:
        """Measurements of operations in the program's graph that were not met before."""
        try:
            graph = trace(program).graph
        except Exception:  # the default step has said so already
            return
        yield from self._unseen_in(graph)

    def unseen_backward(self, program: Program) -> Iterator[tuple[str, Run]]:
        """The same for its backward pass."""
        function = tf.function(gradient_function(program), autograph=False)
        try:
            graph = function.get_concrete_function(*program.specs()).graph
        except Exception:  # the gradient step has said so already
            return
        yield from self._unseen_in(graph)

    def _unseen_in(self, graph: Any) -> Iterator[tuple[str, Run]]:
        for operation in graph.get_operations():
            if operation.type not in self._compiled or operation.type in _SKIPPED:
                continue
            if any(
                each.dtype in _UNPROBED or not each.shape.is_fully_defined()
                for each in operation.inputs
            ):
                continue
            signature = _signature(operation)
            if signature not in self._seen:
                self._seen.add(signature)
                yield signature, functools.partial(_alone, operation)


def _signature(operation: Any) -> str:
    """All that decides the verdict, so that the same set is measured whichever process meets an operation first."""
    inputs = ",".join(f"{each.dtype.name}{list(each.shape)}" for each in operation.inputs)
    attributes = sorted(
        f"{key}={value}".replace("\n", " ")
        for key, value in operation.node_def.attr.items()
        if not key.startswith("_")
    )
    constants = [tensor_util.constant_value(each) for each in operation.inputs]
    identity = f"{attributes}{constants}"
    return f"{operation.type}({inputs})#{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def _alone(operation: Any) -> dict[str, Any]:
    """Lower one operation; each input that XLA asks for is given as the constant that it was."""
    names = _input_names(operation)
    needed: dict[int, Any] = {}
    for _ in range(_MOST_CONSTANTS):
        message, sizes = _lower_alone(operation, needed)
        asked = _INPUT.search(message)
        if asked is None:
            break
        index = int(asked[1])
        value = tensor_util.constant_value(operation.inputs[index])
        if index in needed:
            break
        needed[index] = value
        if value is None:
            break
    wanted = sorted({names[index] for index in needed})
    facts: dict[str, Any] = {"op": operation.type, "constant_inputs": wanted}
    return {
        **facts,
        **({"data_sized": sizes} if sizes else {}),
        **({"message": message[:160]} if message else {}),
    }


def _lower_alone(operation: Any, constants: dict[int, Any]) -> tuple[str, list[int]]:
    free = [index for index in range(len(operation.inputs)) if index not in constants]
    attributes = {
        key: value for key, value in operation.node_def.attr.items() if not key.startswith("_")
    }
    dtypes = [each.dtype for each in operation.outputs]

    def run(*tensors: tf.Tensor) -> list[tf.Tensor]:
        inputs: list[Any] = [None] * len(operation.inputs)
        for index, tensor in zip(free, tensors, strict=True):
            inputs[index] = tensor
        for index, value in constants.items():
            inputs[index] = tf.constant(value, operation.inputs[index].dtype)
        graph = tf.compat.v1.get_default_graph()
        made = graph.create_op(operation.type, inputs, dtypes, attrs=attributes)
        return [each for each in made.outputs if each.dtype not in _UNPROBED]

    specs = [tf.TensorSpec(operation.inputs[i].shape, operation.inputs[i].dtype) for i in free]
    try:
        text = tf.function(run, jit_compile=True, autograph=False).experimental_get_compiler_ir(
            *specs
        )(stage="hlo")
    except Exception as error:
        return str(error), []
    return "", list(bounded_outputs(text))


def _input_names(operation: Any) -> list[str]:
    """One name per input tensor; an input that is a list of tensors repeats its name."""
    names: list[str] = []
    for argument in operation.op_def.input_arg:
        count = operation.node_def.attr[argument.number_attr].i if argument.number_attr else 1
        if argument.type_list_attr:
            count = len(operation.node_def.attr[argument.type_list_attr].list.type)
        names += [argument.name] * count
    return names
