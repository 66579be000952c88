"""What TensorFlow and XLA say of a call: eager run, trace, lowering from static specs, and each operation on its own."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call
from tensorflow.python.eager.polymorphic_function import compiler_ir
from tensorflow.python.framework import kernels

Frame = tuple[str, int]

_LOWERING = "Failed getting HLO text: '"
_EMPTY_WORDS = (
    "File ",
    "in user code",
    "^",
    "*",
    "Stack trace",
    "Arguments received",
    "Call arguments",
    "•",
)

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_NODE = re.compile(r"\{\{node ([^{}]+)\}\}")
_COMPILED = b"XLA_CPU_JIT"
# Operations that TensorFlow itself runs or drops before XLA sees the graph.
_NO_KERNEL_NEEDED = frozenset({"Placeholder", "NoOp", "Assert"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one stage went: `frames` are the stack of the failure, outermost first, files of any package.

    `nodes` are the graph's operations that the message names.
    """

    is_ok: bool
    message: str = ""
    frames: tuple[Frame, ...] = ()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One traced operation: what it is, the stack that made it, and whether an output's size is left open."""

    type: str
    name: str
    frames: tuple[Frame, ...]
    has_kernel: bool
    is_data_sized: bool
    is_nested: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was learnt of one call. `compiled` is None where tracing failed."""

    eager: Outcome
    traced: Outcome
    compiled: Outcome | None
    gradient: Outcome | None = None
    agrees: bool | None = None
    operations: tuple[Operation, ...] = ()
    graph: Any = field(default=None, compare=False)
    inputs: Sequence[Any] = field(default=(), compare=False)


def judge(call: Call) -> Judgement:
    """Run `call` eagerly, trace it with AutoGraph, lower it from specs, run it compiled, compile its gradient."""
    inputs = [_tensor(value) for value in call.inputs]
    specs = [_spec(value) for value in inputs]
    values, eager = _try(lambda: call.function(*inputs))
    concrete, traced = _try(lambda: _traced(call.function, specs))
    if concrete is None:
        return Judgement(eager, traced, None)
    operations = tuple(_operations(concrete.graph))
    compiled = _lower(concrete, _static(inputs))
    agrees = _agrees(call, inputs, values) if eager.is_ok and compiled.is_ok else None
    gradient = _gradient(call, inputs) if call.check_gradient and compiled.is_ok else None
    return Judgement(eager, traced, compiled, gradient, agrees, operations, concrete, inputs)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a traced program that one operation needs, as a program of its own."""

    function: Any
    specs: Sequence[Any]
    inputs: Sequence[Any]


def part_for(said: Judgement, name: str) -> Part:
    """The part of the outer graph that ends with the operation `name`."""
    graph = said.graph.graph
    wanted = graph.get_operation_by_name(name)
    definition = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), [name])
    kept = {node.name for node in definition.node}
    captured = {
        inner.op.name: outer
        for outer, inner in zip(said.graph.captured_inputs, graph.internal_captures)
        if inner.op.name in kept
    }
    given = dict(
        zip((t.op.name for t in graph.inputs), tf.nest.flatten(said.inputs, expand_composites=True))
    )
    fed = [t for t in graph.inputs if t.op.name in kept and t.op.name not in captured]
    definition = _without(definition, {t.op.name for t in fed} | set(captured))
    definition.library.CopyFrom(graph.as_graph_def().library)

    def program(*arguments: Any) -> Any:
        here = tf.compat.v1.get_default_graph()
        held = {inner: here.capture(outer) for inner, outer in captured.items()}
        fresh = {tensor.op.name: argument for tensor, argument in zip(fed, arguments)}
        results = [tensor.name for tensor in wanted.outputs]
        return tf.graph_util.import_graph_def(
            definition, input_map={**held, **fresh}, return_elements=results or [name]
        )

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in fed]
    return Part(program, specs, [given[tensor.op.name] for tensor in fed])


def _without(definition: Any, names: set[str]) -> Any:
    kept = type(definition)()
    kept.CopyFrom(definition)
    del kept.node[:]
    kept.node.extend(node for node in definition.node if node.name not in names)
    return kept


def lower_part(part: Part) -> Outcome:
    """Lower `part` from its static specs."""
    concrete, outcome = _try(lambda: _traced(part.function, part.specs))
    return _lower(concrete, part.specs) if concrete is not None else outcome


def holds_the_same(part: Part) -> bool | None:
    """Whether `part` run by XLA holds the values that it holds without, in whatever order; None where it cannot run."""
    plain, first = _try(lambda: tf.function(part.function)(*part.inputs))
    compiled, second = _try(lambda: tf.function(part.function, jit_compile=True)(*part.inputs))
    if not (first.is_ok and second.is_ok):
        return None
    pairs = zip(tf.nest.flatten(plain), tf.nest.flatten(compiled))
    return all(_is_close(np.sort(np.ravel(a)), np.sort(np.ravel(b))) for a, b in pairs)


def _traced(function: Any, specs: Sequence[Any]) -> Any:
    # jit_compile: loops are built otherwise when XLA is to compile them.
    return tf.function(function, jit_compile=True).get_concrete_function(*specs)


def _tensor(value: Any) -> Any:
    if isinstance(value, (dict, list, tuple)):
        return tf.nest.map_structure(_tensor, value)
    return (
        value
        if isinstance(value, (tf.SparseTensor, tf.RaggedTensor))
        else tf.convert_to_tensor(value)
    )


def _spec(value: Any) -> Any:
    return tf.nest.map_structure(tf.type_spec_from_value, value)


def _static(inputs: Sequence[Any]) -> list[Any]:
    """Specs for lowering: a sparse or ragged input's parts have the sizes that they have in this call."""
    flat = tf.nest.flatten(inputs, expand_composites=True)
    return [tf.TensorSpec(value.shape, value.dtype) for value in flat]


def _try(work: Any) -> tuple[Any, Outcome]:
    try:
        return work(), Outcome(True)
    except Exception as error:
        return None, _failure(error)


def _failure(error: BaseException) -> Outcome:
    frames = tuple((f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__))
    text = str(error)
    # AutoGraph replaces the stack by its own note of the original lines.
    named = tuple((file, int(line)) for file, line in _FRAME.findall(text))
    nodes = tuple(dict.fromkeys(_NODE.findall(text)))
    return Outcome(False, f"{type(error).__name__}: {_first_words(text)}", frames + named, nodes)


def _first_words(text: str) -> str:
    """The one line that says why, out of messages that hold stacks and graph names."""
    if _LOWERING in text:
        return _shorter(text.split(_LOWERING, 1)[1].splitlines()[0])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_EMPTY_WORDS)]
    errors = [line for line in telling if re.match(r"\w*(Error|Exception)\b", line)]
    return _shorter((errors or telling[-1:] or lines or [""])[0])


def _shorter(words: str) -> str:
    lacking = sorted(set(re.findall(r"(\w+) \(No registered", words)))
    if lacking:
        return f"no XLA kernel: {', '.join(lacking)}"
    return words[:300]


def _lower(concrete: Any, specs: Sequence[Any]) -> Outcome:
    # The messages name nodes; the graph knows which lines made them.
    _, outcome = _try(
        lambda: compiler_ir.from_concrete_function(concrete, list(specs))(stage="hlo")
    )
    if outcome.is_ok:
        return outcome
    blamed = tuple(frame for name in outcome.nodes for frame in _stack_of(concrete, name))
    return Outcome(False, outcome.message, outcome.frames + blamed, outcome.nodes)


def _stack_of(concrete: Any, name: str) -> tuple[Frame, ...]:
    return next((op.frames for op in _operations(concrete.graph) if op.name == name), ())


def _operations(graph: Any, is_nested: bool = False) -> Iterator[Operation]:
    for op in graph.get_operations():
        yield Operation(
            op.type,
            op.name,
            # Operations of a graph that was loaded, not traced, have no stack.
            tuple((frame.filename, frame.lineno) for frame in op.traceback or ()),
            op.type in _NO_KERNEL_NEEDED
            or op.type.startswith(
                ("Stateless", "Partitioned", "If", "While", "Case", "StatefulPartitioned")
            )
            or _has_kernel(op.type),
            any(
                t.dtype != tf.resource and t.shape.rank and not t.shape.is_fully_defined()
                for t in op.outputs
            ),
            is_nested,
        )
    for inner in _inner_graphs(graph):
        yield from _operations(inner, True)


def _inner_graphs(graph: Any) -> Iterator[Any]:
    # A graph's functions are kept by name; the ones made from Python carry their graph.
    for function in list(getattr(graph, "_functions", {}).values()):
        inner = getattr(function, "graph", None)
        if inner is not None and inner is not graph:
            yield inner


def _has_kernel(type_name: str) -> bool:
    registered = kernels.get_registered_kernels_for_op(type_name).kernel
    return any(kernel.device_type.encode() == _COMPILED for kernel in registered)


def _agrees(call: Call, inputs: Sequence[Any], expected: Any) -> bool | None:
    """Whether the compiled call gives what the eager one gave; None where two eager calls already differ."""
    again, outcome = _try(lambda: call.function(*inputs))
    if not outcome.is_ok or not _all_close(expected, again):
        return None
    actual, outcome = _try(lambda: tf.function(call.function, jit_compile=True)(*inputs))
    if not outcome.is_ok:
        return None
    return _all_close(expected, actual)


def _all_close(first: Any, second: Any) -> bool:
    pairs = zip(tf.nest.flatten(first), tf.nest.flatten(second))
    return all(_is_close(a, b) for a, b in pairs if isinstance(a, tf.Tensor))


def _is_close(first: Any, second: Any) -> bool:
    a, b = np.asarray(first), np.asarray(second)
    if a.dtype.kind not in "fiub":
        return True
    return a.shape == b.shape and bool(
        np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3, atol=1e-4, equal_nan=True)
    )


def _gradient(call: Call, inputs: Sequence[Any]) -> Outcome:
    """Lower the gradient of the sum of all float results, by float inputs and variables."""

    def program(*arguments: Any) -> Any:
        watched = _float_tensors(arguments)
        with tf.GradientTape() as tape:
            tape.watch(watched)
            sums = [
                tf.reduce_sum(tf.cast(r, tf.float32))
                for r in _float_tensors(call.function(*arguments))
            ]
        found = tape.gradient(sums, watched + list(tape.watched_variables())) if sums else []
        return [gradient for gradient in found if gradient is not None]

    concrete, outcome = _try(lambda: _traced(program, [_spec(value) for value in inputs]))
    return _lower(concrete, _static(inputs)) if concrete is not None else outcome


def _float_tensors(values: Any) -> list[Any]:
    flat = tf.nest.flatten(values)
    return [v for v in flat if isinstance(v, tf.Tensor) and v.dtype.is_floating]
