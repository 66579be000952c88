"""What TensorFlow and XLA say of a call: eager run, trace, lowering without values, compiled run, gradient, other inputs."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf
from parts import Part, parts
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
_NODE = re.compile(r"\{\{(?:function_)?node ([^{}]+)\}\}")
_DATA_SIZED = frozenset(
    "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 DynamicPartition ListDiff"
    " NonMaxSuppressionV3 NonMaxSuppressionV4".split()
)
_MANY_OPERATIONS = 2500
_RANDOM = re.compile(r"Random|Multinomial|TruncatedNormal|Stateless(Gamma|Poisson|Binomial)")
_CONSTANT_NEEDED = "compile-time constant"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one stage went: `frames` are the stack of what is to blame, outermost first, files of any package."""

    is_ok: bool
    message: str = ""
    frames: tuple[Frame, ...] = ()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One traced operation: what it is, the stack that made it, whether an output's size is left open.

    A `is_constant` operation works on constants alone, so that XLA does it while it compiles.
    """

    type: str
    name: str
    frames: tuple[Frame, ...]
    is_data_sized: bool
    is_constant: bool


@dataclass(frozen=True, slots=True)
class Said:
    """The outcome of a call. `label` is one of the words of labels.py, `stage` what failed or cost.

    `offenders` are the failures, several where XLA named several operations; `bounded` the stacks of operations whose
    results are as long as the data say, `conditionals` those of the conditionals (the operations of a gradient have no
    stack of their own, and fail where a conditional is).
    """

    label: str
    stage: str = ""
    offenders: tuple[Outcome, ...] = ()
    bounded: tuple[tuple[Frame, ...], ...] = ()
    conditionals: tuple[tuple[Frame, ...], ...] = ()


Note = Callable[[str], None]


def examine(call: Call, note: Note, tracer: Any) -> tuple[Said, set[Frame]]:
    """Take `call` through all stages; with the package lines that ran while it was traced.

    `note` is told the name of each stage before it starts, so that a crash can be laid to it.
    """
    note("eager")
    call = replace(call, function=_only_tensors(call.function))
    inputs = [_tensor(value) for value in call.inputs]
    values, eager = _try(lambda: _eagerly(call.function, inputs))
    if not eager.is_ok:
        return Said("not run", "eager", (eager,)), set()
    if not values:
        return Said("not run", "no tensor comes out"), set()
    note("trace")
    with tracer.traced() as lines:
        concrete, traced = _try(lambda: _traced(call.function, [_spec(v) for v in inputs]))
    if concrete is None:
        return Said("incompatible", "trace", (traced,)), lines
    said = _compiled(call, inputs, values, concrete, note)
    return replace(said, conditionals=_conditionals(concrete)), lines


def _eagerly(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Call a function with the tf.functions that it calls run eagerly: what is traced here, outside of XLA, XLA would be given again."""
    tf.config.run_functions_eagerly(True)
    try:
        return function(*inputs)
    finally:
        tf.config.run_functions_eagerly(False)


def _only_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    # tf.function takes no other results, such as functions or distributions.
    return lambda *arguments: _tensors(function(*arguments))


def pieces(call: Call) -> Iterator[Part]:
    """The parts of a call that work on tensors of open size."""
    inputs = [_tensor(value) for value in call.inputs]
    concrete = _traced(_only_tensors(call.function), [_spec(value) for value in inputs])
    return parts(concrete, inputs)


def graphs(call: Call) -> Iterator[tuple[str, Any, bytes]]:
    """What a call is for a compiler, and its gradient where it has one: stage, concrete function, serialized HLO.

    Raises what tracing or lowering raises.
    """
    call = replace(call, function=_only_tensors(call.function))
    inputs = [_tensor(value) for value in call.inputs]
    stages = {"forward": call.function}
    if call.check_gradient:
        backward = _backward(call)
        values, eager = _try(lambda: _eagerly(backward, inputs))
        if eager.is_ok and values:
            stages["gradient"] = backward
    for stage, function in stages.items():
        concrete = _traced(function, [_spec(value) for value in inputs])
        lowered = compiler_ir.from_concrete_function(concrete, _static(inputs))
        yield stage, concrete, lowered(stage="hlo_serialized")


def _compiled(call: Call, inputs: list[Any], values: Any, concrete: Any, note: Note) -> Said:
    bounded = tuple(
        op.frames
        for op in _operations(concrete.graph)
        if op.type in _DATA_SIZED and op.is_data_sized and not op.is_constant
    )
    note("lower")
    lowered = _lower(concrete, _static(inputs))
    if lowered.is_ok and sum(1 for _ in _operations(concrete.graph)) > _MANY_OPERATIONS:
        # Machine code of a whole model takes minutes to make.
        note("gradient")
        outcome = _gradient(call, inputs) if call.check_gradient else None
        if outcome is not None and not outcome[1].is_ok:
            return Said("incompatible", "gradient", _split(*outcome), bounded)
        return Said(
            "costly" if bounded else "compatible", "bounded" if bounded else "", (), bounded
        )
    note("run")
    results, ran = _try(lambda: concrete(*inputs))
    if not ran.is_ok:
        blamed = lowered if not lowered.is_ok else _located(concrete, inputs, ran, note)
        return Said(
            "incompatible",
            "lower" if not lowered.is_ok else "run",
            _split(concrete, blamed),
            bounded,
        )
    if not lowered.is_ok:
        is_value = _CONSTANT_NEEDED in lowered.message
        return Said(
            "costly" if is_value else "incompatible",
            "value" if is_value else "lower",
            _split(concrete, lowered),
            bounded,
        )
    later = _later(call, inputs, note)
    if later is not None:
        return replace(later, bounded=bounded)
    note("numbers")
    # Random operations give other numbers under XLA from the same seed, by design.
    is_random = any(_RANDOM.search(op.type) for op in _operations(concrete.graph))
    if not is_random and _differs(call, inputs, values, results, concrete):
        return _differing(concrete, inputs, bounded, note)
    if bounded and call.check_gradient and not is_random:
        note("gradient")
        if _has_other_gradient(call, inputs):
            outcome = Outcome(False, "other numbers: the gradient of ConcatV2", _joining(concrete))
            return Said("incompatible", "gradient", (outcome,), bounded)
    return Said("costly" if bounded else "compatible", "bounded" if bounded else "", (), bounded)


def _located(concrete: Any, inputs: list[Any], failure: Outcome, note: Note) -> Outcome:
    """A failure inside the compiler, laid to the first operation on tensors of open size that does not compile."""
    note("locate")
    for part in parts(concrete, inputs):
        if not part.compiles():
            return replace(failure, frames=part.frames)
    return _blamed(concrete, failure)


def _differing(concrete: Any, inputs: list[Any], bounded: Any, note: Note) -> Said:
    """Other numbers, laid to the first operation on tensors of open size that gives them, where there is one."""
    note("locate")
    for part in parts(concrete, inputs) if bounded else ():
        if part.differs():
            outcome = Outcome(False, f"other numbers: {part.type}", part.frames)
            return Said("incompatible", "numbers", (outcome,), bounded)
    return Said("differs", "numbers", (), bounded)


def _later(call: Call, inputs: list[Any], note: Note) -> Said | None:
    """The gradient, other values and another leading dimension; None where all is well."""
    if call.check_gradient:
        note("gradient")
        outcome = _gradient(call, inputs)
        if outcome is not None and not outcome[1].is_ok:
            return Said("incompatible", "gradient", _split(*outcome))
    if not call.check_shape:
        return None
    note("second shape")
    longer = _longer(inputs)
    if longer is None or not _try(lambda: _eagerly(call.function, longer))[1].is_ok:
        return None
    again, outcome = _try(lambda: _traced(call.function, [_spec(v) for v in longer]))
    if again is not None:
        outcome = _lower(again, _static(longer))
    if outcome.is_ok or _CONSTANT_NEEDED in outcome.message:
        return None
    return Said("incompatible", "second shape", _split(again, outcome))


def _conditionals(concrete: Any) -> tuple[tuple[Frame, ...], ...]:
    ops = _operations(concrete.graph)
    return tuple(op.frames for op in ops if op.type in ("If", "StatelessIf", "Case"))


def _traced(function: Any, specs: Sequence[Any]) -> Any:
    # jit_compile: loops are built otherwise when XLA is to compile them.
    return tf.function(function, jit_compile=True).get_concrete_function(*specs)


def _tensor(value: Any) -> Any:
    if isinstance(value, (dict, list, tuple)):
        return tf.nest.map_structure(_tensor, value)
    if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
        return value
    return tf.convert_to_tensor(value)


def _spec(value: Any) -> Any:
    return tf.nest.map_structure(tf.type_spec_from_value, value)


def _static(inputs: Sequence[Any]) -> list[Any]:
    """Specs for lowering: a sparse or ragged input's parts have the sizes that they have in this call."""
    flat = tf.nest.flatten(inputs, expand_composites=True)
    return [tf.TensorSpec(value.shape, value.dtype) for value in flat]


def _longer(inputs: list[Any]) -> list[Any] | None:
    """The inputs with one more row; None where they have no leading dimension in common."""
    flat = tf.nest.flatten(inputs)
    ranked = [v for v in flat if isinstance(v, tf.Tensor) and v.shape.rank]
    sizes = {v.shape[0] for v in ranked}
    if len(ranked) != len(flat) or len(sizes) != 1:
        return None
    return [tf.nest.map_structure(lambda v: tf.concat([v, v[:1]], 0), value) for value in inputs]


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
    lacking = sorted(set(re.findall(r"(\w+) \(No registered", text)))
    if lacking:
        return f"no XLA kernel: {', '.join(lacking)}"
    if _LOWERING in text:
        return text.split(_LOWERING, 1)[1].splitlines()[0][:300]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_EMPTY_WORDS)]
    errors = [line for line in telling if re.match(r"\w*(Error|Exception)\b", line)]
    return (errors or telling[-1:] or lines or [""])[0][:300]


def _lower(concrete: Any, specs: Sequence[Any]) -> Outcome:
    _, outcome = _try(
        lambda: compiler_ir.from_concrete_function(concrete, list(specs))(stage="hlo")
    )
    return outcome if outcome.is_ok else _blamed(concrete, outcome)


def _blamed(concrete: Any, outcome: Outcome) -> Outcome:
    # The messages name nodes; the graph knows which lines made them.
    stacks = [stack_of(concrete, name) for name in outcome.nodes]
    frames = tuple(frame for stack in stacks for frame in stack)
    return replace(outcome, frames=frames or outcome.frames)


def _split(concrete: Any, outcome: Outcome) -> tuple[Outcome, ...]:
    """One outcome per operation without a kernel, since XLA names all of them at once."""
    if concrete is None or "no XLA kernel" not in outcome.message:
        return (outcome,)
    lacking = set(re.findall(r"(\w+)", outcome.message.split("kernel: ", 1)[1]))
    # A name alone does not say that this operation is at fault: kernels differ by dtype.
    ops = [
        op
        for op in _operations(concrete.graph)
        if op.type in lacking and (op.name in outcome.nodes or not _has_kernel(op.type))
    ]
    found = {
        op.frames: Outcome(
            False, f"{outcome.message.split(':')[0]}: no XLA kernel: {op.type}", op.frames
        )
        for op in ops
    }
    return tuple(found.values()) or (outcome,)


def stack_of(concrete: Any, name: str) -> tuple[Frame, ...]:
    """The stack that made the operation of that name."""
    return next((op.frames for op in _operations(concrete.graph) if op.name == name), ())


def _operations(graph: Any) -> Iterator[Operation]:
    constant: set[str] = set()
    for op in graph.get_operations():
        is_source = op.type == "Const" or (op.inputs and not op.op_def.is_stateful)
        if is_source and all(value.op.name in constant for value in op.inputs):
            constant.add(op.name)
        yield Operation(
            op.type,
            op.name,
            # Operations of a graph that was loaded, not traced, have no stack.
            tuple((frame.filename, frame.lineno) for frame in op.traceback or ()),
            any(
                t.dtype != tf.resource and t.shape.rank and not t.shape.is_fully_defined()
                for t in op.outputs
            ),
            op.name in constant,
        )
    for inner in _inner_graphs(graph):
        yield from _operations(inner)


def _inner_graphs(graph: Any) -> Iterator[Any]:
    # A graph's functions are kept by name; the ones made from Python carry their graph.
    for function in list(getattr(graph, "_functions", {}).values()):
        inner = getattr(function, "graph", None)
        if inner is not None and inner is not graph:
            yield inner


def _has_kernel(type_name: str) -> bool:
    registered = kernels.get_registered_kernels_for_op(type_name).kernel
    return any(kernel.device_type == "XLA_CPU_JIT" for kernel in registered)


def _differs(call: Call, inputs: list[Any], values: Any, results: Any, concrete: Any) -> bool:
    """Whether the compiled call gives other numbers than the eager one does each time."""
    again, outcome = _try(lambda: _eagerly(call.function, inputs))
    if not outcome.is_ok or not _all_close(values, again):
        return False
    if not _all_close(values, results):
        return True
    other = [tf.nest.map_structure(_other, value) for value in inputs]
    expected, outcome = _try(lambda: _eagerly(call.function, other))
    if not outcome.is_ok:
        return False
    actual, outcome = _try(lambda: concrete(*other))
    return outcome.is_ok and not _all_close(expected, actual)


def _other(value: Any) -> Any:
    """Second values of the same shape, dtype and range."""
    if not isinstance(value, tf.Tensor) or not value.shape.rank:
        return value
    return tf.reverse(value, [0])


def _all_close(first: Any, second: Any) -> bool:
    pairs = zip(tf.nest.flatten(first), tf.nest.flatten(second))
    return all(_is_close(a, b) for a, b in pairs if isinstance(a, tf.Tensor))


def _is_close(first: Any, second: Any) -> bool:
    a, b = np.asarray(first), np.asarray(second)
    if a.dtype.kind not in "fiub":
        return True
    return a.shape == b.shape and bool(
        np.allclose(a.astype("f8"), b.astype("f8"), rtol=2e-3, atol=1e-3, equal_nan=True)
    )


def _backward(call: Call) -> Callable[..., Any]:
    """The gradient of the sum of all float results, by float inputs and variables."""

    def program(*arguments: Any) -> Any:
        watched = [v for v in _tensors(arguments) if v.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            results = [v for v in _tensors(call.function(*arguments)) if v.dtype.is_floating]
            sums = [tf.reduce_sum(tf.cast(result, tf.float32)) for result in results]
        found = tape.gradient(sums, watched + list(tape.watched_variables())) if sums else []
        return [tf.convert_to_tensor(gradient) for gradient in found if gradient is not None]

    return program


def _gradient(call: Call, inputs: list[Any]) -> tuple[Any, Outcome] | None:
    """Lower the gradient; None where eager has none."""
    program = _backward(call)
    found, eager = _try(lambda: _eagerly(program, inputs))
    if not eager.is_ok or not found:
        return None
    concrete, outcome = _try(lambda: _traced(program, [_spec(value) for value in inputs]))
    return concrete, _lower(concrete, _static(inputs)) if concrete is not None else outcome


def _has_other_gradient(call: Call, inputs: list[Any]) -> bool:
    """Whether a program that joins parts as long as the data say has another gradient compiled than eagerly."""
    program = _backward(call)
    found, eager = _try(lambda: _eagerly(program, inputs))
    concrete, _ = _try(lambda: _traced(program, [_spec(value) for value in inputs]))
    if not eager.is_ok or not found or concrete is None or not _joining(concrete):
        return False
    compiled, ran = _try(lambda: concrete(*inputs))
    return ran.is_ok and not _all_close(found, compiled)


def _joining(concrete: Any) -> tuple[Frame, ...]:
    """The first operation that joins parts along an axis of open size."""
    for op in _operations(concrete.graph):
        if op.type == "ConcatV2" and op.is_data_sized:
            return op.frames
    return ()


def _tensors(values: Any) -> list[Any]:
    try:
        flat = tf.nest.flatten(values, expand_composites=True)
    except (TypeError, ValueError):
        return []
    return [
        v for v in flat if isinstance(v, tf.Tensor) and v.dtype not in (tf.variant, tf.resource)
    ]
