"""Asks XLA for a verdict on a function of tensors: lowers it from specs, and reads the reason out of a refusal."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels

from tools.catalog.program import Program, tensors_of

_NO_KERNEL = re.compile(r"(\w+) \(No registered '")
_WRONG_DTYPE = "attributes didn't match"
_HOLDS_TABLE = "variable.var()->is_initialized"
_CONSTANT = "must be a compile-time constant"
_GRADIENT = ("fixed tensor list size", "max_num_elements", "maximum_iterations", "TensorList")
# Structure, not computation: present in nearly every graph, and compiled away.
_PLUMBING = frozenset(
    {"Placeholder", "_Arg", "_Retval", "Identity", "IdentityN", "NoOp", "Const", "PartitionedCall"}
    | {"StatefulPartitionedCall", "ReadVariableOp", "PlaceholderWithDefault"}
)


@dataclass(frozen=True)
class Verdict:
    """What lowering said. `status` is `compiles`, `fails`, or `untraceable` when TensorFlow could not build the graph.

    `data_sized` are the indexes of outputs with a bounded dynamic dimension.
    """

    status: str
    reason: str | None = None
    missing: tuple[str, ...] = ()
    data_sized: tuple[int, ...] = ()
    message: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True)
class Traced:
    """A graph that TensorFlow built: its op types, and the structure that the call returned."""

    ops: tuple[str, ...]
    result: Any
    graph: Any


def trace(program: Program) -> Traced:
    """Build the graph without AutoGraph. Raises whatever TensorFlow raises."""
    held: list[Any] = []
    call = program.function()

    def remember(*tensors: tf.Tensor) -> list[tf.Tensor]:
        held.append(call(*tensors))
        return tensors_of(held[-1])

    concrete = tf.function(remember, autograph=False).get_concrete_function(*program.specs())
    return Traced(ops=graph_ops(concrete), result=held[-1], graph=concrete.graph)


def graph_ops(concrete: Any) -> tuple[str, ...]:
    """Op types of a concrete function and of every function that it calls, sorted, plumbing left out."""
    definition = concrete.graph.as_graph_def()
    types = {node.op for node in definition.node}
    for inner in definition.library.function:
        types |= {node.op for node in inner.node_def}
    names = {inner.signature.name for inner in definition.library.function}
    return tuple(sorted(types - _PLUMBING - names))


def lower(
    function: Callable[..., Any],
    specs: Sequence[tf.TensorSpec],
    inputs: Sequence[tf.Tensor] | None = None,
) -> Verdict:
    """Lower `function`, whose result is flattened to tensors, from specs; its values are unknown to XLA.

    Lowering cannot take functions that hold tables. With `inputs` such a function is compiled by running it, and
    refusals are read from that.
    """

    def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
        return tensors_of(function(*tensors))

    jitted = tf.function(flat, jit_compile=True, autograph=False)
    try:
        concrete = jitted.get_concrete_function(*specs)
    except Exception as error:
        return Verdict("untraceable", message=_first_line(error))
    try:
        text = jitted.experimental_get_compiler_ir(*specs)(stage="hlo")
    except Exception as error:
        if inputs is not None and _HOLDS_TABLE in str(error):
            return _run(jitted, inputs)
        return _refusal(error, concrete)
    return Verdict("compiles", data_sized=bounded_outputs(text))


def _run(jitted: Any, inputs: Sequence[tf.Tensor]) -> Verdict:
    try:
        jitted(*inputs)
    except Exception as error:
        return _refusal(error, jitted.get_concrete_function(*inputs))
    return Verdict("compiles")


def lower_program(program: Program) -> Verdict:
    """Lower a call with every unfrozen tensor argument arriving at run time."""
    try:
        specs = program.specs()
    except Exception as error:
        return Verdict("untraceable", message=_first_line(error))
    return lower(program.function(), specs, program.inputs())


def _refusal(error: Exception, concrete: Any) -> Verdict:
    message = str(error)
    named = set(_NO_KERNEL.findall(message))
    missing = tuple(sorted(named - _PLUMBING))
    if named & _PLUMBING:
        # An argument or result of a type that XLA does not know, such as a string, hides the ops that take it.
        missing = tuple(
            sorted({*missing, *(each for each in graph_ops(concrete) if not _is_compiled(each))})
        )
        reason = "no-kernel" if missing else "dtype"
    elif missing:
        reason = "dtype" if message.count(_WRONG_DTYPE) >= len(missing) else "no-kernel"
    elif _CONSTANT in message:
        reason = "constant"
    elif any(sign in message for sign in _GRADIENT):
        reason = "gradient"
    else:
        reason = "other"
    return Verdict("fails", reason=reason, missing=missing, message=_first_line(error))


@functools.cache
def compiled_ops() -> frozenset[str]:
    """Op types with a kernel for XLA on CPU. They are registered when something is compiled for the first time."""
    tf.function(lambda x: x + 1, jit_compile=True)(tf.constant(1.0))
    registered = kernels.get_all_registered_kernels().kernel
    return frozenset(each.op for each in registered if each.device_type == "XLA_CPU_JIT")


def _is_compiled(op_type: str) -> bool:
    return op_type in compiled_ops()


def bounded_outputs(hlo: str) -> tuple[int, ...]:
    """`... ->(f32[<=4]{0}, s32[4]{0})` says that output 0 holds at most 4 elements, how many being data."""
    layout = re.search(r"entry_computation_layout=\{.*?->(.*)\}", hlo.split("\n", 1)[0])
    if layout is None:
        raise ValueError("the compiler's text has no entry_computation_layout")
    shapes = re.findall(r"\b[a-z]\w*\[([^\]]*)\]", re.sub(r"/\*.*?\*/", "", layout[1]))
    return tuple(index for index, dims in enumerate(shapes) if "<=" in dims)


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0] if lines else ''}"
    # Function numbers and addresses differ from run to run.
    return re.sub(r"0x[0-9a-f]+|(?<=_)\d+(?=\[\])", "N", text)[:240]
